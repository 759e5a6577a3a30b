import type { Fraction } from "./fraction.ts";
import { SpikeInputError } from "./spike-input-error.ts";
import type { SpikeThresholds } from "./thresholds.ts";
import { checkInstant } from "./window.ts";

const hourMs = 3_600_000;
const hoursPerDay = 24;

/**
 * The rules of the expected deaths: `mean`, the API's rule, spreads all of the baseline evenly; `median` takes the middle one
 * of the same window on each day of the baseline, so that one bad day of the week before hides no other (CONTRACT 2).
 */
export const baselineKinds = ["mean", "median"] as const;
/** One of {@link baselineKinds}. */
export type BaselineKind = (typeof baselineKinds)[number];

/** Days beyond which a median is refused: each is a count of its own, and ten years is what a configuration may say. */
export const mostMedianDays = 3_650;

/** The instants after `afterMs`, up to and including `untilMs`; epoch ms. */
export interface DayWindow {
  readonly afterMs: number;
  readonly untilMs: number;
}

/**
 * Returns the window that ends at `nowMs` on each day of the baseline, the latest first: (now − lag − w, now − lag]
 * with lag = 24·ceil(w/24) + 24·(j − 1) hours, so that none overlaps the window itself (CONTRACT 2).
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

/** Deaths of each day of a median's baseline, the latest first; null: a day that is left out of the median. */
export type DayCounts = readonly (number | null)[];

/**
 * Returns the counts without the days whose window begins before the organization's first stored event, of which
 * nothing is known (CONTRACT 2). `firstEventAtMs` null: every day is known.
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

/**
 * Deaths expected by the median of the days, exactly; for an even number of them the mean of the middle two. 0 of none.
 */
export function medianDeaths(dayCounts: DayCounts): Fraction {
  const sorted = dayCounts.filter((count) => count !== null).toSorted((left, right) => left - right);
  const low = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
  const high = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return { numerator: BigInt(low) + BigInt(high), denominator: 2n };
}

/** No event is older than the first safe integer, and a start that is no integer would not survive a database. */
function asStored(atMs: number): number {
  return Math.max(atMs, Number.MIN_SAFE_INTEGER);
}
