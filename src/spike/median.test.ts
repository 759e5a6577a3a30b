import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  completeThresholds,
  countEvents,
  evaluateSpike,
  excessByAssetType,
  medianDays,
  spikeWindow,
  SpikeInputError,
} from "./spike.ts";
import { evaluateWithTypes } from "./evaluate.ts";

const hourMs = 3_600_000;
const nowMs = Date.UTC(2019, 9, 22, 18);
const event = fc.record({
  atMs: fc.integer({ min: nowMs - 12 * 24 * hourMs, max: nowMs + hourMs }),
  count: fc.nat(50),
  assetType: fc.constantFrom(null, "URL", "DOMAIN"),
});
describe("the days of a median", () => {
  const places: readonly [string, number, readonly number[]][] = [
    ["a whole day: each day ends where the one after it begins", 24, [24, 48]],
    ["a short window: the same hours of each day before", 6, [24, 30]],
    ["one hour more than a day: two days back, so that none overlaps the window", 25, [48, 73]],
  ];
  it.each(places)("%s", (_rule, windowHours, [untilHours = 0, afterHours = 0]) => {
    const [first, second] = medianDays(nowMs, { windowHours, baselineDays: 2 });

    expect(first).toEqual({ afterMs: nowMs - afterHours * hourMs, untilMs: nowMs - untilHours * hourMs });
    expect(second).toEqual({
      afterMs: nowMs - (afterHours + 24) * hourMs,
      untilMs: nowMs - (untilHours + 24) * hourMs,
    });
  });

  it("add up to baselineCount where the window is a day", () => {
    fc.assert(
      fc.property(fc.array(event), fc.integer({ min: 1, max: 9 }), (events, baselineDays) => {
        const thresholds = completeThresholds({ baselineDays });
        const counts = countEvents(events, spikeWindow(nowMs, thresholds), medianDays(nowMs, thresholds));

        expect(counts.dayCounts?.reduce((sum, count) => sum + count, 0)).toBe(counts.baselineCount);
      }),
    );
  });

  it("are refused beyond ten years of them", () => {
    expect(() => medianDays(nowMs, { windowHours: 24, baselineDays: 3_651 })).toThrow(SpikeInputError);
  });
});

describe("evaluateSpike by the median", () => {
  const base = { slug: "acme", nowMs, baseline: "median", baselineCount: 372 } as const;

  it("fails where the mean is misled by the incident before: riskhosts, 2019-10-22", () => {
    const given = { slug: "riskhosts", nowMs, currentCount: 30, baselineCount: 372 };
    const dayCounts = [0, 283, 0, 89, 0, 0, 0];

    expect(evaluateSpike(given)).toMatchObject({ severity: "ok", observed: { expectedCount: 372 / 7 } });
    const result = evaluateSpike({ ...given, baseline: "median", dayCounts });
    expect(result).toMatchObject({ severity: "fail", threshold: { warnAbove: 0, failAbove: 0 } });
    const days = { baselineDaysKnown: 7, day1: 0, day2: 283, day3: 0, day4: 89, day5: 0, day6: 0, day7: 0 };
    expect(result.observed).toEqual({ currentCount: 30, baselineCount: 372, expectedCount: 0, ratio: null, ...days });
    expect(result.findings[0]?.message).toBe(
      "30 deaths in 24 h, none expected (median of the 7 days before: 0, 283, 0, 89, 0, 0, 0)",
    );
  });

  it.each<[string, number[], number, object, string]>([
    ["exactly the median times the multiplier is ok", [9, 10, 90], 20, {}, "ok"],
    ["one more is warn", [9, 10, 90], 21, {}, "warn"],
    ["an even number of days: the mean of the middle two, a half exactly", [1, 10, 11, 90], 21, {}, "ok"],
    ["… and one more", [1, 10, 11, 90], 22, {}, "warn"],
    ["1.1 is eleven tenths: 11 of 10 is not above", [10], 11, { warnMultiplier: 1.1 }, "ok"],
    ["minSpikeCount holds as ever", [0], 9, {}, "ok"],
  ])("%s", (_rule, dayCounts, currentCount, given, severity) => {
    const thresholds = { ...given, baselineDays: dayCounts.length };

    for (const days of [dayCounts, dayCounts.toReversed()])
      expect(evaluateSpike({ ...base, thresholds, dayCounts: days, currentCount }).severity).toBe(severity);
  });

  it("names each type's excess over its own median", () => {
    const thresholds = { windowHours: 24, baselineDays: 3 };
    const types = [
      { assetType: "URL", currentCount: 20, baselineCount: 90, dayCounts: [0, 90, 0] },
      { assetType: "IP", currentCount: 20, baselineCount: 45, dayCounts: [15, 15, 15] },
    ];

    const [first, second] = excessByAssetType(types, thresholds, "median");

    expect(first).toMatchObject({ assetType: "URL", expectedCount: 0, excess: 20 });
    expect(second).toMatchObject({ assetType: "IP", expectedCount: 15, excess: 5 });
    expect(excessByAssetType(types, thresholds).map(({ assetType }) => assetType)).toEqual(["IP"]);
  });

  const dayMs = 24 * hourMs;
  const first: readonly [string, number | null, number, number][] = [
    ["no first event known: every day is in it", null, 4, 4],
    ["all days after the first event", nowMs - 5 * dayMs, 4, 4],
    ["a day that begins a millisecond before the first event is not", nowMs - 5 * dayMs + 1, 3, 2],
    ["the middle two of an even number that is left", nowMs - 3 * dayMs, 2, 1.5],
    ["none: nothing is expected", nowMs, 0, 0],
  ];
  it.each(first)("leaves out days before the first event: %s", (_rule, firstEventAtMs, known, expectedCount) => {
    const dayCounts = [1, 2, 90, 6];
    const types = [{ assetType: "URL", currentCount: 100, baselineCount: 99, dayCounts }];

    const {
      result: { observed },
      assetTypes,
    } = evaluateWithTypes({
      ...base,
      thresholds: { baselineDays: 4 },
      currentCount: 100,
      dayCounts,
      firstEventAtMs,
      assetTypes: types,
    });

    expect(observed).toMatchObject({ baselineDaysKnown: known, expectedCount });
    expect(Object.keys(observed).filter((key) => /^day\d/.test(key))).toHaveLength(known);
    expect(assetTypes).toMatchObject([{ assetType: "URL", excess: 100 - expectedCount }]);
  });

  it("says only the first two weeks of a long baseline", () => {
    const dayCounts = Array.from({ length: 30 }, (_, index) => index);

    const result = evaluateSpike({ ...base, thresholds: { baselineDays: 30 }, dayCounts, currentCount: 1_000 });

    expect(result.findings[0]?.message).toContain("median of the 30 days before: 0, 1, 2,");
    expect(result.findings[0]?.message).toMatch(/12, 13 and 16 more\)$/);
  });

  const wrong: readonly [string, number[] | undefined][] = [
    ["no days", undefined],
    ["a day too few", [1, 2, 3, 4, 5, 6]],
    ["a day too many", [1, 2, 3, 4, 5, 6, 7, 8]],
    ["a day below 0", [1, 2, 3, 4, 5, 6, -1]],
    ["half a death", [1, 2, 3, 4, 5, 6, 0.5]],
  ];
  it.each(wrong)("refuses %s", (_name, dayCounts) => {
    const run = (): unknown => evaluateSpike({ ...base, currentCount: 1, ...(dayCounts && { dayCounts }) });

    expect(run).toThrow(expect.objectContaining({ field: "dayCounts" }));
  });
});

describe("evaluateSpike where assets are counted", () => {
  const counted = {
    slug: "acme",
    nowMs,
    baseline: "median",
    count: "assets",
    baselineCount: 9,
    dayCounts: [8, 1, 0, 2, 3, 1, 1],
  } as const;

  it("says so, in observed and in the findings", () => {
    const assetTypes = [{ assetType: "URL", currentCount: 1, baselineCount: 0, dayCounts: [0, 0, 0, 0, 0, 0, 0] }];

    const result = evaluateSpike({ ...counted, currentCount: 12, assetTypes });

    expect(result.observed).toMatchObject({ counting: "assets", currentCount: 12, expectedCount: 1, day1: 8 });
    expect(result.findings.map(({ message }) => message)).toEqual([
      "12 dead assets in 24 h, 1.0 expected (12.0×; median of the 7 days before: 8, 1, 0, 2, 3, 1, 1)",
      "1 dead asset of type URL in 24 h, none expected (1.0 more than usual)",
    ]);
  });

  it("is the same verdict as of so many deaths", () => {
    const { observed, ...result } = evaluateSpike({ ...counted, currentCount: 9 });
    const { counting, ...counts } = observed;

    expect(counting).toBe("assets");
    expect({ ...result, observed: counts }).toEqual(evaluateSpike({ ...counted, count: "deaths", currentCount: 9 }));
  });

  it("refuses a mean, which is the API's rule", () => {
    const run = (): unknown => evaluateSpike({ ...counted, baseline: "mean", currentCount: 12 });

    expect(run).toThrow(expect.objectContaining({ field: "count" }));
  });
});
