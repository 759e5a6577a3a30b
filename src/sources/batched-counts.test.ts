import { describe, expect, it } from "vitest";

import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { FlatlineError } from "../base/errors.ts";
import { createBatchedCounts } from "./batched-counts.ts";
import type { RawRow, SegmentQuery } from "./count-reader.ts";

/** Counts over a reader that answers when it is asked to, with one death for each slug. */
function reading(mostOrganizations = 3) {
  const clock = createVirtualClock({ startMs: 0 });
  const asked: {
    readonly slugs: string[];
    readonly signal: AbortSignal;
    readonly answer: PromiseWithResolvers<void>;
  }[] = [];
  const segmentDeaths = async (queries: readonly SegmentQuery[], signal: AbortSignal): Promise<RawRow[]> => {
    const answer = Promise.withResolvers<void>();
    asked.push({ slugs: queries.map(({ slug }) => slug), signal, answer });
    await answer.promise;
    return queries.map(({ slug }) => ({ slug, segment: 1, assetType: "URL", deaths: slug === "odd" ? "many" : 1 }));
  };
  const reader = { segmentDeaths, firstEvents: null, close: () => Promise.resolve() };
  const counts = createBatchedCounts({ reader, clock, timeoutMs: 1_000, mostOrganizations });
  const deathsOf = (slug: string, signal?: AbortSignal): Promise<unknown> =>
    counts.deaths([{ slug, intervals: [{ afterMs: 0, untilMs: 1 }] }], signal === undefined ? {} : { signal });
  return { clock, asked, deathsOf };
}

const one = [[{ assetType: "URL", deaths: [1] }]];

describe("counts of a table", () => {
  it("are read by one query for all who ask within the wait, and by another one beside it for who asks later", async () => {
    const { clock, asked, deathsOf } = reading();
    const first = [deathsOf("a"), deathsOf("b")];

    await clock.advance(20);
    const late = deathsOf("c");
    await clock.advance(20);
    for (const { answer } of asked) answer.resolve();

    expect(await Promise.all([...first, late])).toEqual([one, one, one]);
    expect(asked.map(({ slugs }) => slugs)).toEqual([["a", "b"], ["c"]]);
  });

  it("are read by several queries of many organizations", async () => {
    const { clock, asked, deathsOf } = reading(2);
    const all = ["a", "b", "c"].map((slug) => deathsOf(slug));

    await clock.advance(40);
    for (const { answer } of asked) answer.resolve();
    await Promise.all(all);

    expect(asked.map(({ slugs }) => slugs)).toEqual([["a", "b"], ["c"]]);
  });

  it("fail for the one organization whose rows are wrong, and for all when the query fails, which is not repeated", async () => {
    const { clock, asked, deathsOf } = reading();
    const partly = Promise.allSettled([deathsOf("a"), deathsOf("odd")]);
    await clock.advance(20);
    asked[0]?.answer.resolve();
    const failed = Promise.allSettled([deathsOf("c"), deathsOf("d")]);
    await clock.advance(20);
    asked[1]?.answer.reject(new FlatlineError("api_network", "gone"));

    expect(await partly).toMatchObject([{ value: one }, { reason: { code: "api_invalid_response" } }]);
    expect(await failed).toMatchObject([{ reason: { code: "api_network" } }, { reason: { code: "api_network" } }]);
    expect(asked.map(({ slugs }) => slugs)).toEqual([
      ["a", "odd"],
      ["c", "d"],
    ]);
  });

  it("are given up when all who asked have left, and not read when they had left before", async () => {
    const { clock, asked, deathsOf } = reading();
    const [first, last, early] = [new AbortController(), new AbortController(), new AbortController()];
    const leaving = [deathsOf("a", first.signal), deathsOf("b", last.signal)];
    await clock.advance(20);
    first.abort();
    const isGivenUp = [asked[0]?.signal.aborted];
    last.abort();
    isGivenUp.push(asked[0]?.signal.aborted);
    asked[0]?.answer.resolve();
    await Promise.all(leaving);

    early.abort(new DOMException("late", "TimeoutError"));
    const [late] = await Promise.allSettled([deathsOf("c", early.signal), clock.advance(20)]);

    expect(isGivenUp).toEqual([false, true]);
    expect(late).toMatchObject({ reason: { code: "api_timeout" } });
    expect(asked).toHaveLength(1);
  });
});
