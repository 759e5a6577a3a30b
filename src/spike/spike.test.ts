import { describe, expect, it } from "vitest";

import {
  completeThresholds,
  defaultThresholds,
  evaluateSpike,
  excessByAssetType,
  SpikeInputError,
  type SpikeInput,
  type SpikeThresholds,
} from "./spike.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const base: SpikeInput = { slug: "acme", nowMs, currentCount: 5119, baselineCount: 78 };

function severityOf(currentCount: number, baselineCount: number, given: Partial<SpikeThresholds>): string {
  return evaluateSpike({ ...base, currentCount, baselineCount, thresholds: given }).severity;
}

describe("evaluateSpike, rules", () => {
  const rules: readonly [string, number, number, Partial<SpikeThresholds>, string][] = [
    ["exactly expected × warnMultiplier is ok", 20, 70, {}, "ok"],
    ["one more is warn", 21, 70, {}, "warn"],
    ["exactly expected × failMultiplier is warn", 40, 70, {}, "warn"],
    ["one more is fail", 41, 70, {}, "fail"],
    ["minSpikeCount itself counts", 10, 0, {}, "fail"],
    ["below minSpikeCount is ok", 9, 0, {}, "ok"],
    ["nothing at all is ok", 0, 0, { minSpikeCount: 1 }, "ok"],
    ["1.1 is eleven tenths: 11 of 10 is not above, as it is in doubles", 11, 70, { warnMultiplier: 1.1 }, "ok"],
    ["small multipliers have exponents", 1, 70_000_000, { warnMultiplier: 1e-7, minSpikeCount: 1 }, "ok"],
    ["… and one more decides", 2, 70_000_000, { warnMultiplier: 1e-7, minSpikeCount: 1 }, "warn"],
    ["large multipliers have exponents", 1_000_000, 1, { warnMultiplier: 1e21, failMultiplier: 1e300 }, "ok"],
    ["thirds of a death are exact", 10, 35, { windowHours: 48, warnMultiplier: 1 }, "ok"],
    ["counts that doubles round are exact", 2 ** 53 - 1, 2 ** 53 - 2, { baselineDays: 1, warnMultiplier: 1 }, "warn"],
  ];

  it.each(rules)("%s", (_rule, currentCount, baselineCount, thresholds, severity) => {
    expect(severityOf(currentCount, baselineCount, thresholds)).toBe(severity);
  });

  it("answers all twelve fields", () => {
    const assetTypes = [
      { assetType: "DOMAIN", currentCount: 4000, baselineCount: 70 },
      { assetType: "URL", currentCount: 1100, baselineCount: 7 },
      { assetType: "IP", currentCount: 0, baselineCount: 1 },
      { assetType: null, currentCount: 19, baselineCount: 0 },
    ];

    const result = evaluateSpike({
      ...base,
      assetTypes,
      appUrl: "https://app.example.com/o/{slug}?from={slug}",
      slug: "a b$&/ü",
    });

    const finding = (kind: string, ref: string, message: string) => ({
      kind: `dead-asset-spike${kind}`,
      ref,
      severity: "fail",
      message,
    });
    expect(result).toEqual({
      id: "dead-asset-spike",
      title: "Spike in recently dead assets",
      category: "assets",
      generatedAt: "2026-01-15T12:00:00.000Z",
      scope: { slug: "a b$&/ü" },
      ok: false,
      severity: "fail",
      observed: { currentCount: 5119, baselineCount: 78, expectedCount: 78 / 7, ratio: 5119 / (78 / 7) },
      threshold: { ...defaultThresholds, warnAbove: (78 / 7) * 2, failAbove: (78 / 7) * 4 },
      findings: [
        finding("", "a b$&/ü", "5,119 deaths in 24 h, 11.1 expected (459×)"),
        finding(".asset-type", "DOMAIN", "4,000 deaths of type DOMAIN in 24 h, 10.0 expected (3,990 more than usual)"),
        finding(".asset-type", "URL", "1,100 deaths of type URL in 24 h, 1.0 expected (1,099 more than usual)"),
      ],
      suggestedAction: expect.stringMatching(/^[^.]+\.$/),
      appUrl: "https://app.example.com/o/a%20b%24%26%2F%C3%BC?from=a%20b%24%26%2F%C3%BC",
    });
  });

  it("has no ratio when nothing is expected, and says so", () => {
    const result = evaluateSpike({ ...base, baselineCount: 0 });

    expect(result.observed).toMatchObject({ expectedCount: 0, ratio: null });
    expect(result.threshold).toMatchObject({ warnAbove: 0, failAbove: 0 });
    expect(result.findings[0]?.message).toBe("5,119 deaths in 24 h, none expected");
  });

  it("takes absent and undefined thresholds by default, and answers them", () => {
    const result = evaluateSpike({ ...base, thresholds: { windowHours: 48, minSpikeCount: undefined } });

    expect(result.threshold).toMatchObject({ ...defaultThresholds, windowHours: 48 });
  });

  const wrong: [string, Partial<SpikeInput>, string][] = [
    ["an empty slug", { slug: "" }, "slug"],
    ["a fractional instant", { nowMs: 0.5 }, "nowMs"],
    ["an instant that no date has", { nowMs: 8.64e15 + 1 }, "nowMs"],
    ["a negative count", { currentCount: -1 }, "currentCount"],
    ["a fractional count", { baselineCount: 1.5 }, "baselineCount"],
    ["a count that is not safe", { currentCount: 2 ** 53 }, "currentCount"],
    ["NaN", { baselineCount: Number.NaN }, "baselineCount"],
    ["a window of 0 h", { thresholds: { windowHours: 0 } }, "windowHours"],
    ["a fractional baseline", { thresholds: { baselineDays: 1.5 } }, "baselineDays"],
    ["minSpikeCount 0", { thresholds: { minSpikeCount: 0 } }, "minSpikeCount"],
    ["a multiplier of 0", { thresholds: { warnMultiplier: 0 } }, "warnMultiplier"],
    ["an infinite multiplier", { thresholds: { failMultiplier: Number.POSITIVE_INFINITY } }, "failMultiplier"],
    [
      "a negative count of a type",
      { assetTypes: [{ assetType: "URL", currentCount: -1, baselineCount: 0 }] },
      "assetTypes.currentCount",
    ],
    [
      "a type that is named twice",
      {
        assetTypes: [
          { assetType: "URL", currentCount: 1, baselineCount: 0 },
          { assetType: "URL", currentCount: 2, baselineCount: 0 },
        ],
      },
      "assetTypes",
    ],
  ];
  it.each(wrong)("refuses %s", (_name, input, field) => {
    const evaluate = (): unknown => evaluateSpike({ ...base, ...input });

    expect(evaluate).toThrow(SpikeInputError);
    expect(evaluate).toThrow(RangeError);
    expect(evaluate).toThrow(expect.objectContaining({ field }));
  });

  it("refuses text where numbers are wanted", () => {
    expect(() => completeThresholds({ windowHours: "24" as unknown as number })).toThrow(SpikeInputError);
  });
});

describe("asset types", () => {
  it("names at most five, largest excess first, equal ones by name, whatever the order they come in", () => {
    const types = ["G", "F", "E", "D", "C", "B"].map((assetType) => ({
      assetType,
      currentCount: 100,
      baselineCount: 7,
    }));
    const counts = [...types, { assetType: "Z", currentCount: 500, baselineCount: 7 }];

    const refs = (given: typeof counts): string[] =>
      evaluateSpike({ ...base, assetTypes: given }).findings.map(({ ref }) => ref);

    expect(refs(counts)).toEqual(["acme", "Z", "B", "C", "D", "E"]);
    expect(refs(counts.toReversed())).toEqual(refs(counts));
  });

  it("leaves out types without an excess and events without a type", () => {
    const excess = excessByAssetType(
      [
        { assetType: "URL", currentCount: 1, baselineCount: 7 },
        { assetType: "IP", currentCount: 2, baselineCount: 7 },
        { assetType: null, currentCount: 50, baselineCount: 0 },
      ],
      defaultThresholds,
    );

    expect(excess).toEqual([{ assetType: "IP", currentCount: 2, baselineCount: 7, expectedCount: 1, excess: 1 }]);
  });
});
