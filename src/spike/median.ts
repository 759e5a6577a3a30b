import type { Fraction } from "./fraction.ts";
import { SpikeInputError } from "./spike-input-error.ts";
import type { SpikeThresholds } from "./thresholds.ts";
import { checkInstant } from "./window.ts";

const hourMs = 3_600_000;
const hoursPerDay = 24;

/**
 * How deaths are expected. `mean`, the API's rule, spreads the baseline evenly. `median` takes the middle of the same
 * window on each day of the baseline: one bad day does not hide the next (CONTRACT 2).
 */
export const baselineKinds = ["mean", "median"] as const;
export type BaselineKind = (typeof baselineKinds)[number];

/** A median refuses more days, because each is a count of its own; a configuration allows ten years. */
export const mostMedianDays = 3_650;

/** The time after `afterMs`, up to and including `untilMs`; epoch ms. */
export interface DayWindow {
  readonly afterMs: number;
  readonly untilMs: number;
}

/**
 * Returns the window that ends at `nowMs` on each day of the baseline, the latest first: (now − lag − w, now − lag]
 * with lag = 24·ceil(w/24) + 24·(j − 1) hours. None overlaps the window itself (CONTRACT 2).
 * @throws SpikeInputError when `nowMs` is no integer of a date's range, or there are more than 3650 days
 */
export function medianDays(
  nowMs: number,
  { windowHours, baselineDays }: Pick<SpikeThresholds, "windowHours" | "baselineDays">,
): DayWindow[] {
  checkInstant("nowMs", nowMs);
  if (baselineDays > mostMedianDays) {
    throw new SpikeInputError(
      "baselineDays",
      `baselineDays must be at most ${mostMedianDays} where the baseline is a median, got ${baselineDays}`,
    );
  }
  const firstLagHours = hoursPerDay * Math.ceil(windowHours / hoursPerDay);
  return Array.from({ length: baselineDays }, (_, index) => {
    const untilMs = nowMs - (firstLagHours + hoursPerDay * index) * hourMs;
    return { afterMs: asStored(untilMs - windowHours * hourMs), untilMs: asStored(untilMs) };
  });
}

/** Deaths of each day of a median's baseline, the latest first; null: the median skips the day. */
export type DayCounts = readonly (number | null)[];

/**
 * Replaces the counts of days that begin before the first stored event with null: nothing is known of them (CONTRACT
 * 2). `firstEventAtMs` null: every day is known.
 */
export function knownDays(
  dayCounts: DayCounts,
  nowMs: number,
  thresholds: Pick<SpikeThresholds, "windowHours" | "baselineDays">,
  firstEventAtMs: number | null,
): DayCounts {
  if (firstEventAtMs === null || dayCounts.length === 0) return dayCounts;
  const days = medianDays(nowMs, thresholds);
  if ((days.at(-1)?.afterMs ?? 0) >= firstEventAtMs) return dayCounts;
  return dayCounts.map((count, index) => ((days[index]?.afterMs ?? 0) < firstEventAtMs ? null : count));
}

/** Returns the exact median; the mean of two middle values, 0 for no days. */
export function medianDeaths(dayCounts: DayCounts): Fraction {
  const sorted = dayCounts.filter((count) => count !== null).toSorted((left, right) => left - right);
  const low = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
  const high = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return { numerator: BigInt(low) + BigInt(high), denominator: 2n };
}

/** No event is older than the first safe integer, and a database would not keep a fraction. */
function asStored(atMs: number): number {
  return Math.max(atMs, Number.MIN_SAFE_INTEGER);
}
