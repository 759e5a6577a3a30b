import { parseCronPattern, type CronPattern } from "../base/cron-pattern.ts";

// Where the search for a first run starts: the calendar repeats, so any fixed instant answers the same.
const searchFromMs = Date.UTC(2024, 0, 1);
/**
 * What is wrong with a cron pattern of the contract's dialect: Vixie's 5 fields, or 6 with seconds first, names, and five
 * shortcuts (CONTRACT 4); null when nothing is. A schedule means in flatline what it means in crontab(5): no dates, no year,
 * no `L`, `W`, `#` or `?`. One that never comes is wrong.
 */
export function checkCronPattern(pattern: string): string | null {
  const parsed = parseCronPattern(pattern);
  return typeof parsed === "string" ? parsed : checkComes(pattern.trim(), parsed);
}

/** Whether `timezone` is a name of the time zone database that this Node knows. */
export function isTimezone(timezone: string): boolean {
  // Intl takes "+01:00" too, which is an offset and no zone.
  if (!/^[A-Za-z]/.test(timezone)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: timezone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** Every timezone's name, for suggestions. */
export function timezoneNames(): readonly string[] {
  return ["UTC", ...Intl.supportedValuesOf("timeZone")];
}

function checkComes(text: string, pattern: CronPattern): string | null {
  return pattern.next(searchFromMs) === null ? `the schedule ${JSON.stringify(text)} never comes` : null;
}
