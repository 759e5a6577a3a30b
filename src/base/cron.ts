import { Cron } from "croner";

import { FlatlineError, messageOf } from "./errors.ts";
import { memoized } from "./memo.ts";
import { dayMs } from "./time.ts";
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

/**
 * Returns the first match after `afterMs`; null: there is none. croner finds the local times. Changes of offset are
 * applied here, by the hour field alone (CONTRACT 5): croner also looks at minutes and seconds, and skips hours of
 * lists and ranges that fall into a skipped hour.
 * @throws FlatlineError invalid_config for a pattern or timezone that does not exist
 */
export function nextCronAtMs(time: CronTime, afterMs: number): number | null {
  const known = gapsOf(`${time.pattern}\n${time.timezone}`);
  for (const gap of known) if (gap.fromMs <= afterMs && afterMs < gap.nextMs) return gap.nextMs;
  const nextMs = findNext(time, afterMs);
  if (nextMs !== null) remember(known, { fromMs: afterMs, nextMs });
  return nextMs;
}

function findNext(time: CronTime, afterMs: number): number | null {
  const pattern = patternOf(time.pattern);
  const zone = timezoneOf(time.timezone);
  return pattern.hasWildHour ? nextWild(pattern, zone, afterMs) : nextFixed(pattern, zone, afterMs);
}

/** All instants from `fromMs` until just before `nextMs` have `nextMs` as their next match. */
interface Gap {
  fromMs: number;
  readonly nextMs: number;
}

// A run computes about six ticks, mostly the same for all checks that are due together, and the ticks that it is late:
// half a minute of a pattern of seconds still fits.
const gapsAtOnce = 32;
const gapsKept = 500;
/** The key is pattern and timezone. */
const gapsOf = memoized(gapsKept, (_key: string): Gap[] => []);

function remember(known: Gap[], found: Gap): void {
  const same = known.find(({ nextMs }) => nextMs === found.nextMs);
  if (same !== undefined) same.fromMs = Math.min(same.fromMs, found.fromMs);
  else if (known.push(found) > gapsAtOnce) known.shift();
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
    const changedAtMs = firstChange(zone, fromMs, nextMs);
    if (changedAtMs === null) return nextMs;
    // No local time before the change matches.
    fromMs = changedAtMs;
  }
}

/** Returns the first change of offset in (fromMs, toMs]; null: there is none. */
function firstChange(zone: Timezone, fromMs: number, toMs: number): number | null {
  for (let atMs = fromMs; atMs < toMs; atMs += dayMs) {
    const changedAtMs = zone.changeAtMs(atMs, Math.min(atMs + dayMs, toMs));
    if (changedAtMs !== null) return changedAtMs;
  }
  return null;
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
