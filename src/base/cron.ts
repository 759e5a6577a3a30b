import { parseCronPattern, type CronPattern } from "./cron-pattern.ts";
import { FlatlineError } from "./errors.ts";
import { dayMs } from "./time.ts";
import { timezoneOf, type Timezone } from "./timezone.ts";

/** A cron pattern of CONTRACT 4 (five fields, six with seconds first, or a nickname) in a timezone. */
export interface CronTime {
  readonly pattern: string;
  readonly timezone: string;
}

// Thousands of organizations share some patterns. What is not here is read again: that takes microseconds.
const cachedPatterns = 500;
// A memo of a pure function, least recently used first.
const patterns = new Map<string, CronPattern>();

/**
 * The first instant after `afterMs` at which the cron time comes; null when it never does. The pattern finds the local times;
 * what a change of offset does to them is decided here, by the hour field alone (CONTRACT 5).
 * @throws FlatlineError invalid_config for a pattern or timezone that does not exist
 */
export function nextCronAtMs(time: CronTime, afterMs: number): number | null {
  const pattern = patternOf(time.pattern);
  const zone = timezoneOf(time.timezone);
  return pattern.hasWildHour ? nextWild(pattern, zone, afterMs) : nextFixed(pattern, zone, afterMs);
}

/** Fixed local times: the skipped ones at the first instant after the gap, the repeated ones the first time only. */
function nextFixed(pattern: CronPattern, zone: Timezone, afterMs: number): number | null {
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

/** Each instant whose local time matches: in both passes of a repeated hour, in none that is skipped. */
function nextWild(pattern: CronPattern, zone: Timezone, afterMs: number): number | null {
  let fromMs = afterMs;
  for (;;) {
    const offsetMs = zone.offsetMs(fromMs);
    const nextLocalMs = pattern.next(fromMs + offsetMs);
    if (nextLocalMs === null) return null;
    const nextMs = nextLocalMs - offsetMs;
    const untilMs = fromMs + dayMs;
    const changedAtMs = zone.changeAtMs(fromMs, Math.min(nextMs, untilMs));
    if (changedAtMs === null) {
      if (nextMs <= untilMs) return nextMs;
      // No local time in between matches, so no instant does until a day before it; a day covers any offset.
      fromMs = Math.max(untilMs, nextMs - 2 * dayMs);
      continue;
    }
    const changedOffsetMs = zone.offsetMs(changedAtMs);
    const afterChangeMs = pattern.next(changedAtMs - 1 + changedOffsetMs);
    if (afterChangeMs !== null && afterChangeMs - changedOffsetMs <= untilMs) return afterChangeMs - changedOffsetMs;
    fromMs = untilMs;
  }
}

function patternOf(text: string): CronPattern {
  const known = patterns.get(text);
  const pattern = known ?? parseCronPattern(text);
  if (typeof pattern === "string") {
    throw new FlatlineError("invalid_config", `"${text}" is not a cron pattern: ${pattern}`);
  }
  patterns.delete(text);
  patterns.set(text, pattern);
  for (const oldest of patterns.keys()) {
    if (patterns.size <= cachedPatterns) break;
    patterns.delete(oldest);
  }
  return pattern;
}
