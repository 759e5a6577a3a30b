import type { CountKind } from "../spike/findings.ts";
import { type BaselineKind, medianDays } from "../spike/median.ts";
import type { SpikeThresholds } from "../spike/thresholds.ts";
import { spikeWindow } from "../spike/window.ts";
import type { EventRecord } from "./event-record.ts";

/** Deaths as an evaluation takes them. */
export interface SlidingCount {
  readonly currentCount: number;
  readonly baselineCount: number;
  /** The deaths of each day, for a median; empty with a mean. */
  readonly dayCounts: readonly number[];
}

interface Bound {
  readonly offsetMs: number;
  /** How many instants of the record lie at or before the bound. */
  passed: number;
  /** The same at the last instant. */
  passedLast: number;
}

interface SlidingInterval {
  readonly after: Bound;
  readonly until: Bound;
  /** Different assets in it, and deaths without a name. */
  assets: number;
}

/**
 * Counts of the same windows at one instant after the other: each bound of a window only ever moves on, so that a whole
 * replay looks at each death once a bound, however many instants it has.
 */
export class SlidingCounts {
  readonly #record: EventRecord;
  readonly #bounds: readonly Bound[];
  /** The window, the baseline, then the days. */
  readonly #intervals: readonly SlidingInterval[];
  /** By the index of a death, those of the deaths of the same asset before and after it; null: deaths are counted. */
  readonly #same: { readonly before: Int32Array; readonly after: Int32Array } | null;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(
    record: EventRecord,
    thresholds: Pick<SpikeThresholds, "windowHours" | "baselineDays">,
    baseline: BaselineKind,
    count: CountKind = "deaths",
  ) {
    this.#record = record;
    this.#same = count === "assets" ? sameAssets(record) : null;
    // The windows of instant 0: those of another instant are these, shifted.
    const { baselineStartMs, windowStartMs, endMs } = spikeWindow(0, thresholds);
    const intervals = [
      { afterMs: windowStartMs, untilMs: endMs },
      { afterMs: baselineStartMs, untilMs: windowStartMs },
      ...(baseline === "median" ? medianDays(0, thresholds) : []),
    ];
    const bounds = new Map<number, Bound>();
    const boundAt = (offsetMs: number): Bound => {
      const bound = bounds.get(offsetMs) ?? { offsetMs, passed: 0, passedLast: 0 };
      bounds.set(offsetMs, bound);
      return bound;
    };
    this.#intervals = intervals.map(({ afterMs, untilMs }) => ({
      after: boundAt(afterMs),
      until: boundAt(untilMs),
      assets: 0,
    }));
    this.#bounds = [...bounds.values()];
  }

  /** The counts at `nowMs`. An earlier instant than the last one starts over. */
  at(nowMs: number): SlidingCount {
    const { deathAtMs } = this.#record;
    const isBack = nowMs < this.#lastMs;
    this.#lastMs = nowMs;
    for (const bound of this.#bounds) {
      const boundMs = nowMs + bound.offsetMs;
      let passed = isBack ? 0 : bound.passed;
      bound.passedLast = passed;
      while (passed < deathAtMs.length && (deathAtMs[passed] ?? 0) <= boundMs) passed++;
      bound.passed = passed;
    }
    if (isBack) for (const interval of this.#intervals) interval.assets = 0;
    const [currentCount = 0, baselineCount = 0, ...dayCounts] = this.#intervals.map((interval) =>
      this.#same === null ? this.#deathsUpTo(interval.until) - this.#deathsUpTo(interval.after) : this.#slide(interval),
    );
    if (this.#same === null) return { currentCount, baselineCount, dayCounts };
    return { currentCount, baselineCount: dayCounts.reduce((sum, count) => sum + count, 0), dayCounts };
  }

  #deathsUpTo({ passed }: Bound): number {
    return this.#record.deathsBefore[passed] ?? 0;
  }

  /** Takes in the deaths that came into the interval, and out those that left it: an asset comes with its first and goes with its last. */
  #slide(interval: SlidingInterval): number {
    const { after, until } = interval;
    for (let death = until.passedLast; death < until.passed; death++)
      if ((this.#same?.before[death] ?? -1) < after.passedLast) interval.assets += this.#weight(death);
    for (let death = after.passedLast; death < after.passed; death++)
      if ((this.#same?.after[death] ?? Infinity) >= until.passed) interval.assets -= this.#weight(death);
    return interval.assets;
  }

  #weight(death: number): number {
    const { deathAsset, deathsBefore } = this.#record;
    if ((deathAsset[death] ?? -1) >= 0) return 1;
    return (deathsBefore[death + 1] ?? 0) - (deathsBefore[death] ?? 0);
  }
}

function sameAssets({ deathAsset, assets }: EventRecord): { before: Int32Array; after: Int32Array } {
  const latest = new Int32Array(assets).fill(-1);
  const before = new Int32Array(deathAsset.length).fill(-1);
  const after = new Int32Array(deathAsset.length).fill(deathAsset.length);
  for (const [death, asset] of deathAsset.entries()) {
    if (asset < 0) continue;
    const last = latest[asset] ?? -1;
    before[death] = last;
    if (last >= 0) after[last] = death;
    latest[asset] = death;
  }
  return { before, after };
}
