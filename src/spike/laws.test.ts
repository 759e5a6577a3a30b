import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { HealthcheckResult } from "../contract/healthcheck.ts";
import { servedHealthcheckSchema } from "../contract/healthcheck-schemas.ts";
import { evaluateSpike, type SpikeInput, type SpikeThresholds } from "./spike.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const base: SpikeInput = { slug: "acme", nowMs, currentCount: 5119, baselineCount: 78 };

const count = fc.integer({ min: 0, max: 1_000_000 });
const multiplier = fc.oneof(
  fc.integer({ min: 1, max: 1000 }).map((tenths) => tenths / 10),
  fc.double({ min: Number.MIN_VALUE, max: Number.MAX_VALUE, noNaN: true }),
);
const thresholds: fc.Arbitrary<SpikeThresholds> = fc.record({
  windowHours: fc.integer({ min: 1, max: 1000 }),
  baselineDays: fc.integer({ min: 1, max: 400 }),
  warnMultiplier: multiplier,
  failMultiplier: multiplier,
  minSpikeCount: fc.integer({ min: 1, max: 100_000 }),
});

function severityOf(currentCount: number, baselineCount: number, given: Partial<SpikeThresholds>): string {
  return evaluateSpike({ ...base, currentCount, baselineCount, thresholds: given }).severity;
}

describe("evaluateSpike, laws", () => {
  it("agrees with integer arithmetic on multipliers of three decimals, fail before warn", () => {
    const thousandths = fc.integer({ min: 1, max: 99_999 });
    fc.assert(
      fc.property(count, count, thousandths, thousandths, thresholds, (current, baseline, warn, fail, given) => {
        const { windowHours, baselineDays, minSpikeCount } = given;
        const isAbove = (multiplier: number): boolean =>
          current >= minSpikeCount &&
          BigInt(current) * BigInt(baselineDays) * 24_000n >
            BigInt(baseline) * BigInt(windowHours) * BigInt(multiplier);

        expect(
          severityOf(current, baseline, { ...given, warnMultiplier: warn / 1_000, failMultiplier: fail / 1_000 }),
        ).toBe(isAbove(fail) ? "fail" : isAbove(warn) ? "warn" : "ok");
      }),
    );
  });

  it("gives a valid result of the API for any input", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: "binary" }),
        fc.maxSafeNat(),
        fc.maxSafeNat(),
        thresholds,
        (slug, currentCount, baselineCount, given) => {
          const result: HealthcheckResult = evaluateSpike({
            slug,
            nowMs,
            currentCount,
            baselineCount,
            thresholds: given,
          });

          expect(servedHealthcheckSchema.parse(JSON.parse(JSON.stringify(result)))).toMatchObject({
            ok: result.severity === "ok",
            observed: { currentCount, baselineCount },
          });
          expect(result.findings.length === 0).toBe(result.ok);
          expect(result.suggestedAction === null).toBe(result.ok);
        },
      ),
    );
  });
});
