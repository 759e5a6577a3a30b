import { FlatlineError } from "../base/errors.ts";
import type { AssetTypeDeaths, DeathsQuery, LivenessCounts } from "../contract/liveness-counts.ts";
import { evaluateSpike, type SpikeResult } from "../spike/evaluate.ts";
import type { CountKind } from "../spike/findings.ts";
import { medianDays, type BaselineKind } from "../spike/median.ts";
import { SpikeInputError } from "../spike/spike-input-error.ts";
import type { SpikeThresholds } from "../spike/thresholds.ts";
import { spikeWindow } from "../spike/window.ts";

/** The rule of an organization's evaluation, beside its thresholds. */
export interface SpikeRule {
  readonly baseline: BaselineKind;
  /** What is counted [deaths]. */
  readonly count?: CountKind;
}

/** One evaluation of one organization, without its counts. */
export interface LocalEvaluation extends SpikeRule {
  readonly slug: string;
  readonly thresholds: SpikeThresholds;
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
  counts: LivenessCounts,
  options: { readonly signal?: AbortSignal } = {},
): Promise<SpikeResult> {
  const [deaths = []] = await counts.deaths([evaluationQuery(evaluation)], options);
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
 * Returns the query for `deaths`: the window, the baseline (unless assets are counted), for a median each of its days, in
 * this order; for callers that query many organizations at once.
 * @throws api_bad_request
 */
export function evaluationQuery(evaluation: LocalEvaluation): DeathsQuery {
  const { slug, thresholds, baseline, count = "deaths", nowMs } = evaluation;
  return asBadRequest(() => {
    const { baselineStartMs, windowStartMs, endMs } = spikeWindow(nowMs, thresholds);
    const intervals = [
      { afterMs: windowStartMs, untilMs: endMs },
      // When assets are counted the baseline is its days: one statement over all of it would hold the event loop.
      ...(count === "assets" ? [] : [{ afterMs: baselineStartMs, untilMs: windowStartMs }]),
      ...(baseline === "median" ? medianDays(nowMs, thresholds) : []),
    ];
    return { slug, intervals, count };
  });
}

/**
 * Evaluates the deaths in the intervals of {@link evaluationQuery}, in their order, with {@link firstEventFor}.
 * @throws api_bad_request
 */
export function evaluateDeaths(
  evaluation: LocalEvaluation,
  deaths: readonly AssetTypeDeaths[],
  firstEventAtMs: number | null,
): SpikeResult {
  const { slug, thresholds, baseline, count = "deaths", appUrl, nowMs } = evaluation;
  const assetTypes = countsByType(deaths, count);
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
      count,
      currentCount,
      baselineCount,
      dayCounts,
      firstEventAtMs,
      assetTypes,
      appUrl,
    }),
  );
}

function countsByType(
  deaths: readonly AssetTypeDeaths[],
  count: CountKind,
): {
  readonly assetType: string | null;
  readonly currentCount: number;
  readonly baselineCount: number;
  readonly dayCounts: readonly number[];
}[] {
  return deaths.map((ofType) => {
    const [currentCount = 0, ...before] = ofType.deaths;
    if (count === "assets")
      return { assetType: ofType.assetType, currentCount, baselineCount: sumOf(before), dayCounts: before };
    const [baselineCount = 0, ...dayCounts] = before;
    return { assetType: ofType.assetType, currentCount, baselineCount, dayCounts };
  });
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function asBadRequest<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SpikeInputError)) throw error;
    throw new FlatlineError("api_bad_request", error.message, { cause: error, issues: [error.message] });
  }
}

/**
 * Evaluates many organizations at one instant, in order, with one query for all counts and one for the first event of each
 * median. Returns null for one that cannot be evaluated; its own run reports the reason.
 * @throws the errors of `counts`
 */
export async function evaluateRound(
  evaluations: readonly LocalEvaluation[],
  counts: LivenessCounts,
): Promise<(SpikeResult | null)[]> {
  const queries = evaluations.map(
    (evaluation) => unlessRefused(() => evaluationQuery(evaluation)) ?? { slug: evaluation.slug, intervals: [] },
  );
  const deaths = await counts.deaths(queries);
  const firstEvents: (number | null)[] = [];
  for (const evaluation of evaluations)
    firstEvents.push(evaluation.baseline === "mean" ? null : await firstEventFor(evaluation, counts));
  return evaluations.map((evaluation, index) => {
    if (queries[index]?.intervals.length === 0) return null;
    return unlessRefused(() => evaluateDeaths(evaluation, deaths[index] ?? [], firstEvents[index] ?? null));
  });
}

function unlessRefused<Result>(work: () => Result): Result | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof FlatlineError && error.code === "api_bad_request") return null;
    throw error;
  }
}
