import type { LivenessCounts } from "../contract/liveness-counts.ts";
import { FlatlineError } from "../base/errors.ts";
import type { SpikeResult } from "../spike/evaluate.ts";
import { evaluateDeaths, evaluationIntervals, type LocalEvaluation } from "./local-evaluation.ts";

/**
 * Evaluates many organizations at one instant, in order, with one query for all counts and no further waiting. Returns null
 * for one that cannot be evaluated; its own run reports the reason.
 * @throws the errors of `counts`
 */
export async function evaluateRound(
  evaluations: readonly LocalEvaluation[],
  counts: Pick<LivenessCounts, "deaths">,
): Promise<(SpikeResult | null)[]> {
  const queries = evaluations.map((evaluation) => ({
    slug: evaluation.slug,
    intervals: unlessRefused(() => evaluationIntervals(evaluation)) ?? [],
  }));
  const deaths = await counts.deaths(queries);
  return evaluations.map((evaluation, index) =>
    queries[index]?.intervals.length === 0
      ? null
      : unlessRefused(() => evaluateDeaths(evaluation, deaths[index] ?? [])),
  );
}

function unlessRefused<Result>(work: () => Result): Result | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof FlatlineError && error.code === "api_bad_request") return null;
    throw error;
  }
}
