import { dayMs, secondMs } from "./time.ts";

/** A cron pattern that was read: the local times that match it. */
export interface CronPattern {
  /** The first match after a local time, both written as if they were UTC; null when there is none. */
  next(localMs: number): number | null;
  /** A wildcard or step in the hour: it follows the clock through a change of offset. Else its times are fixed ones. */
  readonly hasWildHour: boolean;
}

const shortcuts: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@hourly": "0 * * * *",
};
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
const item = /^(?:\*|([0-9]+|[A-Za-z]+)(?:-([0-9]+|[A-Za-z]+))?)(?:\/([0-9]+))?$/;
// The Gregorian calendar, days of the week included, repeats after these: what has not come by then never will.
const calendarYears = 400;

/**
 * Reads a pattern of the contract's dialect: Vixie's 5 fields, or 6 with seconds first, names, and five shortcuts (CONTRACT 4).
 * Answers what is wrong with it, in words, when it is none.
 */
export function parseCronPattern(pattern: string): CronPattern | string {
  const trimmed = pattern.trim();
  const expanded = Object.hasOwn(shortcuts, trimmed) ? (shortcuts[trimmed] ?? "") : trimmed;
  if (expanded.startsWith("@")) {
    return `${JSON.stringify(trimmed)} is none of ${Object.keys(shortcuts).join(" ")}`;
  }
  const texts = expanded.split(/[ \t]+/);
  if (expanded === "" || texts.length < 5 || texts.length > 6) {
    const found = expanded === "" ? 0 : texts.length;
    return `a schedule has 5 fields (minute, hour, day of month, month, day of week), or 6 with seconds first; this has ${found}`;
  }
  if (texts.length === 5) texts.unshift("0");
  const sets: Set<number>[] = [];
  for (const [index, field] of fields.entries()) {
    const values = new Set<number>();
    const problem = readField(texts[index] ?? "", field, values);
    if (problem !== null) return problem;
    sets.push(values);
  }
  return createPattern(texts, sets);
}

function createPattern(texts: readonly string[], sets: readonly ReadonlySet<number>[]): CronPattern {
  const [, , hourText = "", dayText = "", , weekdayText = ""] = texts;
  const [seconds, minutes, hours] = sets.map((values) => [...values].toSorted((left, right) => left - right));
  const [, , , days, allowedMonths, allowedWeekdays] = sets;
  // Vixie cron: day of month and day of week are alternatives only when neither begins with a star.
  const needsBoth = dayText.startsWith("*") || weekdayText.startsWith("*");

  function isDay(date: Date): boolean {
    const isDayOfMonth = days?.has(date.getUTCDate()) === true;
    const isWeekday = allowedWeekdays?.has(date.getUTCDay()) === true;
    return needsBoth ? isDayOfMonth && isWeekday : isDayOfMonth || isWeekday;
  }

  /** The first matching time of a day from that second of it on, as a second of the day. */
  function timeOfDay(fromSecond: number): number | null {
    const fromMinute = Math.floor(fromSecond / 60);
    const fromHour = Math.floor(fromMinute / 60);
    for (const hour of hours ?? []) {
      if (hour < fromHour) continue;
      for (const minute of minutes ?? []) {
        const inDay = hour * 60 + minute;
        if (inDay < fromMinute) continue;
        const second = seconds?.find((one) => inDay * 60 + one >= fromSecond);
        if (second !== undefined) return inDay * 60 + second;
      }
    }
    return null;
  }

  return {
    hasWildHour: /[*/]/.test(hourText),
    next: (localMs) => {
      const firstMs = Math.floor(localMs / secondMs) * secondMs + secondMs;
      const date = new Date(firstMs);
      date.setUTCHours(0, 0, 0, 0);
      const lastYear = date.getUTCFullYear() + calendarYears;
      while (date.getUTCFullYear() <= lastYear) {
        if (allowedMonths?.has(date.getUTCMonth() + 1) !== true) {
          date.setUTCMonth(date.getUTCMonth() + 1, 1);
          continue;
        }
        if (isDay(date)) {
          const second = timeOfDay(Math.max(0, (firstMs - date.getTime()) / secondMs));
          if (second !== null) return date.getTime() + second * secondMs;
        }
        date.setTime(date.getTime() + dayMs);
      }
      return null;
    },
  };
}

/** Adds the values of a field; answers what is wrong with it. */
function readField(text: string, field: Field, values: Set<number>): string | null {
  for (const part of text.split(",")) {
    const problem = readItem(part, field, values);
    if (problem !== null) return `${field.name} ${JSON.stringify(text)}: ${problem}`;
  }
  return null;
}

function readItem(text: string, field: Field, values: Set<number>): string | null {
  const match = item.exec(text);
  if (match === null) return text === "" ? "an item of the list is empty" : "may hold numbers, names and * , - / only";
  const [, fromText, toText, stepText] = match;
  const step = stepText === undefined ? 1 : Number(stepText);
  if (stepText !== undefined) {
    if (fromText !== undefined && toText === undefined) return "a step needs * or a range before it";
    if (step < 1 || step > field.size) return `a step is from 1 to ${field.size}`;
  }
  if (fromText === undefined) return addValues(field.min, field.min + field.size - 1, step);
  const from = readValue(fromText, field);
  if (from === null) return describeValue(fromText, field);
  if (toText === undefined) return addValues(from, from, 1);
  const to = readValue(toText, field);
  if (to === null) return describeValue(toText, field);
  // FRI-SUN: at the end of a range Sunday is 7.
  const end = field.names === weekdays && /^sun$/i.test(toText) && from > 0 ? 7 : to;
  return from > end ? "a range goes from the smaller to the larger" : addValues(from, end, step);

  function addValues(first: number, last: number, every: number): null {
    for (let value = first; value <= last; value += every) values.add(field.names === weekdays ? value % 7 : value);
    return null;
  }
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
