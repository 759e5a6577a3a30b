import type { CountKind } from "../spike/findings.ts";
import type { BaselineKind } from "../spike/median.ts";
import type { SpikeThresholds } from "../spike/thresholds.ts";
import type { Watched } from "./replay.ts";
import type { Score } from "./score.ts";

/** One candidate of a search, with fail where warn begins, and how it did. */
export interface TuningPoint {
  readonly baseline: BaselineKind;
  readonly count: CountKind;
  readonly thresholds: SpikeThresholds;
  readonly score: Score;
}

/** The advice: the settings that `flatline init --source embedded` writes where the events are available; measured in docs/detection.md. */
export const advice = {
  baseline: "median",
  thresholds: { windowHours: 24, baselineDays: 28, warnMultiplier: 2.5, failMultiplier: 5, minSpikeCount: 20 },
} as const;

// What people run: from nervous to deaf, and counts from a handful to a batch.
const grid = {
  baseline: ["mean", "median"] as readonly BaselineKind[],
  baselineDays: [7, 28] as readonly number[],
  warnMultiplier: [1.5, 2, 3, 4, 6, 8, 12] as readonly number[],
  minSpikeCount: [5, 10, 20, 30, 50] as readonly number[],
};

/**
 * Returns the ways to watch an organization that a search tries: every combination of the grid, and the advice. Each begins to
 * fail where it warns: fail is tried first, so that a lower failMultiplier would decide for all that are above it. What `fixed`
 * names stays as it is configured, and so does what is counted, of which the mean knows deaths only.
 */
export function candidatesOf(one: Watched, fixed: ReadonlySet<string>): readonly Watched[] {
  const tried = <Value>(key: keyof typeof grid, all: readonly Value[], own: Value): readonly Value[] =>
    fixed.has(key) ? [own] : all;
  const { baselineDays: days, warnMultiplier: warn, minSpikeCount: least } = one.thresholds;
  const points = tried("baseline", grid.baseline, one.baseline)
    .filter((baseline) => baseline === "median" || one.count === "deaths")
    .flatMap((baseline) =>
      tried("baselineDays", grid.baselineDays, days).flatMap((baselineDays) =>
        tried("warnMultiplier", grid.warnMultiplier, warn).flatMap((warnMultiplier) =>
          tried("minSpikeCount", grid.minSpikeCount, least).map((minSpikeCount) => {
            return { baseline, baselineDays, warnMultiplier, minSpikeCount };
          }),
        ),
      ),
    );
  const { baseline, thresholds } = advice;
  const advised = Object.keys(grid).some((key) => fixed.has(key)) ? [] : [{ baseline, ...thresholds }];
  return [...points, ...advised].map(({ baseline, baselineDays, warnMultiplier, minSpikeCount }) => ({
    ...one,
    baseline,
    thresholds: { ...one.thresholds, baselineDays, warnMultiplier, failMultiplier: warnMultiplier, minSpikeCount },
  }));
}

/** Names a candidate: `median of 28 days, ×2.5, at least 20`. */
export function describeCandidate({ baseline, count, thresholds }: Omit<TuningPoint, "score">): string {
  const { windowHours, baselineDays, warnMultiplier, minSpikeCount } = thresholds;
  const window = windowHours === advice.thresholds.windowHours ? "" : `, ${windowHours} h`;
  const counted = count === "assets" ? " of assets" : "";
  return `${baseline}${counted} of ${baselineDays} days, ×${warnMultiplier}, at least ${minSpikeCount}${window}`;
}

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
const sameAtFail = ({ baseline, count, thresholds }: TuningPoint): string =>
  [baseline, count, thresholds.windowHours, thresholds.baselineDays, thresholds.minSpikeCount].join(" ");
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
      sameAtFail(point) === sameAtFail(warn) &&
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

function byRecall(left: TuningPoint, right: TuningPoint): number {
  return recallOf(right) - recallOf(left) || byAdvice(left, right) || byLoudness(left, right);
}

/** Compares by the number of settings that differ from the advice, then by their distance from it, each as a ratio. */
function byAdvice(left: TuningPoint, right: TuningPoint): number {
  const [here, there] = [fromAdvice(left), fromAdvice(right)];
  return here.differing - there.differing || here.distance - there.distance;
}

function fromAdvice({ baseline, count, thresholds }: TuningPoint) {
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
