import { SpikeInputError } from "./spike-input-error.ts";

/** The five thresholds of the dead asset spike healthcheck, with the API's names (CONTRACT 2). */
export interface SpikeThresholds {
  /** Length of the window, hours, integer > 0. */
  readonly windowHours: number;
  /** Length of the baseline before the window, days, integer > 0. */
  readonly baselineDays: number;
  /** warn above expectedCount × this, > 0. */
  readonly warnMultiplier: number;
  /** fail above expectedCount × this, > 0. */
  readonly failMultiplier: number;
  /** Below this many deaths in the window the verdict is ok, integer ≥ 1. */
  readonly minSpikeCount: number;
}

/** The API's defaults (CONTRACT 2). */
export const defaultThresholds: SpikeThresholds = {
  windowHours: 24,
  baselineDays: 7,
  warnMultiplier: 2,
  failMultiplier: 4,
  minSpikeCount: 10,
};

/** Some thresholds; absent or undefined ones have their default. */
export type PartialThresholds = { readonly [Name in keyof SpikeThresholds]?: number | undefined };

/**
 * Returns all five thresholds, with defaults for absent ones.
 * @throws SpikeInputError for a value that CONTRACT 2 does not allow; integers must be safe, as in the API
 */
export function completeThresholds(given: PartialThresholds = {}): SpikeThresholds {
  const thresholds: SpikeThresholds = {
    windowHours: given.windowHours ?? defaultThresholds.windowHours,
    baselineDays: given.baselineDays ?? defaultThresholds.baselineDays,
    warnMultiplier: given.warnMultiplier ?? defaultThresholds.warnMultiplier,
    failMultiplier: given.failMultiplier ?? defaultThresholds.failMultiplier,
    minSpikeCount: given.minSpikeCount ?? defaultThresholds.minSpikeCount,
  };
  for (const name of ["windowHours", "baselineDays", "minSpikeCount"] as const) {
    if (!Number.isSafeInteger(thresholds[name]) || thresholds[name] < 1) {
      throw new SpikeInputError(name, `${name} must be an integer of at least 1, got ${String(thresholds[name])}`);
    }
  }
  for (const name of ["warnMultiplier", "failMultiplier"] as const) {
    if (!Number.isFinite(thresholds[name]) || thresholds[name] <= 0) {
      throw new SpikeInputError(name, `${name} must be a number greater than 0, got ${String(thresholds[name])}`);
    }
  }
  return thresholds;
}
