import { FlatlineError } from "../base/errors.ts";
import type { SpikeResult } from "../spike/evaluate.ts";
import {
  evaluateDeaths,
  evaluationQuery,
  firstEventFor,
  withStretches,
  type EvaluationCounts,
  type LocalEvaluation,
} from "./local-evaluation.ts";

/**
 * Evaluates many organizations at one instant, in order, with one query for all counts and one for the first event of each
 * median. Returns null for one that cannot be evaluated; its own run reports the reason.
 * @throws the errors of `counts`
 */
export async function evaluateRound(
  asked: readonly LocalEvaluation[],
  counts: EvaluationCounts,
): Promise<(SpikeResult | null)[]> {
  const evaluations = await withStretches(asked, counts);
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
