import { FlatlineError } from "../base/errors.ts";
import type { CountsHold, DeathsQuery } from "../contract/liveness-counts.ts";
import type { SpikeResult } from "../spike/evaluate.ts";
import {
  evaluateDeaths,
  evaluationQuery,
  firstEventFor,
  withStretches,
  type EvaluationCounts,
  type LocalEvaluation,
} from "./local-evaluation.ts";

/** A result, and how long it stays the same but for its time; null: it may be another one at any time. */
export interface RoundResult {
  readonly result: SpikeResult;
  readonly hold: CountsHold | null;
}

/** Returns how long the counts of these queries hold, asked before the counts are; see EventSums. */
export type ReadHolds = (queries: readonly DeathsQuery[], nowMs: number) => readonly (CountsHold | null)[];

/**
 * Evaluates many organizations at one instant, in order, with one query for all counts and one for the first event of each
 * median. Returns null for one that cannot be evaluated; its own run reports the reason.
 * @throws the errors of `counts`
 */
export async function evaluateRound(
  asked: readonly LocalEvaluation[],
  counts: EvaluationCounts,
  readHolds: ReadHolds = () => [],
): Promise<(RoundResult | null)[]> {
  const evaluations = await withStretches(asked, counts);
  const queries = evaluations.map(
    (evaluation) => unlessRefused(() => evaluationQuery(evaluation)) ?? { slug: evaluation.slug, intervals: [] },
  );
  const holds = readHolds(queries, asked[0]?.nowMs ?? 0);
  const deaths = await counts.deaths(queries);
  const firstEvents: (number | null)[] = [];
  for (const evaluation of evaluations)
    firstEvents.push(evaluation.baseline === "mean" ? null : await firstEventFor(evaluation, counts));
  return evaluations.map((evaluation, index) => {
    if (queries[index]?.intervals.length === 0) return null;
    const result = unlessRefused(() => evaluateDeaths(evaluation, deaths[index] ?? [], firstEvents[index] ?? null));
    // The days of a median and the past incidents depend on the time itself.
    const dependsOnTime = evaluation.baseline === "median" || evaluation.stretches !== undefined;
    return result === null ? null : { result, hold: dependsOnTime ? null : (holds[index] ?? null) };
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
