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
  /** Returns the next match after a local time, both written as if they were UTC; null when there is none. */
  next(localMs: number): number | null;
  /** A wildcard or a step: it follows the clock through a change of offset. Else its local times are fixed. */
  readonly hasWildHour: boolean;
}

// Thousands of organizations share a few patterns. A parsed pattern takes 81 KB in croner; parsing it again takes 220
// µs (measured 2026-11-21).
const cachedPatterns = 32;
const patternOf = memoized(cachedPatterns, createPattern);

/**
 * Returns the first match after `afterMs`; null when there is none. croner finds the local times. The effect of a
 * change of offset is decided here, by the hour field alone (CONTRACT 5): croner also looks at minutes and seconds, and
 * skips lists and ranges of hours that fall into the skipped hour.
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

/** An interval without a match, from `fromMs` until just before `nextMs`: every instant in it has the same next match. */
interface Gap {
  fromMs: number;
  readonly nextMs: number;
}

// Each run computes about six previous and next ticks, mostly the same ones for all checks that are due together, and
// the ticks that it is late: a queue that is half a minute behind a pattern of seconds still finds them here.
const gapsAtOnce = 32;
const gapsKept = 500;
/** Gaps by pattern and timezone; each is added when it is first found. */
const gapsOf = memoized(gapsKept, (_key: string): Gap[] => []);

function remember(known: Gap[], found: Gap): void {
  const same = known.find(({ nextMs }) => nextMs === found.nextMs);
  if (same !== undefined) same.fromMs = Math.min(same.fromMs, found.fromMs);
  else if (known.push(found) > gapsAtOnce) known.shift();
}

/**
 * Returns fixed local times: a skipped time becomes the first instant after the gap, a repeated time counts once. In
 * Berlin, `30 2 * * *` is 03:00 on 2026-03-29, when 02:00 became 03:00, and on 2026-10-25 the first of two 02:30.
 */
function nextFixed(pattern: Pattern, zone: Timezone, afterMs: number): number | null {
  let localMs = afterMs + zone.offsetMs(afterMs);
  for (;;) {
    const nextLocalMs = pattern.next(localMs);
    if (nextLocalMs === null) return null;
    const { earlierMs, laterMs } = zone.instants(nextLocalMs);
    if (earlierMs > afterMs) return earlierMs;
    localMs = nextLocalMs;
    // Within the second pass of a repeated hour: nothing can come before that hour is over.
    const changedAtMs = laterMs > earlierMs ? zone.changeAtMs(earlierMs, laterMs) : null;
    if (changedAtMs !== null) localMs = Math.max(localMs, changedAtMs - 1 + zone.offsetMs(changedAtMs - 1));
  }
}

/**
 * Returns each instant whose local time matches: both passes of a repeated hour, none in a skipped hour. In Berlin,
 * `0 * * * *` has 23 matches on 2026-03-29 and 25 on 2026-10-25.
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

/** Returns the first change of offset in (fromMs, toMs]; null when there is none. */
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
  // Vixie cron: day of month and day of week are alternatives only if neither begins with a star; croner lets `*/2` be one.
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
