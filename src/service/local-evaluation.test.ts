import { describe, expect, it } from "vitest";

import type { DeathsQuery } from "../contract/liveness-counts.ts";
import { evaluateLocally, type LocalEvaluation } from "./local-evaluation.ts";
import { evaluateRound } from "./local-evaluation.ts";

const thresholds = { windowHours: 24, baselineDays: 7, warnMultiplier: 2, failMultiplier: 4, minSpikeCount: 10 };
const nowMs = Date.parse("2026-05-06T12:00:00Z");

/** Deaths by the length of the slug, so that a mix-up shows. */
function counting() {
  let questions = 0;
  const deaths = async (queries: readonly DeathsQuery[]) => {
    questions++;
    return queries.map(({ slug, intervals }) => [
      { assetType: "URL", deaths: intervals.map((_, index) => slug.length * 10 + index) },
    ]);
  };
  return { counts: { deaths, firstEventAtMs: () => Promise.resolve(null) }, questions: () => questions };
}

function evaluation(slug: string, over: Partial<LocalEvaluation> = {}): LocalEvaluation {
  return { slug, thresholds, baseline: "mean", appUrl: null, nowMs, ...over };
}

describe("a round of local evaluations", () => {
  it("answers each as on its own, by one question", async () => {
    const all = [evaluation("a"), evaluation("bb", { baseline: "median" }), evaluation("ccc", { appUrl: "x/{slug}" })];
    const { counts, questions } = counting();

    const results = await evaluateRound(all, counts);

    expect(questions()).toBe(1);
    expect(results).toEqual(await Promise.all(all.map((one) => evaluateLocally(one, counts))));
  });

  it("has no answer for thresholds that mean nothing, and one for all others", async () => {
    const broken = evaluation("a", { thresholds: { ...thresholds, windowHours: -1 } });

    const results = await evaluateRound([broken, evaluation("bb")], counting().counts);

    expect(results.map((one) => one?.scope.slug)).toEqual([undefined, "bb"]);
  });

  it("fails when nothing can be counted", async () => {
    const counts = { ...counting().counts, deaths: () => Promise.reject(new Error("no disk")) };

    await expect(evaluateRound([evaluation("a")], counts)).rejects.toThrow("no disk");
  });
});
