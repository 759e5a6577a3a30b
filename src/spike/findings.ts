import { formatCount, formatExpected, formatRatio } from "../base/numbers.ts";
import type { DayCounts } from "./median.ts";
import type { AssetTypeExcess } from "./asset-types.ts";
import type { SpikeSeverity } from "./verdict.ts";

/** A finding, with the API's four fields. */
export type SpikeFinding = {
  readonly kind: string;
  readonly ref: string;
  readonly severity: SpikeSeverity;
  readonly message: string;
};

const spikeKind = "dead-asset-spike";
const assetTypeKind = "dead-asset-spike.asset-type";
/** CONTRACT 2: keeps results small however many types a platform has. */
export const maxAssetTypes = 5;
// Two weeks show the trend; a year would fill a message.
const maxDays = 14;

/**
 * What is counted: `deaths`, the API's rule, or `assets`, each once in the window and once in each day of a median. So
 * a checker that calls the same assets dead again and again counts them once (CONTRACT 2).
 */
export const countKinds = ["deaths", "assets"] as const;
export type CountKind = (typeof countKinds)[number];

/** Returns `5,119 deaths`, or `1 dead asset` where assets are counted. */
export function countedWords(count: number, kind: CountKind): string {
  const noun = kind === "assets" ? "dead asset" : "death";
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

export interface FindingsInput {
  readonly slug: string;
  readonly severity: SpikeSeverity;
  readonly windowHours: number;
  readonly currentCount: number;
  readonly expectedCount: number;
  readonly ratio: number | null;
  /** Deaths on each day of a median's baseline, the latest first; empty with a mean. */
  readonly dayCounts: DayCounts;
  readonly count: CountKind;
  /** At most {@link maxAssetTypes}, the largest first, from excessByAssetType. */
  readonly assetTypes: readonly AssetTypeExcess[];
}

/** Returns the findings of CONTRACT 2: the spike, then the asset types with the largest excess. */
export function spikeFindings(input: FindingsInput): SpikeFinding[] {
  const { slug, severity, windowHours, count } = input;
  const { currentCount, expectedCount, ratio, dayCounts } = input;
  const expected = ratio === null ? "none" : formatExpected(expectedCount);
  const notes = [...(ratio === null ? [] : [formatRatio(ratio)]), ...describeDays(dayCounts)].join("; ");
  const message =
    `${countedWords(currentCount, count)} in ${windowHours} h, ` +
    `${expected} expected${notes === "" ? "" : ` (${notes})`}`;
  const carriers = input.assetTypes.map((carrier) => ({
    kind: assetTypeKind,
    ref: carrier.assetType,
    severity,
    message:
      `${countedWords(carrier.currentCount, count)} of type ${carrier.assetType} in ${windowHours} h, ` +
      `${carrier.expectedCount === 0 ? "none" : formatExpected(carrier.expectedCount)} expected ` +
      `(${formatExpected(carrier.excess)} more than usual)`,
  }));
  return [{ kind: spikeKind, ref: slug, severity, message }, ...carriers];
}

/** "median of the 7 days before: 366, 0, 0, 5, 0, 0, 0": shows where the expectation comes from. */
function describeDays(dayCounts: DayCounts): string[] {
  if (dayCounts.length === 0) return [];
  const known = dayCounts.filter((count) => count !== null);
  if (known.length === 0) return ["none of the days before is known"];
  const shown = known.slice(0, maxDays).map(formatCount).join(", ");
  const more = known.length > maxDays ? ` and ${known.length - maxDays} more` : "";
  const left = known.length < dayCounts.length ? ` that are known of the ${dayCounts.length}` : "";
  return [`median of the ${known.length} days${left} before: ${shown}${more}`];
}
