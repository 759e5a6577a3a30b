import { describe, expect, it } from "vitest";

import { eventLoopTurn } from "../base/time.ts";
import type { DeathsQuery } from "../contract/liveness-counts.ts";
import { gatherDeaths } from "./gathered-deaths.ts";

/** Answers each query with its slug, and notes what was asked at once. */
function counting(fails: (slugs: readonly string[]) => boolean = () => false) {
  const asked: string[][] = [];
  const deaths = async (queries: readonly DeathsQuery[]) => {
    const slugs = queries.map(({ slug }) => slug);
    asked.push(slugs);
    if (fails(slugs)) throw new Error(`cannot count ${slugs.join()}`);
    return slugs.map((slug) => [{ assetType: slug, deaths: [1] }]);
  };
  return { asked, counts: { deaths }, gathered: gatherDeaths({ deaths }) };
}

const query = (slug: string): DeathsQuery => ({ slug, intervals: [{ afterMs: 0, untilMs: 1 }] });
const answer = (slug: string) => [{ assetType: slug, deaths: [1] }];

describe("gathered counts of deaths", () => {
  it("are asked for once by all of a turn, and each gets its own", async () => {
    const { asked, gathered } = counting();

    const answers = await Promise.all([
      gathered.deaths([query("a")]),
      gathered.deaths([query("b"), query("c")]),
      gathered.deaths([]),
      gathered.deaths([query("d")]),
    ]);

    expect(asked).toEqual([["a", "b", "c", "d"]]);
    expect(answers).toEqual([[answer("a")], [answer("b"), answer("c")], [], [answer("d")]]);
  });

  it("wait for who asks before the turn ends", async () => {
    const { asked, counts } = counting();
    const gathered = gatherDeaths(counts, eventLoopTurn);

    const first = gathered.deaths([query("a")]);
    await Promise.resolve();
    await Promise.all([first, gathered.deaths([query("b")])]);
    await gathered.deaths([query("c")]);

    expect(asked).toEqual([["a", "b"], ["c"]]);
  });

  it("are asked for anew by who comes later", async () => {
    const { asked, gathered } = counting();

    await gathered.deaths([query("a")]);
    await gathered.deaths([query("a")]);

    expect(asked).toEqual([["a"], ["a"]]);
  });

  it("fail for the one that fails", async () => {
    const { gathered } = counting((slugs) => slugs.includes("b"));

    const ended = await Promise.allSettled([gathered.deaths([query("a")]), gathered.deaths([query("b")])]);

    expect(ended).toEqual([
      { status: "fulfilled", value: [answer("a")] },
      { status: "rejected", reason: new Error("cannot count b") },
    ]);
  });
});
