import { compareFractions, decimalFraction, multiplyFractions, type Fraction } from "./fraction.ts";
import { SpikeInputError } from "./spike-input-error.ts";
import type { SpikeThresholds } from "./thresholds.ts";

const hoursPerDay = 24;

/** The severities of an evaluation (CONTRACT 1). */
export type SpikeSeverity = "ok" | "warn" | "fail";

/** Deaths in the window and the baseline, safe integers ≥ 0. */
export interface SpikeCounts {
  readonly currentCount: number;
  readonly baselineCount: number;
}

/** Returns the exact deaths expected in the window: baselineCount × windowHours / (baselineDays × 24). */
export function expectedDeaths(
  baselineCount: number,
  thresholds: Pick<SpikeThresholds, "windowHours" | "baselineDays">,
): Fraction {
  return {
    numerator: BigInt(baselineCount) * BigInt(thresholds.windowHours),
    denominator: BigInt(thresholds.baselineDays) * BigInt(hoursPerDay),
  };
}

/** Returns the same as a double, as results show it. */
export function expectedDeathsNumber(
  baselineCount: number,
  thresholds: Pick<SpikeThresholds, "windowHours" | "baselineDays">,
): number {
  return (baselineCount * thresholds.windowHours) / (thresholds.baselineDays * hoursPerDay);
}

// Doubles are wrong by about 1e-16 of their value: only closer values need fractions, which are five times slower.
const doubtfulShare = 1e-12;

/** Applies the rule of CONTRACT 2, strict and exact. Tries fail first. Expects checked input. */
export function spikeSeverity(currentCount: number, expected: Fraction, thresholds: SpikeThresholds): SpikeSeverity {
  if (currentCount < thresholds.minSpikeCount) return "ok";
  const expectedCount = Number(expected.numerator) / Number(expected.denominator);
  const isAbove = (multiplier: number): boolean => {
    const limit = expectedCount * multiplier;
    if (Math.abs(currentCount - limit) > doubtfulShare * limit) return currentCount > limit;
    const current: Fraction = { numerator: BigInt(currentCount), denominator: 1n };
    return compareFractions(current, multiplyFractions(expected, decimalFraction(multiplier))) > 0;
  };
  if (isAbove(thresholds.failMultiplier)) return "fail";
  return isAbove(thresholds.warnMultiplier) ? "warn" : "ok";
}

/** @throws SpikeInputError when it is no safe integer ≥ 0 */
export function checkCount(field: string, count: number): void {
  if (Number.isSafeInteger(count) && count >= 0) return;
  throw new SpikeInputError(field, `${field} must be an integer of at least 0, got ${String(count)}`);
}
