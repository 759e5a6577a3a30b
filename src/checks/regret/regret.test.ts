import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { dayMs, hourMs } from "../../base/time.ts";
import { isSameType, noType, type AssetLook } from "../../contract/assets.ts";
import { servedHealthcheckSchema } from "../../contract/healthcheck-schemas.ts";
import { DeathJudge, evaluateRegret, type RegretShares } from "./regret.ts";
import type { RegretLimits } from "./regret.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const ask = { nowMs, windowMs: dayMs, maturityMs: 2 * dayMs };
const startMs = nowMs - 9 * dayMs;
const dead = (asset: string, daysAgo: number, count = 1): AssetLook => ({
  typeId: 1,
  asset,
  atMs: nowMs - daysAgo * dayMs,
  isDeath: true,
  count,
});
const alive = (asset: string, daysAgo: number): AssetLook => ({ ...dead(asset, daysAgo), isDeath: false });

function sharesOf(looks: readonly AssetLook[], firstEventAtMs: number | null = 0): RegretShares {
  const judge = new DeathJudge(ask);
  const inOrder = looks.filter(({ atMs }) => atMs > startMs).toSorted((left, right) => left.atMs - right.atMs);
  for (const look of inOrder) judge.add(look);
  return judge.shares(firstEventAtMs);
}

describe("the shares of undone deaths", () => {
  it("are of all deaths, and null without any or while the events do not reach back to the longer stretch", () => {
    const looks = [dead("a", 2.5), alive("a", 1)];

    expect(sharesOf(looks, startMs)).toMatchObject({ share: 1, longShare: 1 });
    expect(sharesOf(looks, startMs + 1)).toMatchObject({ share: null, longShare: null });
    expect(sharesOf(looks, null)).toMatchObject({ deaths: 1, share: null });
    expect(sharesOf([])).toMatchObject({ share: null, longShare: null });
    const some = [dead("a", 2.5, 3), dead("b", 2.5), dead("c", 5), alive("a", 1)];
    expect(sharesOf(some)).toMatchObject({ deaths: 4, share: 0.75, longDeaths: 5, longShare: 0.6 });
  });

  it("are what a look at each death finds, in any order of one instant", () => {
    const look = fc.record({
      typeId: fc.constantFrom(noType, 1, 2),
      asset: fc.constantFrom("a", "b"),
      atMs: fc.integer({ min: 0, max: 240 }).map((hour) => nowMs - hour * hourMs),
      isDeath: fc.boolean(),
      count: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(look, { maxLength: 40 }), (looks) => {
        const within = (afterDays: number): readonly AssetLook[] =>
          looks.filter(({ isDeath, atMs }) => isDeath && atMs > nowMs - afterDays * dayMs && atMs <= nowMs - 2 * dayMs);
        const isUndone = (death: AssetLook): boolean => {
          const later = looks.filter(
            ({ isDeath, typeId, asset, atMs }) =>
              !isDeath && isSameType(typeId, death.typeId) && asset === death.asset && atMs > death.atMs,
          );
          return later.length > 0 && Math.min(...later.map(({ atMs }) => atMs)) >= death.atMs + 6 * hourMs;
        };
        const sum = (some: readonly AssetLook[]): number => some.reduce((all, { count }) => all + count, 0);

        const expected = {
          deaths: sum(within(3)),
          revived: sum(within(3).filter(isUndone)),
          longDeaths: sum(within(9)),
          longRevived: sum(within(9).filter(isUndone)),
        };
        expect(sharesOf(looks)).toMatchObject(expected);
        expect(sharesOf(looks.toReversed())).toMatchObject(expected);
      }),
    );
  });
});

describe("regret", () => {
  const limits: RegretLimits = {
    warnAbove: 0.45,
    failAbove: 0.65,
    minDeaths: 20,
    windowMs: dayMs,
    maturityMs: 2 * dayMs,
  };
  const usual = { maturityMs: 2 * dayMs, deaths: 10, revived: 5, longDeaths: 100, longRevived: 50 };
  it.each<[gives: string, rule: string, share: number | null, longShare: number | null, over?: object]>([
    ["ok", "few undone", 0.1, 0.1],
    ["ok", "exactly the line", 0.45, 0.45],
    ["warn", "more than the line", 0.46, 0.5],
    ["ok", "much undone of the last window only: the smaller share decides", 1, 0.1],
    ["ok", "much undone of a week that is over only", 0.1, 1],
    ["warn", "exactly the upper line", 0.65, 0.65],
    ["fail", "more than the upper line", 0.7, 0.66],
    ["ok", "fewer deaths than minDeaths", 1, 1, { longDeaths: 19 }],
    ["fail", "as many as minDeaths", 1, 1, { longDeaths: 20 }],
    ["ok", "no death in the last window", null, 1],
    ["ok", "events that do not reach back", null, null],
  ])("is %s with %s", (gives, _rule, share, longShare, over = {}) => {
    const shares: RegretShares = { ...usual, ...over, share, longShare };

    const result = evaluateRegret({ slug: "acme", nowMs, limits, shares, appUrl: null });

    expect(result.severity).toBe(gives);
    expect(result.findings.map(({ kind }) => kind)).toEqual(gives === "ok" ? [] : ["regret"]);
    expect(result.observed).toMatchObject({ share, longShare, maturitySeconds: 172_800 });
    expect(servedHealthcheckSchema.parse(result)).toEqual(result);
  });

  it("says how many, of which days", () => {
    const shares: RegretShares = { ...usual, share: 0.5, longShare: 0.5 };

    const { findings } = evaluateRegret({ slug: "acme", nowMs, limits, shares, appUrl: null });

    expect(findings[0]?.message).toBe(
      "50 of 100 deaths (50 %) of the 7d before 2026-01-13T12:00:00.000Z were found alive since, " +
        "and 5 of 10 of the last 24h of them",
    );
  });
});
