import { describe, expect, it } from "vitest";

import type { DeathsQuery } from "../contract/liveness-counts.ts";
import { FlatlineError } from "../base/errors.ts";
import { apiRule } from "../spike/evaluate.ts";
import { evaluateLocally, evaluateRound, type LocalEvaluation } from "./local-evaluation.ts";

const thresholds = { windowHours: 24, baselineDays: 7, warnMultiplier: 2, failMultiplier: 4, minSpikeCount: 10 };
const nowMs = Date.parse("2026-05-06T12:00:00Z");

/** Counts the length of the slug, so that a mix-up shows. */
function counting() {
  let questions = 0;
  const deaths = async (queries: readonly DeathsQuery[]) => {
    questions++;
    return queries.map(({ slug, intervals }) => [
      { assetType: "URL", deaths: intervals.map((_, index) => slug.length * 10 + index) },
    ]);
  };
  return { counts: { deaths, firstEvents: () => Promise.resolve(new Map()) }, questions: () => questions };
}

function evaluation(slug: string, over: Partial<LocalEvaluation> = {}): LocalEvaluation {
  return { ...apiRule, slug, thresholds, appUrl: null, nowMs, ...over };
}

describe("a round of local evaluations", () => {
  it("answers each as on its own, by one question", async () => {
    const all = [evaluation("a"), evaluation("bb", { baseline: "median" }), evaluation("ccc", { appUrl: "x/{slug}" })];
    const { counts, questions } = counting();

    const results = await evaluateRound(all, counts);

    expect(questions()).toBe(1);
    expect(results).toEqual(await Promise.all(all.map((one) => evaluateLocally(one, counts))));
  });

  it("has an error for thresholds that mean nothing and for counts that are wrong, a result for others", async () => {
    const broken = evaluation("a", { thresholds: { ...thresholds, windowHours: -1 } });

    const { counts } = counting();
    const wrong = new FlatlineError("api_invalid_response", "a wrong row");
    const deaths = async (queries: readonly DeathsQuery[]) =>
      (await counts.deaths(queries)).map((answer, index) => (queries[index]?.slug === "c" ? wrong : answer));

    const results = await evaluateRound([broken, evaluation("bb"), evaluation("c")], { ...counts, deaths });

    expect(results).toMatchObject([{ code: "api_bad_request" }, { result: { scope: { slug: "bb" } } }, wrong]);
  });

  it("fails when nothing can be counted", async () => {
    const counts = { ...counting().counts, deaths: () => Promise.reject(new Error("no disk")) };

    await expect(evaluateRound([evaluation("a")], counts)).rejects.toThrow("no disk");
  });
});
