import { describe, expect, it } from "vitest";

import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { FlatlineError } from "../base/errors.ts";
import { Secret } from "../base/secret.ts";
import { eventLoopTurn } from "../base/time.ts";
import { createTableCounts } from "./table-counts.ts";
import type { RawRow, SegmentQuery } from "./count-reader.ts";

/** Counts over a reader that answers when it is asked to, with one death for each slug. */
function reading() {
  const clock = createVirtualClock({ startMs: 0 });
  const asked: { readonly slugs: string[]; readonly answer: PromiseWithResolvers<void> }[] = [];
  const segmentDeaths = async (queries: readonly SegmentQuery[]): Promise<RawRow[]> => {
    const answer = Promise.withResolvers<void>();
    asked.push({ slugs: queries.map(({ slug }) => slug), answer });
    await answer.promise;
    return queries.map(({ slug }) => ({ slug, segment: 1, assetType: "URL", deaths: slug === "odd" ? "many" : 1 }));
  };
  const reader = { segmentDeaths, firstEvents: () => Promise.resolve([]), close: () => Promise.resolve() };
  const url = new Secret("postgres://nowhere");
  const events = { kind: "query", query: "" } as const;
  const source = { type: "postgres", url, events, timeUnit: "timestamp", timeoutMs: 1_000 } as const;
  const connect = () => Promise.resolve(reader);
  const counts = createTableCounts(source, { clock, connect, onRequest: () => undefined, mostOrganizations: 2 });
  const deathsOf = (...slugs: string[]) =>
    counts.deaths(slugs.map((slug) => ({ slug, intervals: [{ afterMs: 0, untilMs: 1 }] })));
  return { asked, counts, deathsOf };
}

const one = [{ assetType: "URL", deaths: [1] }];

describe("counts of a table", () => {
  it("are read by one query for a round, and by several beside each other for many organizations", async () => {
    const { asked, deathsOf } = reading();
    const all = deathsOf("a", "b", "c");
    await eventLoopTurn();

    for (const { answer } of asked) answer.resolve();

    expect(await all).toEqual([one, one, one]);
    expect(asked.map(({ slugs }) => slugs)).toEqual([["a", "b"], ["c"]]);
  });

  it("fail for the organization whose rows are wrong, and for all when the query fails, once", async () => {
    const { asked, deathsOf } = reading();
    const partly = deathsOf("a", "odd");
    const failed = deathsOf("c", "d");
    await eventLoopTurn();
    asked[0]?.answer.resolve();
    asked[1]?.answer.reject(new FlatlineError("api_network", "gone"));

    await expect(failed).rejects.toMatchObject({ code: "api_network" });
    expect(await partly).toMatchObject([one, { code: "api_invalid_response" }]);
    expect(asked).toHaveLength(2);
  });

  it("are not read for a caller who has left", async () => {
    const { asked, counts } = reading();
    const signal = AbortSignal.abort(new DOMException("late", "TimeoutError"));

    const late = counts.deaths([{ slug: "a", intervals: [{ afterMs: 0, untilMs: 1 }] }], { signal });

    await expect(late).rejects.toMatchObject({ code: "api_timeout" });
    expect(asked).toHaveLength(0);
  });
});
