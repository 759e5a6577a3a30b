import { nextCronAtMs } from "../cron.ts";
import { asFlatlineError } from "../errors.ts";
import { memoized } from "../memo.ts";

const shortcuts = ["@yearly", "@monthly", "@weekly", "@daily", "@hourly"];
const months = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const weekdays = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
  /** How many values differ: Sunday is 0 and 7. */
  readonly size: number;
}

const fields: readonly Field[] = [
  { name: "second", min: 0, max: 59, size: 60 },
  { name: "minute", min: 0, max: 59, size: 60 },
  { name: "hour", min: 0, max: 23, size: 24 },
  { name: "day of month", min: 1, max: 31, size: 31 },
  { name: "month", min: 1, max: 12, names: months, size: 12 },
  { name: "day of week", min: 0, max: 7, names: weekdays, size: 7 },
];

// Where the search for a first run starts: the calendar repeats, so any fixed instant answers the same.
const searchFromMs = Date.UTC(2024, 0, 1);
const item = /^(?:\*|([0-9]+|[A-Za-z]+)(?:-([0-9]+|[A-Za-z]+))?)(?:\/([0-9]+))?$/;

/**
 * Returns the fault of a cron pattern of the contract's dialect: Vixie's 5 fields, or 6 with seconds first, names, and five
 * shortcuts (CONTRACT 4); null when nothing is. croner, which computes the runs, accepts more (dates, a year, `L`, `W`, `#`,
 * `?`): that is refused here, so that a schedule means in flatline what it means in crontab(5). One that never comes is wrong.
 */
export function checkCronPattern(pattern: string): string | null {
  const trimmed = pattern.trim();
  if (shortcuts.includes(trimmed)) return null;
  if (trimmed.startsWith("@")) return `${JSON.stringify(trimmed)} is not one of ${shortcuts.join(" ")}`;
  const texts = trimmed.split(/[ \t]+/);
  if (trimmed === "" || texts.length < 5 || texts.length > 6) {
    const found = trimmed === "" ? 0 : texts.length;
    return `a schedule has 5 fields (minute, hour, day of month, month, day of week), or 6 with seconds first; this has ${found}`;
  }
  for (const [index, field] of fields.slice(6 - texts.length).entries()) {
    const problem = checkField(texts[index] ?? "", field);
    if (problem !== null) return problem;
  }
  return checkComes(trimmed);
}

/** Returns whether a text is a name of the time zone database that this Node knows; thousands of organizations share a few. */
export const isTimezone = memoized(1_000, (timezone: string): boolean => {
  // Intl takes "+01:00" too, which is an offset and no zone.
  if (!/^[A-Za-z]/.test(timezone)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: timezone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
});

/** Every timezone's name, for suggestions. */
export function timezoneNames(): readonly string[] {
  return ["UTC", ...Intl.supportedValuesOf("timeZone")];
}

function checkField(text: string, field: Field): string | null {
  for (const part of text.split(",")) {
    const problem = checkItem(part, field);
    if (problem !== null) return `${field.name} ${JSON.stringify(text)}: ${problem}`;
  }
  return null;
}

function checkItem(text: string, field: Field): string | null {
  const match = item.exec(text);
  if (match === null) return text === "" ? "an item of the list is empty" : "may hold numbers, names and * , - / only";
  const [, fromText, toText, stepText] = match;
  if (stepText !== undefined) {
    if (fromText !== undefined && toText === undefined) return "a step needs * or a range before it";
    const step = Number(stepText);
    if (step < 1 || step > field.size) return `a step is from 1 to ${field.size}`;
  }
  if (fromText === undefined) return null;
  const from = readValue(fromText, field);
  if (from === null) return describeValue(fromText, field);
  if (toText === undefined) return null;
  const to = readValue(toText, field);
  if (to === null) return describeValue(toText, field);
  // FRI-SUN: at the end of a range Sunday is 7.
  const end = field.names === weekdays && /^sun$/i.test(toText) && from > 0 ? 7 : to;
  return from > end ? "a range goes from the smaller to the larger" : null;
}

function readValue(text: string, field: Field): number | null {
  if (/^[0-9]+$/.test(text)) {
    const value = Number(text);
    return value >= field.min && value <= field.max ? value : null;
  }
  const index = field.names?.indexOf(text.toUpperCase()) ?? -1;
  return index < 0 ? null : index + (field.names === months ? 1 : 0);
}

function describeValue(text: string, field: Field): string {
  const names = field.names === undefined ? "" : ` or ${field.names[0]}-${field.names.at(-1)}`;
  return `${JSON.stringify(text)} is not in ${field.min}-${field.max}${names}`;
}

// Thousands of organizations share a few patterns, and croner takes some milliseconds to give up on one.
const checkComes = memoized(1_000, findRun);

function findRun(pattern: string): string | null {
  try {
    const runAtMs = nextCronAtMs({ pattern, timezone: "UTC" }, searchFromMs);
    return runAtMs === null ? `the schedule ${JSON.stringify(pattern)} never comes` : null;
  } catch (error) {
    return asFlatlineError(error).message;
  }
}
