import { type BaselineKind, type DayWindow, medianDays } from "../spike/median.ts";
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
}

/**
 * Counts of the same windows at one instant after the other: each bound of a window only ever moves on, so that a whole
 * replay looks at each death once a bound, however many instants it has.
 */
export class SlidingCounts {
  readonly #record: EventRecord;
  readonly #bounds: Bound[];
  /** Indexes of the bounds of each interval: the window, the baseline, then the days. */
  readonly #intervals: readonly (readonly [after: number, until: number])[];
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(
    record: EventRecord,
    thresholds: Pick<SpikeThresholds, "windowHours" | "baselineDays">,
    baseline: BaselineKind,
  ) {
    this.#record = record;
    // The windows of instant 0: those of any other are the same, shifted.
    const { baselineStartMs, windowStartMs, endMs } = spikeWindow(0, thresholds);
    const intervals = [
      { afterMs: windowStartMs, untilMs: endMs },
      { afterMs: baselineStartMs, untilMs: windowStartMs },
      ...(baseline === "median" ? medianDays(0, thresholds) : []),
    ];
    const offsets = [...new Set(intervals.flatMap(({ afterMs, untilMs }) => [afterMs, untilMs]))];
    this.#bounds = offsets.map((offsetMs) => ({ offsetMs, passed: 0 }));
    this.#intervals = intervals.map(({ afterMs, untilMs }) => [offsets.indexOf(afterMs), offsets.indexOf(untilMs)]);
  }

  /** The counts at `nowMs`. An earlier instant than the last one starts over. */
  at(nowMs: number): SlidingCount {
    const { deathAtMs } = this.#record;
    const isBack = nowMs < this.#lastMs;
    this.#lastMs = nowMs;
    for (const bound of this.#bounds) {
      const boundMs = nowMs + bound.offsetMs;
      let passed = isBack ? 0 : bound.passed;
      while (passed < deathAtMs.length && (deathAtMs[passed] ?? 0) <= boundMs) passed++;
      bound.passed = passed;
    }
    const [currentCount = 0, baselineCount = 0, ...dayCounts] = this.#intervals.map(
      ([after, until]) => this.#deathsUpTo(until) - this.#deathsUpTo(after),
    );
    return { currentCount, baselineCount, dayCounts };
  }

  /** Deaths in these intervals, which no bound follows. */
  within(intervals: readonly DayWindow[]): number {
    const upTo = (atMs: number): number => this.#record.deathsBefore[indexAfter(this.#record.deathAtMs, atMs)] ?? 0;
    return intervals.reduce((sum, { afterMs, untilMs }) => sum + upTo(untilMs) - upTo(afterMs), 0);
  }

  #deathsUpTo(bound: number): number {
    return this.#record.deathsBefore[this.#bounds[bound]?.passed ?? 0] ?? 0;
  }
}

/** How many of the ascending instants lie at or before `atMs`. */
function indexAfter(instants: Float64Array, atMs: number): number {
  let low = 0;
  let high = instants.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((instants[middle] ?? 0) <= atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
