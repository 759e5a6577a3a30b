import { FlatlineError } from "../base/errors.ts";
import type { AssetTypeDeaths, Interval, LivenessCounts } from "../contract/liveness-counts.ts";
import { evaluateSpike, type SpikeResult } from "../spike/evaluate.ts";
import { expectation } from "../spike/expectation.ts";
import { knownDays, medianDays, type BaselineKind } from "../spike/median.ts";
import { SpikeInputError } from "../spike/spike-input-error.ts";
import type { SpikeThresholds } from "../spike/thresholds.ts";
import { spikeWindow } from "../spike/window.ts";

/** What an evaluation reads of the counts. */
export type EvaluationCounts = Pick<LivenessCounts, "deaths" | "firstEventAtMs">;

/** One evaluation of one organization, without its counts. */
export interface LocalEvaluation {
  readonly slug: string;
  readonly thresholds: SpikeThresholds;
  readonly baseline: BaselineKind;
  /** Template with `{slug}` (CONTRACT 4, appUrl). */
  readonly appUrl: string | null;
  /** End of the window. */
  readonly nowMs: number;
}

/**
 * Evaluates an organization from counts of deaths in any store, with one call of `deaths` for all intervals.
 * @throws api_bad_request for invalid thresholds, and the errors of `counts`
 */
export async function evaluateLocally(
  evaluation: LocalEvaluation,
  counts: EvaluationCounts,
  options: { readonly signal?: AbortSignal } = {},
): Promise<SpikeResult> {
  const intervals = evaluationIntervals(evaluation);
  const [deaths = []] = await counts.deaths([{ slug: evaluation.slug, intervals }], options);
  return evaluateDeaths(evaluation, deaths, await firstEventFor(evaluation, counts, options));
}

/** Returns the first event if the baseline depends on it; null if it does not, or there is none. */
export async function firstEventFor(
  { slug, baseline }: Pick<LocalEvaluation, "slug" | "baseline">,
  counts: Pick<LivenessCounts, "firstEventAtMs">,
  options: { readonly signal?: AbortSignal } = {},
): Promise<number | null> {
  return baseline === "median" ? counts.firstEventAtMs(slug, options) : null;
}

/**
 * Returns the intervals for `deaths`: the window, the baseline, and for a median each of its days, in this order; for
 * callers that query many organizations at once.
 * @throws api_bad_request
 */
export function evaluationIntervals({ thresholds, baseline, nowMs }: LocalEvaluation): Interval[] {
  return asBadRequest(() => {
    const { baselineStartMs, windowStartMs, endMs } = spikeWindow(nowMs, thresholds);
    return [
      { afterMs: windowStartMs, untilMs: endMs },
      { afterMs: baselineStartMs, untilMs: windowStartMs },
      ...(baseline === "median" ? medianDays(nowMs, thresholds) : []),
    ];
  });
}

/** Deaths of one asset type in the window, and the number that its baseline predicts. */
export interface AssetTypeExpectation {
  /** null: events without a type. */
  readonly assetType: string | null;
  readonly currentCount: number;
  readonly expectedCount: number;
}

/**
 * Returns the expectation of each asset type of an organization, spiking or not, largest excess first.
 * @throws as evaluateLocally
 */
export async function expectByAssetType(
  evaluation: LocalEvaluation,
  counts: EvaluationCounts,
  options: { readonly signal?: AbortSignal } = {},
): Promise<AssetTypeExpectation[]> {
  const { slug, baseline, thresholds, nowMs } = evaluation;
  const firstEventAtMs = await firstEventFor(evaluation, counts, options);
  const [deaths = []] = await counts.deaths([{ slug, intervals: evaluationIntervals(evaluation) }], options);
  return countsByType(deaths)
    .map(({ assetType, currentCount, baselineCount, dayCounts: days }) => {
      const dayCounts = knownDays(days, nowMs, thresholds, firstEventAtMs);
      const { expectedCount } = asBadRequest(() => expectation({ baseline, thresholds, baselineCount, dayCounts }));
      return { assetType, currentCount, expectedCount };
    })
    .toSorted((left, right) => right.currentCount - right.expectedCount - (left.currentCount - left.expectedCount));
}

/**
 * Evaluates the deaths in the intervals of {@link evaluationIntervals}, in their order, with {@link firstEventFor}.
 * @throws api_bad_request
 */
export function evaluateDeaths(
  evaluation: LocalEvaluation,
  deaths: readonly AssetTypeDeaths[],
  firstEventAtMs: number | null,
): SpikeResult {
  const { slug, thresholds, baseline, appUrl, nowMs } = evaluation;
  const assetTypes = countsByType(deaths);
  const dayCounts: number[] = baseline === "median" ? Array.from({ length: thresholds.baselineDays }, () => 0) : [];
  let currentCount = 0;
  let baselineCount = 0;
  for (const counts of assetTypes) {
    currentCount += counts.currentCount;
    baselineCount += counts.baselineCount;
    for (const [index, count] of counts.dayCounts.entries()) dayCounts[index] = (dayCounts[index] ?? 0) + count;
  }
  return asBadRequest(() =>
    evaluateSpike({
      slug,
      nowMs,
      thresholds,
      baseline,
      currentCount,
      baselineCount,
      dayCounts,
      firstEventAtMs,
      assetTypes,
      appUrl,
    }),
  );
}

function countsByType(deaths: readonly AssetTypeDeaths[]): {
  readonly assetType: string | null;
  readonly currentCount: number;
  readonly baselineCount: number;
  readonly dayCounts: readonly number[];
}[] {
  return deaths.map((ofType) => {
    const [currentCount = 0, baselineCount = 0, ...dayCounts] = ofType.deaths;
    return { assetType: ofType.assetType, currentCount, baselineCount, dayCounts };
  });
}

function asBadRequest<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SpikeInputError)) throw error;
    throw new FlatlineError("api_bad_request", error.message, { cause: error, issues: [error.message] });
  }
}
