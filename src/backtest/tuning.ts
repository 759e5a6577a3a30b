import type { CountKind } from "../spike/findings.ts";
import type { BaselineKind } from "../spike/median.ts";
import type { SpikeThresholds } from "../spike/thresholds.ts";
import type { Score } from "./score.ts";

/** One candidate of a search, with fail where warn begins, and how it did. */
export interface TuningPoint {
  readonly baseline: BaselineKind;
  /** What is counted [deaths]. */
  readonly count?: CountKind;
  readonly thresholds: SpikeThresholds;
  readonly score: Score;
}

/** The advice: the settings that `flatline init --source TYPE` writes where the events are available; measured in docs/detection.md. */
export const advice = {
  baseline: "median",
  thresholds: { windowHours: 24, baselineDays: 28, warnMultiplier: 2.5, failMultiplier: 5, minSpikeCount: 20 },
} as const;

/** What a search proposes. */
export interface Choice<Point extends TuningPoint = TuningPoint> {
  readonly warn: Point;
  /** Whether the advice finds as much within the same limit; null: it is not one of the candidates. */
  readonly adviceAsGood: boolean | null;
  /** Where `fail` should begin; null: no candidate is stricter and still finds most. */
  readonly fail: Point | null;
}

// A stricter rule has to find most of the incidents of the other one.
const leastShareAtFail = 0.75;
// The levels are as far apart as the defaults: a fail just above the warning tells nothing more.
const leastTimesWarn = 2;

/** Returns the points that no other one beats in both recall and groundless alarms, from the quietest to the most watchful. */
export function paretoFront<Point extends TuningPoint>(points: readonly Point[]): Point[] {
  const front: Point[] = [];
  for (const point of points.toSorted(byLoudness)) {
    const best = front.at(-1);
    if (best === undefined || recallOf(point) > recallOf(best)) front.push(point);
  }
  return front;
}

/**
 * Returns the one with the highest recall among those with at most so many groundless alarms a week and organization; of equal
 * ones the nearest to the advice, not the quietest: what a past without some kind of trouble praises as quiet is deaf to it when
 * it comes. When all are too loud, the quietest. `fail` is the quietest candidate with the same windows and count, at least twice
 * the multiplier, that still finds three quarters of that.
 */
export function chooseCandidate<Point extends TuningPoint>(
  points: readonly Point[],
  mostAWeek: number,
): Choice<Point> | null {
  const allowed = points.filter(({ score }) => score.groundlessAWeek <= mostAWeek);
  const [warn] = allowed.length === 0 ? points.toSorted(byLoudness) : allowed.toSorted(byRecall);
  if (warn === undefined) return null;
  const advised = points.find(isAdvice);
  const mostAsLoud = Math.max(mostAWeek, warn.score.groundlessAWeek);
  const adviceAsGood =
    advised === undefined ? null : recallOf(advised) >= recallOf(warn) && advised.score.groundlessAWeek <= mostAsLoud;
  const stricter = points.filter(
    (point) =>
      isSameBut(point, warn) &&
      point.thresholds.warnMultiplier >= leastTimesWarn * warn.thresholds.warnMultiplier &&
      recallOf(point) >= leastShareAtFail * recallOf(warn),
  );
  const [fail = null] = stricter.toSorted(byLoudness);
  return { warn, fail, adviceAsGood };
}

/** Returns whether it is the advice, whatever the window is and whatever is counted. */
export function isAdvice({ baseline, thresholds }: TuningPoint): boolean {
  return baseline === advice.baseline && advisedSettings.every((name) => thresholds[name] === advice.thresholds[name]);
}

const advisedSettings = ["baselineDays", "warnMultiplier", "minSpikeCount"] as const;

function isSameBut(left: TuningPoint, right: TuningPoint): boolean {
  return (
    left.baseline === right.baseline &&
    left.count === right.count &&
    left.thresholds.windowHours === right.thresholds.windowHours &&
    left.thresholds.baselineDays === right.thresholds.baselineDays &&
    left.thresholds.minSpikeCount === right.thresholds.minSpikeCount
  );
}

function byRecall(left: TuningPoint, right: TuningPoint): number {
  return recallOf(right) - recallOf(left) || byAdvice(left, right) || byLoudness(left, right);
}

/** Compares by the number of settings that differ from the advice, then by their distance from it, each as a ratio. */
function byAdvice(left: TuningPoint, right: TuningPoint): number {
  const [here, there] = [fromAdvice(left), fromAdvice(right)];
  return here.differing - there.differing || here.distance - there.distance;
}

function fromAdvice({ baseline, count = "deaths", thresholds }: TuningPoint): {
  readonly differing: number;
  readonly distance: number;
} {
  const names = [...advisedSettings, "windowHours"] as const;
  const distances = names.map((name) => Math.abs(Math.log(thresholds[name] / advice.thresholds[name])));
  return {
    differing:
      distances.filter((distance) => distance > 0).length +
      Number(baseline !== advice.baseline) +
      Number(count !== "deaths"),
    distance: distances.reduce((sum, distance) => sum + distance, 0),
  };
}

function byLoudness(left: TuningPoint, right: TuningPoint): number {
  return (
    left.score.groundlessAWeek - right.score.groundlessAWeek ||
    recallOf(right) - recallOf(left) ||
    left.score.falseAlarmsAWeek - right.score.falseAlarmsAWeek ||
    (left.score.medianDelayMs ?? Infinity) - (right.score.medianDelayMs ?? Infinity) ||
    byAdvice(left, right)
  );
}

function recallOf({ score }: TuningPoint): number {
  return score.recall ?? 0;
}
