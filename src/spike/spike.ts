/** Public entry `flatline/spike`: the dead asset spike rule, pure and exact, without dependencies. */
export { excessByAssetType, type AssetTypeCounts, type AssetTypeExcess } from "./asset-types.ts";
export { evaluateSpike, organizationUrl, type SpikeInput, type SpikeResult } from "./evaluate.ts";
export { countEvents, type CountedEvent, type EventCounts } from "./events.ts";
export { baselineKinds, medianDays, type BaselineKind, type DayCounts, type DayWindow } from "./median.ts";
export { countKinds, type CountKind, type SpikeFinding } from "./findings.ts";
export { SpikeInputError } from "./spike-input-error.ts";
export { completeThresholds, defaultThresholds, type PartialThresholds, type SpikeThresholds } from "./thresholds.ts";
export type { SpikeCounts, SpikeSeverity } from "./verdict.ts";
export { spikeWindow, windowCoverage, type SpikeWindow } from "./window.ts";
