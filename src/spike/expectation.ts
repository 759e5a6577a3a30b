import type { Fraction } from "./fraction.ts";
import { medianDeaths, type BaselineKind, type DayCounts } from "./median.ts";
import { SpikeInputError } from "./spike-input-error.ts";
import type { SpikeThresholds } from "./thresholds.ts";
import { checkCount, expectedDeaths, expectedDeathsNumber } from "./verdict.ts";

/** Deaths expected in the window, exact and as the double that results show. */
export interface Expectation {
  readonly exact: Fraction;
  readonly expectedCount: number;
}

export interface ExpectationInput {
  readonly baseline: BaselineKind;
  readonly thresholds: Pick<SpikeThresholds, "windowHours" | "baselineDays">;
  readonly baselineCount: number;
  /** Deaths in each of medianDays, in its order; only a median needs them. */
  readonly dayCounts?: DayCounts;
}

/**
 * Returns the deaths that the baseline expects (CONTRACT 2). Expects a checked baselineCount.
 * @throws SpikeInputError when a median lacks the count of a day, or one is no safe integer ≥ 0
 */
export function expectation(input: ExpectationInput): Expectation {
  const { baseline, thresholds, baselineCount, dayCounts = [] } = input;
  if (baseline === "mean") {
    const exact = expectedDeaths(baselineCount, thresholds);
    return { exact, expectedCount: expectedDeathsNumber(baselineCount, thresholds) };
  }
  if (dayCounts.length !== thresholds.baselineDays) {
    const message =
      `dayCounts must hold one count for each of the ${thresholds.baselineDays} days of the baseline, ` +
      `got ${dayCounts.length}`;
    throw new SpikeInputError("dayCounts", message);
  }
  for (const dayCount of dayCounts) if (dayCount !== null) checkCount("dayCounts", dayCount);
  const exact = medianDeaths(dayCounts);
  return { exact, expectedCount: Number(exact.numerator) / Number(exact.denominator) };
}
