import fc from "fast-check";
import { noEvidence } from "../contract/spike-evidence.ts";
import { describe, expect, it } from "vitest";

import type { HealthcheckResult } from "../contract/healthcheck.ts";
import { carrierText, risesOf, type Carrier, type ValueCounts } from "./attribution.ts";
import { withEvidence, type SpikeFacts } from "./enrichment.ts";
import { likelyCause, type CauseEvidence } from "./likely-cause.ts";
import { attributionSlices, quietSlices, unjudgedSlices, type QuietAsk } from "./quiet-days.ts";
import { onsetAtMs, type DeathBucket } from "./onset.ts";
import { differenceBounds, wilsonBounds } from "./attribution.ts";
import { RegretCounter, type Regret } from "./regret.ts";
import { isSameType, noType, type AssetLook } from "../contract/assets.ts";

const value = (name: string, currentCount: number, baselineCount: number): ValueCounts => ({
  attribute: "reason",
  value: name,
  currentCount,
  baselineCount,
});

const refuted = {
  asked: 20,
  alive: 14,
  gone: 5,
  verdict: "refuted",
  controls: { alive: { asked: 20, alive: 19 }, dead: { asked: 20, alive: 1 } },
} as const;

describe("the bounds of a share", () => {
  it.each([
    ["of nothing are everything", 0, 0, 0, 1],
    // Wilson's interval by hand, z² = 6.635: (0 + 3.317 ± 3.317) / 16.635.
    ["of none of ten begin at zero", 0, 10, 0, 0.3988],
    ["of all of ten end at one", 10, 10, 0.6012, 1],
    ["of half lie around it", 50, 100, 0.3755, 0.6245],
  ])("%s", (_, count, total, lower, upper) => {
    const bounds = wilsonBounds(count, total);

    expect(bounds.lower).toBeCloseTo(lower, 3);
    expect(bounds.upper).toBeCloseTo(upper, 3);
  });

  it("of a difference hold those of Newcombe's first example, which are for 95 %, and little more", () => {
    // 56/70 − 48/80 = 0.2, from 0.0524 to 0.3339 (table II, method 10).
    const { lower, upper } = differenceBounds({ count: 56, total: 70 }, { count: 48, total: 80 });

    expect(lower).toBeLessThan(0.0524);
    expect(lower).toBeGreaterThan(0);
    expect(upper).toBeGreaterThan(0.3339);
    expect(upper).toBeLessThan(0.4);
  });
});

describe("what carries a spike", () => {
  it("is ranked by what is sure of its rise, not by counts", () => {
    const { carriers } = risesOf([value("dns", 400, 5_000), value("tls", 300, 40), value("rare", 3, 0)], {
      currentCount: 800,
      baselineCount: 8_000,
    });

    expect(carriers.map((carrier) => carrier.value)).toEqual(["tls"]);
    expect(carriers[0]).toMatchObject({ share: 0.375, baselineShare: 0.005 });
    expect(carriers[0]?.liftLower).toBeGreaterThan(0.3);
    expect(carriers[0]?.liftUpper).toBeLessThan(0.45);
  });

  it.each<[string, readonly ValueCounts[], { currentCount: number; baselineCount: number }]>([
    ["few deaths", [value("tls", 3, 0)], { currentCount: 4, baselineCount: 4 }],
    ["as usual", [value("tls", 90, 900)], { currentCount: 100, baselineCount: 1_000 }],
    [
      "a sure difference that is too small to matter",
      [value("tls", 52_000, 500_000)],
      { currentCount: 1e5, baselineCount: 1e6 },
    ],
    ["a value that has become rarer", [value("tls", 1, 900)], { currentCount: 100, baselineCount: 1_000 }],
    ["no deaths at all", [], { currentCount: 0, baselineCount: 0 }],
  ])("is nothing with %s", (_, values, totals) => {
    expect(risesOf(values, totals).carriers).toEqual([]);
  });

  it("is told with nothing to compare where there was no death before", () => {
    const { carriers } = risesOf([value("tls", 30, 0)], { currentCount: 30, baselineCount: 0 });
    const [carrier] = carriers;

    expect(carrier === undefined ? null : carrierText(carrier)).toBe("100 % reason=tls, nothing to compare with");
  });

  it("is found among noise, whatever else the events say, in any order", () => {
    const noise = fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 2, maxLength: 30 });
    fc.assert(
      fc.property(
        noise,
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 60, max: 100 }),
        (weights, days, planted) => {
          const usual = weights.map((weight, index) => value(`noise-${index}`, weight, weight * days));
          const all = weights.reduce((sum, weight) => sum + weight, 0);
          // More deaths than usual are added, all with one reason that occurred before, now and then.
          const spike = value("planted", planted + all, days);
          const totals = { currentCount: planted + 2 * all, baselineCount: all * days + days };

          const { carriers } = risesOf([...usual, spike], totals);

          // If there is hardly any noise, the planted value is the usual one.
          fc.pre(totals.baselineCount >= 20 && all > 1);
          expect(carriers[0]?.value).toBe("planted");
          expect(risesOf([spike, ...usual.toReversed()], totals).carriers).toEqual(carriers);
          for (const { liftLower, liftUpper, share, baselineShare } of carriers) {
            expect(liftLower).toBeLessThanOrEqual(share - (baselineShare ?? 0));
            expect(liftUpper).toBeGreaterThanOrEqual(share - (baselineShare ?? 0));
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe("the likely cause", () => {
  const carrier: Carrier = {
    attribute: "reason",
    value: "tls",
    share: 0.87,
    baselineShare: 0.04,
    liftLower: 0.6,
    liftUpper: 0.9,
  };
  const none: CauseEvidence = {
    carriers: [],
    largestRise: 0.1,
    baselineCount: 100,
    attributedShare: 0,
    opinion: null,
    judgedCount: 0,
    revivedCount: 0,
  };

  const ofType: Carrier = { ...carrier, attribute: "assetType", value: "URL" };
  it.each<[string, Partial<CauseEvidence>, string, RegExp | null]>([
    [
      "a second opinion that most are alive, before what the deaths share",
      { opinion: refuted, carriers: [carrier] },
      "checker",
      /14 of 20 still answer/,
    ],
    [
      "a second opinion that most are gone, before revivals",
      { opinion: { ...refuted, verdict: "confirmed", gone: 17 }, judgedCount: 100, revivedCount: 90 },
      "assets",
      /17 of 20 are gone; of 20 known to be alive 19 answer, of 20 long dead 1 answer/,
    ],
    [
      "what the deaths share, where a second opinion decides nothing",
      { opinion: { ...refuted, verdict: "undecided" }, carriers: [carrier], attributedShare: 1 },
      "checker",
      /one value: 87 % reason=tls/,
    ],
    ["half of the deaths undone", { judgedCount: 20, revivedCount: 10 }, "checker", /10 of 20 dead assets \(50 %\)/],
    ["fewer than half", { judgedCount: 21, revivedCount: 10 }, "unclear", null],
    ["two undone", { judgedCount: 2, revivedCount: 2 }, "unclear", null],
    ["one value", { carriers: [carrier], attributedShare: 1 }, "checker", /one value: 87 % reason=tls, usually 4 %/],
    ["one value beside one asset type", { carriers: [ofType, carrier], attributedShare: 1 }, "checker", /reason=tls/],
    [
      "one asset type alone",
      { carriers: [ofType], attributedShare: 1 },
      "unclear",
      /concentrated in one asset type: 87 %/,
    ],
    ["attributes as usual", { attributedShare: 1 }, "assets", /spread over the attributes much as usual\.$/],
    ["attributes that may have risen", { attributedShare: 1, largestRise: 0.35 }, "unclear", null],
    [
      "attributes as usual, one undone",
      { attributedShare: 1, judgedCount: 20, revivedCount: 1 },
      "assets",
      /and 1 of 20 were/,
    ],
    ["nothing known", { baselineCount: null, largestRise: null }, "unclear", null],
    ["attributes of few deaths", { attributedShare: 0.4 }, "unclear", null],
    [
      "nine deaths before",
      { attributedShare: 1, baselineCount: 9, carriers: [carrier] },
      "unclear",
      /Fewer than 10 deaths/,
    ],
    ["ten deaths before", { attributedShare: 1, baselineCount: 10, carriers: [carrier] }, "checker", /one value/],
    [
      "a value of the smaller part",
      { carriers: [{ ...carrier, share: 0.4 }], attributedShare: 1, largestRise: 0.5 },
      "unclear",
      /One value/,
    ],
  ])("of %s", (_, evidence, cause, reason) => {
    const expected = { cause, reason: reason === null ? null : expect.stringMatching(reason) };

    expect(likelyCause({ ...none, ...evidence })).toEqual(expected);
  });
});

describe("the quiet days", () => {
  const startMs = Date.UTC(2026, 0, 14, 12);
  const dayMs = 86_400_000;
  const quietOf = (deaths: readonly number[], over: Partial<QuietAsk> = {}): number[] => {
    const slices = attributionSlices(startMs, deaths.length);
    const ask: QuietAsk = { thresholds: { warnMultiplier: 2, minSpikeCount: 10 }, firstEventAtMs: 0, ...over };
    return quietSlices(slices, deaths, ask).map((slice) => slices.indexOf(slice));
  };

  it.each<[string, number, number, readonly number[]]>([
    ["that ended before the slice's first instant", -4 * dayMs, -2 * dayMs + 1, [0, 1]],
    ["that holds the slice's first instant", -4 * dayMs, -2 * dayMs + 2, [0]],
    ["that begins with the slice's last instant", -dayMs, -1, [2]],
    ["that begins after it", 1 - dayMs, -1, [1, 2]],
  ])("leave out the slices of a judged stretch %s", (_rule, from, to, expected) => {
    const slices = attributionSlices(startMs, 3);
    const stretch = { fromMs: startMs + from, toMs: startMs + to };

    expect(unjudgedSlices(slices, [stretch]).map((slice) => slices.indexOf(slice))).toEqual(expected);
  });

  it.each<[string, readonly number[], Partial<QuietAsk>, readonly number[]]>([
    ["all that are alike", [5, 6, 7], {}, [0, 1, 2]],
    ["without the one of an incident", [5, 400, 7, 6, 5], {}, [0, 2, 3, 4]],
    ["with exactly the multiple of the median", [20, 10, 10], {}, [0, 1, 2]],
    ["without one more", [21, 10, 10], {}, [1, 2]],
    ["with fewer deaths than minSpikeCount, however many times the median", [9, 0, 0], {}, [0, 1, 2]],
    ["1.1 is eleven tenths", [11, 10, 10], { thresholds: { warnMultiplier: 1.1, minSpikeCount: 1 } }, [0, 1, 2]],
    ["from the day of the first event on", [30, 30, 0, 0], { firstEventAtMs: startMs - 1.5 * dayMs }, [0, 1]],
    ["none without an event", [0], { firstEventAtMs: null }, []],
  ])("are %s", (_rule, deaths, over, expected) => {
    expect(quietOf(deaths, over)).toEqual(expected);
  });
});

describe("false deaths", () => {
  function regretOf(events: readonly AssetLook[]): Regret {
    const counter = new RegretCounter(Number.POSITIVE_INFINITY);
    for (const event of events.toSorted((left, right) => left.atMs - right.atMs)) counter.add(event);
    return counter.regret;
  }

  const event = fc.record({
    typeId: fc.constantFrom(noType, 1, 2),
    asset: fc.constantFrom("a", "b"),
    atMs: fc.integer({ min: 0, max: 12 }),
    isDeath: fc.boolean(),
    count: fc.integer({ min: 1, max: 5 }),
  });

  it("are as many as a look at each death finds, never more than deaths, in any order, however rows are split", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), fc.nat(), (events, seed) => {
        const deaths = events.filter(({ isDeath }) => isDeath);
        const isFalse = (death: AssetLook): boolean =>
          events.some(
            ({ isDeath, typeId, asset, atMs }) =>
              !isDeath && isSameType(typeId, death.typeId) && asset === death.asset && atMs > death.atMs,
          );
        const sum = (some: readonly AssetLook[]): number => some.reduce((all, { count }) => all + count, 0);
        const rotated = [...events.slice(seed % (events.length + 1)), ...events.slice(0, seed % (events.length + 1))];
        const split = events.flatMap((one) => Array.from({ length: one.count }, () => ({ ...one, count: 1 })));

        const regret = regretOf(events);

        expect(regret).toEqual({ judgedCount: sum(deaths), revivedCount: sum(deaths.filter(isFalse)) });
        expect(regret.revivedCount).toBeLessThanOrEqual(regret.judgedCount);
        expect(regretOf(rotated)).toEqual(regret);
        expect(regretOf(split)).toEqual(regret);
      }),
    );
  });
});

describe("the onset", () => {
  const minuteMs = 60_000;
  const windowMs = 1_440 * minuteMs;
  const at = (minute: number, deaths: number): DeathBucket => ({ atMs: minute * minuteMs, deaths });

  it.each<[string, readonly DeathBucket[], number, number | null]>([
    ["of a burst is its first bucket", [at(900, 20), at(901, 30)], 2, 900],
    ["is not a usual burst long before", [at(10, 5), at(900, 200), at(901, 300)], 5, 900],
    ["is the earlier burst of two that belong together", [at(880, 100), at(901, 300)], 5, 880],
    ["of a burst that is over is where it began", [at(300, 200), at(1_200, 2)], 5, 300],
    ["with nothing expected is the first death", [at(100, 12)], 0, 100],
    ["is unknown without an excess", [at(100, 5)], 5, null],
    ["is unknown without deaths", [], 5, null],
  ])("%s", (_, buckets, expectedCount, minute) => {
    expect(onsetAtMs({ buckets, windowMs, expectedCount })).toBe(minute === null ? null : minute * minuteMs);
  });
});

describe("a result with evidence", () => {
  const result: HealthcheckResult = {
    id: "dead-asset-spike",
    title: "Spike in recently dead assets",
    category: "assets",
    generatedAt: "2026-01-15T12:00:00.000Z",
    scope: { slug: "acme" },
    ok: false,
    severity: "warn",
    observed: { currentCount: 100 },
    threshold: {},
    findings: [{ kind: "dead-asset-spike", ref: "acme", severity: "warn", message: "100 deaths" }],
    suggestedAction: null,
    appUrl: null,
  };
  const none: SpikeFacts = {
    counts: null,
    regret: null,
    onsetAtMs: null,
    marker: null,
    opinion: null,
    excess: null,
  };

  it("has no key for what is not known", () => {
    expect(withEvidence({ result }, none)).toEqual({
      result: { ...result, observed: { currentCount: 100, likelyCause: "unclear", likelyCauseReason: null } },
      evidence: { ...noEvidence, cause: "unclear" },
    });
  });

  it("names at most five values, as severe as itself", () => {
    const values = Array.from({ length: 8 }, (_, index) => ({ ...value("x", 100, 0), attribute: `a${index}` }));
    const counts = { currentCount: 100, baselineCount: 700, attributedCount: 100, values };

    const found = withEvidence({ result }, { ...none, counts });

    expect(found.evidence).toMatchObject({
      carriers: [0, 1, 2, 3, 4].map((index) => ({ key: `a${index}`, value: "x", share: 1, usualShare: 0 })),
      sharedValue: "a0=x",
    });
    expect(found.result.findings.slice(1)).toEqual(
      values.slice(0, 5).map(({ attribute }) => ({
        kind: "dead-asset-spike.attribute",
        ref: `${attribute}=x`,
        severity: "warn",
        message: `100 % ${attribute}=x, usually 0 %`,
      })),
    );
  });
});
