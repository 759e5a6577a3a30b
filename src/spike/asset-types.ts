import { SpikeInputError } from "./spike-input-error.ts";
import type { SpikeThresholds } from "./thresholds.ts";
import { checkCount, expectedDeaths, expectedDeathsNumber, type SpikeCounts } from "./verdict.ts";

/** Deaths of one asset type; null: of events without a type. */
export interface AssetTypeCounts extends SpikeCounts {
  readonly assetType: string | null;
}

/** How many more of one asset type died than its own baseline leads to expect. */
export interface AssetTypeExcess extends SpikeCounts {
  readonly assetType: string;
  readonly expectedCount: number;
  /** currentCount − expectedCount, > 0. */
  readonly excess: number;
}

/**
 * The asset types with more deaths than expected, largest excess first, equal ones by name. The excess is compared exactly:
 * over one denominator that is currentCount × baselineDays × 24 − baselineCount × windowHours.
 * @throws SpikeInputError for a count that is no safe integer ≥ 0, and for a type that is named twice
 */
export function excessByAssetType(
  counts: readonly AssetTypeCounts[],
  thresholds: Pick<SpikeThresholds, "windowHours" | "baselineDays">,
): AssetTypeExcess[] {
  const found: { readonly exactExcess: bigint; readonly excess: AssetTypeExcess }[] = [];
  const seen = new Set<string | null>();
  for (const { assetType, currentCount, baselineCount } of counts) {
    checkCount("assetTypes.currentCount", currentCount);
    checkCount("assetTypes.baselineCount", baselineCount);
    if (seen.has(assetType)) throw new SpikeInputError("assetTypes", `assetTypes names ${String(assetType)} twice`);
    seen.add(assetType);
    const expected = expectedDeaths(baselineCount, thresholds);
    const exactExcess = BigInt(currentCount) * expected.denominator - expected.numerator;
    if (assetType === null || exactExcess <= 0n) continue;
    const expectedCount = expectedDeathsNumber(baselineCount, thresholds);
    const excess = Number(exactExcess) / Number(expected.denominator);
    found.push({ exactExcess, excess: { assetType, currentCount, baselineCount, expectedCount, excess } });
  }
  found.sort((left, right) => {
    if (left.exactExcess !== right.exactExcess) return left.exactExcess > right.exactExcess ? -1 : 1;
    return left.excess.assetType < right.excess.assetType ? -1 : 1;
  });
  return found.map(({ excess }) => excess);
}
