import { SpikeInputError } from "./spike-input-error.ts";
import { expectation, type Expectation } from "./expectation.ts";
import type { BaselineKind, DayCounts } from "./median.ts";
import type { SpikeThresholds } from "./thresholds.ts";
import { checkCount, type SpikeCounts } from "./verdict.ts";

/** Deaths of one asset type; null: events without a type. */
export interface AssetTypeCounts extends SpikeCounts {
  readonly assetType: string | null;
  /** For a median: deaths in each of medianDays, in its order. */
  readonly dayCounts?: DayCounts;
}

/** An asset type with more deaths than its own baseline expects. */
export interface AssetTypeExcess extends SpikeCounts {
  readonly assetType: string;
  readonly expectedCount: number;
  /** currentCount − expectedCount, > 0. */
  readonly excess: number;
}

/**
 * Returns the asset types with more deaths than expected, the largest excess first, equal ones by name. Each type has
 * its own baseline; medians of types need not add up to the whole's. The comparison is exact, over one denominator.
 * @throws SpikeInputError for a count that is no safe integer ≥ 0, and for a type that is named twice
 */
export function excessByAssetType(
  counts: readonly AssetTypeCounts[],
  thresholds: Pick<SpikeThresholds, "windowHours" | "baselineDays">,
  baseline: BaselineKind = "mean",
): AssetTypeExcess[] {
  checkAssetTypes(counts);
  const found: { readonly exactExcess: bigint; readonly excess: AssetTypeExcess }[] = [];
  for (const { assetType, currentCount, baselineCount, dayCounts } of counts) {
    const { exact, expectedCount }: Expectation = expectation({
      baseline,
      thresholds,
      baselineCount,
      ...(dayCounts === undefined ? {} : { dayCounts }),
    });
    const exactExcess = BigInt(currentCount) * exact.denominator - exact.numerator;
    if (assetType === null || exactExcess <= 0n) continue;
    const excess = Number(exactExcess) / Number(exact.denominator);
    found.push({ exactExcess, excess: { assetType, currentCount, baselineCount, expectedCount, excess } });
  }
  found.sort((left, right) => {
    if (left.exactExcess !== right.exactExcess) return left.exactExcess > right.exactExcess ? -1 : 1;
    return left.excess.assetType < right.excess.assetType ? -1 : 1;
  });
  return found.map(({ excess }) => excess);
}

/** @throws SpikeInputError for a count that is no safe integer ≥ 0, and for a type that is named twice */
export function checkAssetTypes(counts: readonly AssetTypeCounts[]): void {
  const seen = new Set<string | null>();
  for (const { assetType, currentCount, baselineCount } of counts) {
    checkCount("assetTypes.currentCount", currentCount);
    checkCount("assetTypes.baselineCount", baselineCount);
    if (seen.has(assetType)) throw new SpikeInputError("assetTypes", `assetTypes names ${String(assetType)} twice`);
    seen.add(assetType);
  }
}
