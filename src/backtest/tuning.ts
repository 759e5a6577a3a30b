import type { BaselineKind } from "../spike/median.ts";
import type { SpikeThresholds } from "../spike/thresholds.ts";
import type { Score } from "./score.ts";

/** One candidate of a search and how it did at the level `warn`. */
export interface TuningPoint {
  readonly baseline: BaselineKind;
  readonly thresholds: SpikeThresholds;
  readonly score: Score;
}

/** What a search proposes. */
export interface Choice {
  readonly warn: TuningPoint;
  /** Where `fail` should begin; null: no candidate is stricter and still finds most. */
  readonly fail: TuningPoint | null;
}

// A stricter rule is worth its name only while it finds most of what the other does.
const leastShareAtFail = 0.75;

/** Those that no other one beats in both recall and false alarms, from the quietest to the most watchful. */
export function paretoFront(points: readonly TuningPoint[]): TuningPoint[] {
  const front: TuningPoint[] = [];
  for (const point of points.toSorted(byFalseAlarms)) {
    const best = front.at(-1);
    if (best === undefined || recallOf(point) > recallOf(best)) front.push(point);
  }
  return front;
}

/**
 * The one with the highest recall among those with at most so many false alarms a week and organization; of equal ones that
 * with fewer false alarms, then the faster one, then the one with the larger multiplier, which leaves more room. When all are too
 * loud, the quietest. `fail` is the quietest candidate with the same windows and count that is stricter and finds three quarters of that.
 */
export function chooseCandidate(points: readonly TuningPoint[], mostFalseAlarmsAWeek: number): Choice | null {
  const allowed = points.filter(({ score }) => score.falseAlarmsAWeek <= mostFalseAlarmsAWeek);
  const [warn] = allowed.length === 0 ? points.toSorted(byFalseAlarms) : allowed.toSorted(byRecall);
  if (warn === undefined) return null;
  const stricter = points.filter(
    (point) =>
      isSameBut(point, warn) &&
      point.thresholds.warnMultiplier > warn.thresholds.warnMultiplier &&
      recallOf(point) >= leastShareAtFail * recallOf(warn),
  );
  const [fail = null] = stricter.toSorted(byFalseAlarms);
  return { warn, fail };
}

function isSameBut(left: TuningPoint, right: TuningPoint): boolean {
  return (
    left.baseline === right.baseline &&
    left.thresholds.windowHours === right.thresholds.windowHours &&
    left.thresholds.baselineDays === right.thresholds.baselineDays &&
    left.thresholds.minSpikeCount === right.thresholds.minSpikeCount
  );
}

function byRecall(left: TuningPoint, right: TuningPoint): number {
  return recallOf(right) - recallOf(left) || byFalseAlarms(left, right);
}

function byFalseAlarms(left: TuningPoint, right: TuningPoint): number {
  return (
    left.score.falseAlarmsAWeek - right.score.falseAlarmsAWeek ||
    recallOf(right) - recallOf(left) ||
    (left.score.medianDelayMs ?? Infinity) - (right.score.medianDelayMs ?? Infinity) ||
    right.thresholds.warnMultiplier - left.thresholds.warnMultiplier
  );
}

function recallOf({ score }: TuningPoint): number {
  return score.recall ?? 0;
}
