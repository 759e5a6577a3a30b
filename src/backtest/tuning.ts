import type { BaselineKind } from "../spike/median.ts";
import { defaultThresholds, type SpikeThresholds } from "../spike/thresholds.ts";
import type { Score } from "./score.ts";

/** One candidate of a search, with fail where warn begins, and how it did. */
export interface TuningPoint {
  readonly baseline: BaselineKind;
  readonly thresholds: SpikeThresholds;
  readonly score: Score;
}

/** What a search proposes. */
export interface Choice<Point extends TuningPoint = TuningPoint> {
  readonly warn: Point;
  /** Where `fail` should begin; null: no candidate is stricter and still finds most. */
  readonly fail: Point | null;
}

// A stricter rule is worth its name only while it finds most of what the other does.
const leastShareAtFail = 0.75;
// As far apart as the defaults: a fail just above the warning says nothing that the warning does not.
const leastTimesWarn = 2;

/** Those that no other one beats in both recall and groundless alarms, from the quietest to the most watchful. */
export function paretoFront<Point extends TuningPoint>(points: readonly Point[]): Point[] {
  const front: Point[] = [];
  for (const point of points.toSorted(byLoudness)) {
    const best = front.at(-1);
    if (best === undefined || recallOf(point) > recallOf(best)) front.push(point);
  }
  return front;
}

/**
 * Returns the one with the highest recall among those with at most so many groundless alarms a week and organization; of equal ones
 * that with fewer of them, then with fewer on mass deaths, then the faster one, then the one with the multiplier nearest to the
 * default: nothing measured speaks for another. When all are too loud, the quietest. `fail` is the quietest candidate with the
 * same windows and count, at least twice the multiplier, that still finds three quarters of that.
 */
export function chooseCandidate<Point extends TuningPoint>(
  points: readonly Point[],
  mostAWeek: number,
): Choice<Point> | null {
  const allowed = points.filter(({ score }) => score.groundlessAWeek <= mostAWeek);
  const [warn] = allowed.length === 0 ? points.toSorted(byLoudness) : allowed.toSorted(byRecall);
  if (warn === undefined) return null;
  const stricter = points.filter(
    (point) =>
      isSameBut(point, warn) &&
      point.thresholds.warnMultiplier >= leastTimesWarn * warn.thresholds.warnMultiplier &&
      recallOf(point) >= leastShareAtFail * recallOf(warn),
  );
  const [fail = null] = stricter.toSorted(byLoudness);
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
  return recallOf(right) - recallOf(left) || byLoudness(left, right);
}

function byLoudness(left: TuningPoint, right: TuningPoint): number {
  return (
    left.score.groundlessAWeek - right.score.groundlessAWeek ||
    recallOf(right) - recallOf(left) ||
    left.score.falseAlarmsAWeek - right.score.falseAlarmsAWeek ||
    (left.score.medianDelayMs ?? Infinity) - (right.score.medianDelayMs ?? Infinity) ||
    fromDefault(left) - fromDefault(right)
  );
}

function fromDefault({ thresholds }: TuningPoint): number {
  return Math.abs(thresholds.warnMultiplier - defaultThresholds.warnMultiplier);
}

function recallOf({ score }: TuningPoint): number {
  return score.recall ?? 0;
}
