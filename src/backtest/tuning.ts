import type { CountKind } from "../spike/findings.ts";
import type { BaselineKind } from "../spike/median.ts";
import type { SpikeThresholds } from "../spike/thresholds.ts";
import type { Watched } from "./replay.ts";
import type { Score } from "./score.ts";

/** A candidate of a search and its score. Fail begins where warn does. */
export interface TuningPoint {
  readonly baseline: BaselineKind;
  readonly count: CountKind;
  readonly thresholds: SpikeThresholds;
  readonly score: Score;
}

/** The settings that `flatline init --source embedded` writes when events are available (docs/detection.md). */
export const advice = {
  baseline: "median",
  thresholds: { windowHours: 24, baselineDays: 28, warnMultiplier: 2.5, failMultiplier: 5, minSpikeCount: 20 },
} as const;

// What people run: from nervous to deaf, for a few deaths or many.
const grid = {
  baseline: ["mean", "median"] as readonly BaselineKind[],
  baselineDays: [7, 28] as readonly number[],
  warnMultiplier: [1.5, 2, 3, 4, 6, 8, 12] as readonly number[],
  minSpikeCount: [5, 10, 20, 30, 50] as readonly number[],
};

/**
 * Returns the candidates for an organization: the whole grid and the advice. Fail begins where warn does: it is tried
 * first, so a lower failMultiplier would decide alone. `fixed` settings keep their value, as does what is counted;
 * assets need a median.
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
 * Sorts candidates, the best first. Quiet ones (at most `mostAWeek` groundless alarms a week and organization) by what
 * they find, then by nearness to the advice. The quietest is not the best: it may be deaf to trouble that this past
 * lacks. Loud ones follow, the quietest first.
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

/** Returns whether the advice finds as much as `chosen`, and is quiet enough; null: it was not a candidate. */
export function isAdviceAsGood(points: readonly TuningPoint[], chosen: TuningPoint, mostAWeek: number): boolean | null {
  const advised = points.find(isAdvice);
  if (advised === undefined) return null;
  const mostAsLoud = Math.max(mostAWeek, chosen.score.groundlessAWeek);
  return recallOf(advised) >= recallOf(chosen) && advised.score.groundlessAWeek <= mostAsLoud;
}

/** Returns whether these are the advised settings, for any window and count. */
export function isAdvice({ baseline, thresholds }: TuningPoint): boolean {
  return baseline === advice.baseline && advisedSettings.every((name) => thresholds[name] === advice.thresholds[name]);
}

const advisedSettings = ["baselineDays", "warnMultiplier", "minSpikeCount"] as const;

/** Compares by how many settings differ from the advice, then by how far, as ratios. */
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
