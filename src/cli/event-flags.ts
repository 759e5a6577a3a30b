import { resolve } from "node:path";

import { InvalidArgumentError } from "commander";

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
import type { EventFile } from "../store/events/read.ts";
import { flag, or, value, type Flag, type FlagsOf } from "./command.ts";
import type { CliContext } from "./context.ts";
import { collect } from "./values.ts";

type Pairs = readonly (readonly [left: string, right: string])[];

/** The field `at` in whole seconds. */
const secondsField = "at.seconds";

const pairs = (placeholder: string, description: string, example: string): Flag<Pairs> =>
  or(value(placeholder, description, parsePairs(example)), []);

/** The flags that describe the layout of event files (CONTRACT 10). */
export const eventFlags = {
  map: pairs("<column=field>", "read a column, or key, as a field; repeatable", "timestamp=at"),
  set: pairs("<field=value>", "a field of every event; repeatable", "slug=acme"),
  status: pairs("<value=status>", "what a status is called here", "offline=DETECTED_AS_DEAD"),
  ignore: or(value("<column>", "read over a column; * is all that are not named; repeatable", collect), []),
  timezone: value("<zone>", "where times without an offset were written, such as Europe/Berlin", parseTimezone),
  anyTime: flag("take times before 2000 and in the future"),
};
export type EventFlags = FlagsOf<typeof eventFlags>;

/** Returns the layout that the flags describe. @throws usage */
export function layoutOf(flags: EventFlags, nowMs: number, isLaterRight = false): EventLayout {
  const mapped = flags.map.map(([column, asked]) => [column, fieldOf(asked)] as const);
  const fixed = flags.set.map(([asked, value]) => [fieldOf(asked), value] as const);
  const named = [...mapped.map(([, target]) => target), ...fixed.map(([target]) => target)];
  const twice = named.find((target, index) => named.indexOf(target) < index);
  if (twice !== undefined) throw new FlatlineError("usage", `${twice} is given twice by --map and --set`);
  // A mapped field is no longer read from the column with its own name.
  const targets = new Map([...plainLayout.targets].filter(([, target]) => !named.includes(target)));
  for (const [column, target] of mapped) {
    const other = targets.get(column);
    if (other !== undefined && other !== column)
      throw new FlatlineError("usage", `--map names ${column} twice, as ${other} and as ${target}`);
    targets.set(column, target);
  }
  const known = new Set<string>([...targets.values(), ...fixed.map(([target]) => target)]);
  for (const field of ["at", "slug"])
    if (!known.has(field)) throw new FlatlineError("usage", `--map leaves no name for ${field}; map one to it, too`);
  return {
    ...plainLayout,
    targets,
    ignored: new Set(flags.ignore),
    set: Object.fromEntries(fixed.filter(([target]) => !target.startsWith(attributePrefix))),
    setAttributes: fixed.flatMap(([target, value]) =>
      target.startsWith(attributePrefix) ? [[target.slice(attributePrefix.length), value] as const] : [],
    ),
    statuses: new Map(flags.status),
    timezone: flags.timezone ?? null,
    hasSeconds: [...flags.map.map(([, asked]) => asked), ...flags.set.map(([asked]) => asked)].includes(secondsField),
    times: flags.anyTime === true ? plainLayout.times : usualTimes(nowMs, isLaterRight),
    hasFlags: true,
  };
}

/** Returns the files that a command names; `-` is standard input. @throws usage */
export function eventFilesOf(names: readonly string[], { stdin, cwd }: Pick<CliContext, "stdin" | "cwd">): EventFile[] {
  if (names.filter((name) => name === "-").length > 1)
    throw new FlatlineError("usage", "standard input (-) can be read only once");
  return names.map((name) =>
    name === "-" ? { name: "standard input", stream: stdin } : { name, path: resolve(cwd, name) },
  );
}

function fieldOf(asked: string): EventField | `attr.${string}` {
  const field = eventFields.find((one) => one === asked || (one === "at" && asked === secondsField));
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

function parsePairs(example: string): (text: string, before?: Pairs) => Pairs {
  return (text, before = []) => [
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
  const problem = timezone.safeParse(text).error?.issues[0]?.message;
  if (problem !== undefined) throw new InvalidArgumentError(problem);
  return timezoneOf(text);
}
