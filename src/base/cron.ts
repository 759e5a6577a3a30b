import { Cron } from "croner";

import { FlatlineError, messageOf } from "./errors.ts";
import { memoized } from "./memo.ts";
import { dayMs, secondMs } from "./time.ts";
import { timezoneOf, type Timezone } from "./timezone.ts";

/** A cron pattern of CONTRACT 4 (five fields, six with seconds first, or a nickname) in a timezone. */
export interface CronTime {
  readonly pattern: string;
  readonly timezone: string;
}

interface Pattern {
  /** Returns the next match after a local time; both are written as if they were UTC. */
  next(localMs: number): number | null;
  /** The hour field has a wildcard or a step (CONTRACT 5): the pattern follows the clock through a change of offset. */
  readonly hasWildHour: boolean;
}

// Thousands of organizations share a few patterns. A parsed one takes 81 KB; parsing takes 220 µs (2026-11-21).
const cachedPatterns = 32;
const patternOf = memoized(cachedPatterns, createPattern);

// A run computes about six ticks, mostly the same for all checks that are due together.
const cachedTimes = 500;
const cachedSeconds = 100;
/** By pattern, timezone and second: no pattern tells the instants of one second apart. */
const nextOf = memoized(cachedTimes, (pattern: string) =>
  memoized(cachedTimes, (timezone: string) =>
    memoized(cachedSeconds, (second: number) => findNext(patternOf(pattern), timezoneOf(timezone), second * secondMs)),
  ),
);

/**
 * Returns the first match after `afterMs`; null: there is none. croner finds the local times. Changes of offset are
 * applied here, by the hour field alone (CONTRACT 5): croner also looks at minutes and seconds, and skips hours of
 * lists and ranges that fall into a skipped hour.
 * @throws FlatlineError invalid_config for a pattern or timezone that does not exist
 */
export function nextCronAtMs({ pattern, timezone }: CronTime, afterMs: number): number | null {
  return nextOf(pattern)(timezone)(Math.floor(afterMs / secondMs));
}

function findNext(pattern: Pattern, zone: Timezone, afterMs: number): number | null {
  return pattern.hasWildHour ? nextWild(pattern, zone, afterMs) : nextFixed(pattern, zone, afterMs);
}

/**
 * Moves a skipped local time to the first instant after the gap, and counts a repeated one once. `30 2 * * *` in
 * Berlin: 03:00 on 2026-03-29 (02:00 became 03:00), and the first 02:30 on 2026-10-25.
 */
function nextFixed(pattern: Pattern, zone: Timezone, afterMs: number): number | null {
  let localMs = afterMs + zone.offsetMs(afterMs);
  for (;;) {
    const nextLocalMs = pattern.next(localMs);
    if (nextLocalMs === null) return null;
    const { earlierMs, laterMs } = zone.instants(nextLocalMs);
    if (earlierMs > afterMs) return earlierMs;
    localMs = nextLocalMs;
    // `afterMs` is in the second pass of a repeated hour: nothing comes before that hour is over.
    const changedAtMs = laterMs > earlierMs ? zone.changeAtMs(earlierMs, laterMs) : null;
    if (changedAtMs !== null) localMs = Math.max(localMs, changedAtMs - 1 + zone.offsetMs(changedAtMs - 1));
  }
}

// No timezone changes its offset twice within it: Asia/Gaza does within a week, in October 2040.
const betweenChangesMs = 6 * dayMs;

/**
 * Returns each instant whose local time matches: both passes of a repeated hour, none in a skipped hour. `0 * * * *` in
 * Berlin has 23 matches on 2026-03-29 and 25 on 2026-10-25.
 */
function nextWild(pattern: Pattern, zone: Timezone, afterMs: number): number | null {
  let fromMs = afterMs + 1;
  for (;;) {
    const offsetMs = zone.offsetMs(fromMs);
    const nextLocalMs = pattern.next(fromMs - 1 + offsetMs);
    if (nextLocalMs === null) return null;
    const nextMs = nextLocalMs - offsetMs;
    const untilMs = Math.min(nextMs, fromMs + betweenChangesMs);
    const changedAtMs = zone.changeAtMs(fromMs, untilMs);
    if (changedAtMs === null && untilMs === nextMs) return nextMs;
    // No local time before the change matches.
    fromMs = changedAtMs ?? untilMs;
  }
}

function createPattern(text: string): Pattern {
  const fields = text.trim().split(/\s+/);
  const [dayOfWeek = "", , dayOfMonth = "", hour = ""] = fields.toReversed();
  // Vixie cron combines the two days by OR only if neither begins with a star; croner also does for `*/2`.
  const domAndDow = dayOfMonth.startsWith("*") || dayOfWeek.startsWith("*");
  let cron: Cron;
  try {
    cron = new Cron(text.trim(), { utcOffset: 0, paused: true, mode: "5-or-6-parts", domAndDow });
  } catch (error) {
    const reason = messageOf(error).replace(/^CronPattern: /, "");
    throw new FlatlineError("invalid_config", `"${text}" is not a cron pattern: ${reason}`, { cause: error });
  }
  return {
    next: (localMs) => cron.nextRun(new Date(localMs))?.getTime() ?? null,
    hasWildHour: /[*/]/.test(hour) || fields[0] === "@hourly",
  };
}

const shortcuts = ["@yearly", "@monthly", "@weekly", "@daily", "@hourly"];

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const fieldRules: readonly Field[] = [
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
  for (const [index, field] of fieldRules.slice(6 - texts.length).entries()) {
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
