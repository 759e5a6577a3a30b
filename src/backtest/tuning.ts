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

/**
 * Sorts candidates by how they are chosen: of those with at most so many groundless alarms a week and organization the
 * one that finds most; of equal ones the nearest to the advice, not the quietest: what a past without some kind of
 * trouble praises as quiet is deaf to it when it comes. Behind them those that are too loud, the quietest first.
 */
export function rankCandidates(points: readonly TuningPoint[], mostAWeek: number): readonly TuningPoint[] {
  const isLoud = ({ score }: TuningPoint): boolean => score.groundlessAWeek > mostAWeek;
  return points.toSorted(
    (left, right) =>
      Number(isLoud(left)) - Number(isLoud(right)) ||
      (isLoud(left) ? left.score.groundlessAWeek - right.score.groundlessAWeek : 0) ||
      recallOf(right) - recallOf(left) ||
      byAdvice(left, right),
  );
}

/** Whether the advice finds as much as what was chosen, and is as quiet, or quiet enough; null: it is not one of the candidates. */
export function isAdviceAsGood(points: readonly TuningPoint[], chosen: TuningPoint, mostAWeek: number): boolean | null {
  const advised = points.find(isAdvice);
  if (advised === undefined) return null;
  const mostAsLoud = Math.max(mostAWeek, chosen.score.groundlessAWeek);
  return recallOf(advised) >= recallOf(chosen) && advised.score.groundlessAWeek <= mostAsLoud;
}

/** Returns whether it is the advice, whatever the window is and whatever is counted. */
export function isAdvice({ baseline, thresholds }: TuningPoint): boolean {
  return baseline === advice.baseline && advisedSettings.every((name) => thresholds[name] === advice.thresholds[name]);
}

const advisedSettings = ["baselineDays", "warnMultiplier", "minSpikeCount"] as const;

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

function recallOf({ score }: TuningPoint): number {
  return score.recall ?? 0;
}
