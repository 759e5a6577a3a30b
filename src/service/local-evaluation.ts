import { asFlatlineError, FlatlineError } from "../base/errors.ts";
import type { AssetTypeDeaths, DeathsQuery, FirstEvents, LivenessCounts } from "../contract/liveness-counts.ts";
import { evaluateWithTypes, type SpikeEvaluation, type SpikeRule } from "../spike/evaluate.ts";
import type { AssetTypeCounts } from "../spike/asset-types.ts";
import type { CountKind } from "../spike/findings.ts";
import { medianDays } from "../spike/median.ts";
import { SpikeInputError } from "../spike/spike-input-error.ts";
import type { SpikeThresholds } from "../spike/thresholds.ts";
import { spikeWindow } from "../spike/window.ts";

export interface LocalEvaluation extends SpikeRule {
  readonly slug: string;
  readonly thresholds: SpikeThresholds;
  /** Template with `{slug}` (CONTRACT 4, appUrl). */
  readonly appUrl: string | null;
  /** The end of the window. */
  readonly nowMs: number;
}

export interface RoundOptions {
  readonly signal?: AbortSignal;
  /** [read for those with a median baseline] */
  readonly firstEvents?: FirstEvents | null;
}

/**
 * Evaluates organizations, in order, with one query for all counts. An error belongs to one organization: invalid
 * thresholds (`api_bad_request`) or invalid counts.
 * @throws the errors of `counts`
 */
export async function evaluateRound(
  evaluations: readonly LocalEvaluation[],
  counts: LivenessCounts,
  { signal, ...known }: RoundOptions = {},
): Promise<(SpikeEvaluation | FlatlineError)[]> {
  const options = signal === undefined ? {} : { signal };
  const queries = evaluations.map((evaluation) => orError(() => queryOf(evaluation)));
  const asked = queries.flatMap((query) => (query instanceof FlatlineError ? [] : [query]));
  const medians = evaluations.filter(({ baseline }) => baseline === "median").map(({ slug }) => slug);
  const firstEvents = known.firstEvents ?? (medians.length === 0 ? null : await counts.firstEvents(medians, options));
  const answers = (await counts.deaths(asked, options)).values();
  return evaluations.map((evaluation, index) => {
    const query = queries[index];
    const deaths = query instanceof FlatlineError ? query : (answers.next().value ?? []);
    if (deaths instanceof FlatlineError) return deaths;
    return orError(() => evaluateDeaths(evaluation, deaths, firstEvents?.get(evaluation.slug) ?? null));
  });
}

/** Evaluates one organization. @throws its error, and those of `counts` */
export async function evaluateLocally(
  evaluation: LocalEvaluation,
  counts: LivenessCounts,
  options: RoundOptions = {},
): Promise<SpikeEvaluation> {
  const [evaluated] = await evaluateRound([evaluation], counts, options);
  if (evaluated instanceof FlatlineError) throw evaluated;
  if (evaluated === undefined) throw new FlatlineError("internal", "a round of one has no answer");
  return evaluated;
}

/** Asks for the window, the baseline (unless assets are counted), and each day of a median, in this order. */
function queryOf({ slug, thresholds, baseline, count, nowMs }: LocalEvaluation): DeathsQuery {
  const { baselineStartMs, windowStartMs, endMs } = spikeWindow(nowMs, thresholds);
  const intervals = [
    { afterMs: windowStartMs, untilMs: endMs },
    // Assets are counted per day: one statement over the whole baseline would hold the event loop.
    ...(count === "assets" ? [] : [{ afterMs: baselineStartMs, untilMs: windowStartMs }]),
    ...(baseline === "median" ? medianDays(nowMs, thresholds) : []),
  ];
  return { slug, intervals, count };
}

function evaluateDeaths(
  evaluation: LocalEvaluation,
  deaths: readonly AssetTypeDeaths[],
  firstEventAtMs: number | null,
): SpikeEvaluation {
  const { thresholds, baseline, count } = evaluation;
  const assetTypes = deaths.map((ofType) => countsOf(ofType, count));
  const days = baseline === "median" ? thresholds.baselineDays : 0;
  return evaluateWithTypes({
    ...evaluation,
    currentCount: sumOf(assetTypes.map(({ currentCount }) => currentCount)),
    baselineCount: sumOf(assetTypes.map(({ baselineCount }) => baselineCount)),
    dayCounts: Array.from({ length: days }, (_, day) => sumOf(assetTypes.map(({ dayCounts }) => dayCounts[day] ?? 0))),
    firstEventAtMs,
    assetTypes,
  });
}

type TypeCounts = AssetTypeCounts & { readonly dayCounts: readonly number[] };

function countsOf({ assetType, deaths }: AssetTypeDeaths, count: CountKind): TypeCounts {
  const [currentCount = 0, ...before] = deaths;
  if (count === "assets") return { assetType, currentCount, baselineCount: sumOf(before), dayCounts: before };
  const [baselineCount = 0, ...dayCounts] = before;
  return { assetType, currentCount, baselineCount, dayCounts };
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function orError<Result>(work: () => Result): Result | FlatlineError {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SpikeInputError)) return asFlatlineError(error);
    return new FlatlineError("api_bad_request", error.message, { cause: error, issues: [error.message] });
  }
}
