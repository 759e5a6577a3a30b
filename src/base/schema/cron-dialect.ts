import { nextCronAtMs } from "../cron.ts";
import { messageOf } from "../errors.ts";

const shortcuts = ["@yearly", "@monthly", "@weekly", "@daily", "@hourly"];

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const fields: readonly Field[] = [
  { name: "second", min: 0, max: 59, names: [] },
  { name: "minute", min: 0, max: 59, names: [] },
  { name: "hour", min: 0, max: 23, names: [] },
  { name: "day of month", min: 1, max: 31, names: [] },
  { name: "month", min: 1, max: 12, names: "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ") },
  { name: "day of week", min: 0, max: 7, names: "SUN MON TUE WED THU FRI SAT".split(" ") },
];

// The calendar repeats: any start gives the same answer.
const searchFromMs = Date.UTC(2024, 0, 1);
const item = /^(?:\*|([0-9]+|[A-Za-z]+)(?:-([0-9]+|[A-Za-z]+))?)(?:\/[0-9]+)?$/;

/**
 * Returns the fault of a cron pattern (CONTRACT 4); null: it is valid. croner also accepts dates, a year, `L`, `W`, `#`
 * and `?`: flatline refuses them, so that a schedule means what it means in crontab(5). A schedule that never comes is
 * a fault.
 */
export function checkCronPattern(pattern: string): string | null {
  const trimmed = pattern.trim();
  if (shortcuts.includes(trimmed)) return null;
  if (trimmed.startsWith("@")) return `${JSON.stringify(trimmed)} is not one of ${shortcuts.join(" ")}`;
  const texts = trimmed.split(/[ \t]+/);
  if (texts.length < 5 || texts.length > 6) {
    const found = trimmed === "" ? 0 : texts.length;
    const valid = "5 fields (minute, hour, day of month, month, day of week), or 6 with seconds first";
    return `a schedule has ${valid}; this has ${found}`;
  }
  for (const [index, field] of fields.slice(6 - texts.length).entries()) {
    const text = texts[index] ?? "";
    const problem = checkField(text, field);
    if (problem !== null) return `${field.name} ${JSON.stringify(text)}: ${problem}`;
  }
  try {
    const runAtMs = nextCronAtMs({ pattern: trimmed, timezone: "UTC" }, searchFromMs);
    return runAtMs === null ? `the schedule ${JSON.stringify(trimmed)} never comes` : null;
  } catch (error) {
    return messageOf(error);
  }
}

function checkField(text: string, { min, max, names }: Field): string | null {
  for (const part of text.split(",")) {
    const match = item.exec(part);
    if (match === null) return "may hold numbers, names and * , - / only, and no item of a list is empty";
    const isIn = (value: string): boolean =>
      names.includes(value.toUpperCase()) || (Number(value) >= min && Number(value) <= max);
    const wrong = match.slice(1).find((value?: string) => value !== undefined && !isIn(value));
    const orNames = names.length === 0 ? "" : ` or ${names[0]}-${names.at(-1)}`;
    if (wrong !== undefined) return `${JSON.stringify(wrong)} is not in ${min}-${max}${orNames}`;
  }
  return null;
}
