import { hourMs } from "../base/time.ts";
import type { SpikeExcess } from "../contract/spike-evidence.ts";
import type { DeathBucket } from "./onset.ts";

/** The deaths of a spike's window, and what is usual. */
export interface ExcessInput {
  /** The deaths of the window by minute, in the order of time; minutes without a death are left out. */
  readonly buckets: readonly DeathBucket[];
  readonly windowMs: number;
  /** The window's deaths by the result: `buckets` are read later, and may have some that came since. */
  readonly currentCount: number;
  readonly expectedCount: number;
  readonly warnMultiplier: number;
  /** The longest pause between two deaths in the week before the excess began. */
  readonly longestPauseMs: number;
  readonly nowMs: number;
}

// So few deaths in an hour are no burst, however few are usual.
const leastBusy = 3;
// This many deaths since then show that the checker works, and finds as many as usual.
const leastSince = 3;

/**
 * Returns whether the excess goes on (CONTRACT 15). An hour that ends with a death is busy with more than
 * three deaths and more than `warnMultiplier` times the usual number. ongoing: the last busy hour ended at most an hour
 * ago. stopped: it ended longer ago than the longest usual pause, or three deaths came since. unclear: neither, or the
 * busy hours hold less than half of the excess.
 */
export function excessOf(input: ExcessInput): SpikeExcess {
  const { buckets, windowMs, currentCount, expectedCount, warnMultiplier, longestPauseMs, nowMs } = input;
  const usualPerHour = (expectedCount * hourMs) / windowMs;
  const deathsLastHour = Math.min(currentCount, sumOf(buckets.filter(({ atMs }) => atMs > nowMs - hourMs)));
  const { busyDeaths, lastAtMs } = busyHours(buckets, Math.max(leastBusy, warnMultiplier * usualPerHour));
  const excessIs = (state: SpikeExcess["state"], quietSinceMs: number | null): SpikeExcess => ({
    state,
    deathsLastHour,
    usualPerHour,
    quietSinceMs,
    expectedEndAtMs: state === "stopped" && quietSinceMs !== null ? quietSinceMs + windowMs : null,
  });
  if (lastAtMs === null || busyDeaths < (sumOf(buckets) - expectedCount) / 2) return excessIs("unclear", null);
  const quietMs = nowMs - lastAtMs;
  if (quietMs <= hourMs) return excessIs("ongoing", null);
  const since = sumOf(buckets.filter(({ atMs }) => atMs > lastAtMs));
  return excessIs(quietMs > longestPauseMs || since >= leastSince ? "stopped" : "unclear", lastAtMs);
}

/** Returns the longest time between two deaths, milliseconds; 0: there are fewer than two. */
export function longestPauseOf(buckets: readonly DeathBucket[]): number {
  return buckets.reduce((longest, { atMs }, index) => Math.max(longest, atMs - (buckets[index - 1]?.atMs ?? atMs)), 0);
}

/** The deaths in any busy hour, each once, and when the last of these hours ended. */
function busyHours(
  buckets: readonly DeathBucket[],
  limit: number,
): { readonly busyDeaths: number; readonly lastAtMs: number | null } {
  let [first, within, busyDeaths, counted] = [0, 0, 0, 0];
  let lastAtMs: number | null = null;
  for (const [index, { atMs, deaths }] of buckets.entries()) {
    within += deaths;
    for (let oldest = buckets[first]; oldest !== undefined && oldest.atMs <= atMs - hourMs; oldest = buckets[first]) {
      within -= oldest.deaths;
      first++;
    }
    if (within <= limit) continue;
    lastAtMs = atMs;
    // Deaths that an earlier busy hour has counted are not counted again.
    for (counted = Math.max(counted, first); counted <= index; counted++) busyDeaths += buckets[counted]?.deaths ?? 0;
  }
  return { busyDeaths, lastAtMs };
}

/** Returns the deaths of all buckets. */
export function sumOf(buckets: readonly DeathBucket[]): number {
  return buckets.reduce((sum, { deaths }) => sum + deaths, 0);
}
