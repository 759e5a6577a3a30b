import { FlatlineError } from "../../base/errors.ts";
import { cutText } from "../../base/outside-text.ts";
import { latestInstantMs, readInstant } from "../../base/instant.ts";
import { dayMs, hourMs, minuteMs } from "../../base/time.ts";
import type { Timezone } from "../../base/timezone.ts";
import type { Refusal } from "../../contract/refusals.ts";

// How an input writes events, and which of its times can be right.

export const eventFields = ["at", "slug", "assetType", "asset", "status", "id", "count"] as const;
export type EventField = (typeof eventFields)[number];
/** The beginning of the name of an attribute where it stands beside fields. */
export const attributePrefix = "attr.";
type Target = EventField | `${typeof attributePrefix}${string}`;

/** How an input writes events. */
export interface EventLayout {
  /** Fields and attributes by the input's names of them; each has one name at most. */
  readonly targets: ReadonlyMap<string, Target>;
  /** Names that are ignored; `*`: all that are no target. */
  readonly ignored: ReadonlySet<string>;
  /** Fields that every event has the same, and the input does not name. */
  readonly set: Readonly<Partial<Record<EventField, string>>>;
  readonly setAttributes: readonly (readonly [name: string, value: string])[];
  /** What the input's statuses are called here. */
  readonly statuses: ReadonlyMap<string, string>;
  /** The timezone of times without an offset; null: such a time is refused. */
  readonly timezone: Timezone | null;
  /** Whether whole numbers are seconds since 1970, not milliseconds. */
  readonly hasSeconds: boolean;
  /** The first and the last time that can be right. */
  readonly times: { readonly firstMs: number; readonly lastMs: number };
  /** Whether events have a number among equal ones, as rows of an import have. */
  readonly hasNumbers: boolean;
  /** Whether a person gave the input to a command, who can say with its flags how it is written. */
  readonly hasFlags: boolean;
}

/** The layout as documented, in which any time can be right. */
export const plainLayout: EventLayout = {
  targets: new Map(eventFields.map((field) => [field, field])),
  ignored: new Set(),
  set: {},
  setAttributes: [],
  statuses: new Map(),
  timezone: null,
  hasSeconds: false,
  times: { firstMs: 0, lastMs: latestInstantMs },
  hasNumbers: false,
  hasFlags: false,
};

const firstUsualMs = Date.UTC(2000, 0, 1);
const mostAheadMs = 10 * minuteMs;

/** Times that can be right by the daemon's clock: from 2000 until 10 min ahead of it, or until any later time. */
export function usualTimes(nowMs: number, isLaterRight = false): EventLayout["times"] {
  return { firstMs: firstUsualMs, lastMs: isLaterRight ? latestInstantMs : nowMs + mostAheadMs };
}

/** Returns the target of a column or key; undefined: it is unknown, null: it is ignored. */
export function targetOf(name: string, { targets, ignored }: EventLayout): Target | null | undefined {
  const target = targets.get(name);
  if (target !== undefined) return target;
  if (ignored.has(name)) return null;
  if (name.startsWith(attributePrefix)) return name as Target;
  return ignored.has("*") ? null : undefined;
}

/** Returns the names that an input may have, with their fields, and what to do about another name. */
export function knownNames({ targets, hasFlags }: EventLayout, others: string): string {
  const names = [...targets].map(([name, target]) => (name === target ? name : `${name} (field ${target})`));
  const advice = "; --map NAME=FIELD reads another one as one of these fields, --ignore NAME leaves it out";
  return `${[...names, others].join(", ")}${hasFlags ? advice : ""}`;
}

/** Why a row is no event. The rows after it are read, too, and none of them is stored. */
export class BadRow extends FlatlineError {
  readonly refusal: Refusal;
  /** The line where it began [its own line]. */
  line: number | null = null;
  /** Whether nothing behind it can be read. */
  endsInput = false;
  /** Whether the input's layout is wrong: other rows have the same fault, too, and it is reported once. */
  isOfInput = false;

  constructor(reason: string, refusal: Refusal = "invalid") {
    super("invalid_data", reason);
    this.refusal = refusal;
  }

  at(line: number): this {
    this.line = line;
    return this;
  }

  ending(): this {
    this.endsInput = true;
    return this;
  }

  ofInput(isOfInput: boolean): this {
    this.isOfInput = isOfInput;
    return this;
  }
}

const nullMarkers: ReadonlySet<string> = new Set(["NULL", "null", "None", "\\N"]);

/** Whether a text is what databases and languages write in place of nothing. */
export function isNullMarker(text: string): boolean {
  return nullMarkers.has(text);
}

// The first days of calendars of databases and spreadsheets.
const nullDate = /^(?:0000-00-00|0001-01-01|1601-01-01|1899-12-3[01]|1900-01-0[01])(?!\d)/;

/** Reads a time that is written as text. @throws BadRow */
export function instantOfText(text: string, layout: EventLayout): number {
  if (isNullMarker(text) || nullDate.test(text))
    throw new BadRow(`at is ${cutText(text, 40)}, which stands for no time`, "null_time");
  if (/^\d+$/.test(text)) return instantOfNumber(Number(text), layout, text);
  const advice = layout.hasFlags ? ", else --timezone ZONE says which it is of" : "";
  const reading = readInstant(text, layout.timezone ?? `add Z if it is UTC${advice}`);
  if (typeof reading === "number") return withinTimes(reading, text, layout);
  const hasNoOffset = layout.timezone === null && typeof readInstant(`${text}Z`) === "number";
  throw new BadRow(`at ${reading}`).ofInput(hasNoOffset);
}

/** Reads a whole number of milliseconds, or seconds. `text` is the number as it is written. @throws BadRow */
export function instantOfNumber(at: number, layout: EventLayout, text = String(at)): number {
  return withinTimes(layout.hasSeconds ? at * 1_000 : at, text, layout);
}

function withinTimes(atMs: number, text: string, layout: EventLayout): number {
  const { firstMs, lastMs } = layout.times;
  if (atMs >= firstMs && atMs <= lastMs) return atMs;
  const [refusal, guess] = /^\d+$/.test(text) ? guessNumber(text, layout) : guessText(atMs, layout.times);
  const isYear = atMs >= 0 && atMs <= latestInstantMs;
  const place = atMs < firstMs ? "before 2000" : "in the future";
  const read = isYear ? `is ${new Date(atMs).toISOString()}, ${place}` : "is not between 1970 and 9999";
  throw new BadRow(`at ${text} ${read}${guess === "" ? "" : `: ${guess}`}`, refusal);
}

const numericDate = /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:\d\d){0,3}(?:\d{3})?$/;
const spreadsheetEpochDays = 25_569;

/** Returns what a number is that is no time in milliseconds. */
function guessNumber(text: string, { times, hasFlags }: EventLayout): [Refusal, string] {
  const at = Number(text);
  const isTime = (ms: number): boolean => ms >= firstUsualMs && ms <= times.lastMs;
  if (at === 0) return ["null_time", "a time that nobody knows? leave the event out"];
  if (isTime(at * 1_000)) {
    const advice = hasFlags ? "--map NAME=at.seconds reads them" : "multiply it by 1000";
    return ["seconds", `seconds in place of milliseconds? ${advice}`];
  }
  if (numericDate.test(text)) return ["date_as_number", "a date as a number? write it as 2026-01-15T12:00:00Z"];
  if (isTime(at / 1_000) || isTime(at / 1_000_000))
    return ["microseconds", "micro- or nanoseconds in place of milliseconds?"];
  if (isTime((at - spreadsheetEpochDays) * dayMs)) return ["days", "days of a spreadsheet? write the cells as dates"];
  if (isTime(at * dayMs)) return ["days", "days since 1970? multiply it by 86400000"];
  return [at < times.firstMs ? "before_2000" : "future", ""];
}

// The largest offset from UTC, and an hour of summer.
const mostOffsetMs = 15 * hourMs;

/** Returns what a written time is that cannot be right. */
function guessText(atMs: number, { firstMs, lastMs }: EventLayout["times"]): [Refusal, string] {
  if (atMs >= firstMs) {
    if (atMs > lastMs + mostOffsetMs) return ["future", ""];
    return ["local_time", "a local time that was written as UTC, or a clock that is ahead?"];
  }
  if (atMs >= 0 && atMs < dayMs) return ["null_time", "a time that nobody knows? leave the event out"];
  if (atMs * 1_000 >= firstUsualMs && atMs * 1_000 <= lastMs)
    return ["seconds", "seconds that were taken for milliseconds where it was written?"];
  return ["before_2000", ""];
}
