import { InvalidArgumentError, Option, type Command } from "commander";

import { FlatlineError } from "../base/errors.ts";
import { timezone } from "../base/schema/values.ts";
import { suggest } from "../base/suggestions.ts";
import { timezoneOf, type Timezone } from "../base/timezone.ts";
import {
  attributePrefix,
  eventFields,
  plainLayout,
  usualTimes,
  type EventField,
  type EventLayout,
} from "../store/events/layout.ts";
import { attributeNameProblem } from "../store/events/rules.ts";
import { collect } from "./values.ts";

type Pairs = readonly (readonly [left: string, right: string])[];

/** The flags of a command that reads files of events. */
export interface EventFlags {
  readonly map: Pairs;
  readonly set: Pairs;
  readonly status: Pairs;
  readonly ignore: readonly string[];
  readonly timezone?: Timezone;
  readonly anyTime?: boolean;
}

/** Whole numbers of this column are seconds. */
const secondsField = "at.seconds";

/** Adds the flags that say how files of others are written (CONTRACT 10). */
export function addEventFlags(command: Command): Command {
  const pairs = (flags: string, description: string, example: string): Option =>
    new Option(flags, description).argParser(parsePairs(example)).default([], "none");
  return command
    .addOption(pairs("--map <column=field>", "read a column, or key, as a field; repeatable", "timestamp=at"))
    .addOption(pairs("--set <field=value>", "a field of every event; repeatable", "slug=acme"))
    .addOption(pairs("--status <value=status>", "what a status is called here", "offline=DETECTED_AS_DEAD"))
    .option("--ignore <column>", "read over a column; * is all that are not named; repeatable", collect, [])
    .option("--timezone <zone>", "where times without an offset were written, such as Europe/Berlin", parseTimezone)
    .option("--any-time", "take times before 2000 and in the future");
}

/** Returns the layout that the flags describe. @throws usage */
export function layoutOf(flags: EventFlags, nowMs: number, isLaterRight = false): EventLayout {
  const targets = new Map(plainLayout.targets);
  const set: Partial<Record<EventField, string>> = {};
  const setAttributes: [string, string][] = [];
  const given = new Set<string>();
  let hasSeconds = false;
  for (const asked of [...flags.map.map(([, field]) => field), ...flags.set.map(([field]) => field)]) {
    if (asked === secondsField) hasSeconds = true;
    const target = fieldOf(asked === secondsField ? "at" : asked);
    if (given.has(target)) throw new FlatlineError("usage", `${target} is given twice by --map and --set`);
    given.add(target);
    // Its own name is no longer that of the field.
    if (targets.get(target) === target) targets.delete(target);
  }
  for (const [column, asked] of flags.map) {
    const other = targets.get(column);
    if (other !== undefined && other !== column)
      throw new FlatlineError("usage", `--map names ${column} twice, as ${other} and as ${asked}`);
    targets.set(column, fieldOf(asked === secondsField ? "at" : asked));
  }
  for (const [asked, value] of flags.set) {
    const field = fieldOf(asked);
    if (field.startsWith(attributePrefix)) setAttributes.push([field.slice(attributePrefix.length), value]);
    else set[field as EventField] = value;
  }
  for (const field of ["at", "slug"] as const) {
    if (set[field] === undefined && ![...targets.values()].includes(field))
      throw new FlatlineError("usage", `--map leaves no name for ${field}; map one to it, too`);
  }
  return {
    targets,
    ignored: new Set(flags.ignore),
    set,
    setAttributes,
    statuses: new Map(flags.status),
    timezone: flags.timezone ?? null,
    hasSeconds,
    times: flags.anyTime === true ? plainLayout.times : usualTimes(nowMs, isLaterRight),
    hasNumbers: false,
    hasFlags: true,
  };
}

function fieldOf(asked: string): EventField | `attr.${string}` {
  const field = eventFields.find((one) => one === asked);
  if (field !== undefined) return field;
  if (asked.startsWith(attributePrefix)) {
    const problem = attributeNameProblem(asked.slice(attributePrefix.length));
    if (problem !== null) throw new FlatlineError("usage", problem);
    return asked as `attr.${string}`;
  }
  const known = [...eventFields, secondsField, "attr.NAME"];
  const hint = suggest(asked, eventFields) || `; the fields are ${known.join(", ")}`;
  throw new FlatlineError("usage", `${JSON.stringify(asked)} is no field of an event${hint}`);
}

function parsePairs(example: string): (text: string, before: Pairs) => Pairs {
  return (text, before) => [
    ...before,
    ...text.split(",").map((pair): [string, string] => {
      const [, left = "", right = ""] = /^(.+?)=(.*)$/.exec(pair) ?? [];
      if (left === "" || right === "")
        throw new InvalidArgumentError(`Expected a name and a value, such as ${example}, not "${pair}".`);
      return [left, right];
    }),
  ];
}

function parseTimezone(text: string): Timezone {
  const problem = timezone().safeParse(text).error?.issues[0]?.message;
  if (problem !== undefined) throw new InvalidArgumentError(problem);
  return timezoneOf(text);
}
