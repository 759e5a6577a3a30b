/** The five thresholds of the dead asset spike healthcheck, under the API's own names (CONTRACT 2). */
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
