import { dayMs } from "../base/time.ts";
import type { Interval } from "../contract/liveness-counts.ts";
import { compareFractions, decimalFraction, multiplyFractions } from "../spike/fraction.ts";
import { medianDeaths } from "../spike/median.ts";
import type { SpikeThresholds } from "../spike/thresholds.ts";

/** Fewer deaths say nothing about what is usual. */
export const leastQuietDeaths = 10;

// The days before the window that say which attributes deaths usually have; as many as in the advised baseline.
const attributionDays = 28;

/** Returns the slices of 24 h before a window, the latest first, which the window's deaths are compared with. */
export function attributionSlices(windowStartMs: number, days = attributionDays): Interval[] {
  return Array.from({ length: days }, (_, day) => ({
    afterMs: windowStartMs - (day + 1) * dayMs,
    untilMs: windowStartMs - day * dayMs,
  }));
}

/** Returns the slices that overlap no stretch in which the checker was judged to be wrong. */
export function unjudgedSlices(
  slices: readonly Interval[],
  stretches: readonly { readonly fromMs: number; readonly toMs: number }[],
): Interval[] {
  // The first instant of a slice is afterMs + 1, the last one of a stretch toMs − 1.
  return slices.filter(
    ({ afterMs, untilMs }) => !stretches.some(({ fromMs, toMs }) => fromMs <= untilMs && toMs - 1 > afterMs),
  );
}

/** The facts that decide whether a slice is loud. */
export interface QuietAsk {
  readonly thresholds: Pick<SpikeThresholds, "warnMultiplier" | "minSpikeCount">;
  /** The first stored event; slices that end before it say nothing. null: there is none. */
  readonly firstEventAtMs: number | null;
}

/**
 * Returns the slices without the loud ones, which have at least minSpikeCount deaths and more than warnMultiplier times
 * the median (exact): last week's incident must not count as usual. `deaths` are those of the slices, in order.
 */
export function quietSlices(
  slices: readonly Interval[],
  deaths: readonly number[],
  { thresholds: { warnMultiplier, minSpikeCount }, firstEventAtMs }: QuietAsk,
): Interval[] {
  if (firstEventAtMs === null) return [];
  const known = slices
    .map((slice, index) => ({ slice, count: deaths[index] ?? 0 }))
    // The slice with the first event is known only in part; it stays, because at first it is the only one.
    .filter(({ slice }) => slice.untilMs >= firstEventAtMs);
  const limit = multiplyFractions(medianDeaths(known.map(({ count }) => count)), decimalFraction(warnMultiplier));
  const isLoud = (count: number): boolean =>
    count >= minSpikeCount && compareFractions({ numerator: BigInt(count), denominator: 1n }, limit) > 0;
  return known.filter(({ count }) => !isLoud(count)).map(({ slice }) => slice);
}
