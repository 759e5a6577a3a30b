import { formatPercent } from "../base/numbers.ts";
import { differenceBounds, wilsonBounds } from "./proportions.ts";

/** Deaths with one value of one attribute, in the window and in the baseline. */
export interface ValueCounts {
  /** `assetType`, or the name of an attribute. */
  readonly attribute: string;
  readonly value: string;
  readonly currentCount: number;
  readonly baselineCount: number;
}

/** All deaths, those without the attribute too. */
export interface TotalCounts {
  readonly currentCount: number;
  readonly baselineCount: number;
}

/** A value that more of the window's deaths have than usually. */
export interface Carrier {
  readonly attribute: string;
  readonly value: string;
  /** Share of the window's deaths, 0–1. */
  readonly share: number;
  /** Share of the baseline's deaths, 0–1; null when there were none to compare with. */
  readonly baselineShare: number | null;
  /** share − baselineShare lies between these; without a baseline, the bounds of the share. */
  readonly liftLower: number;
  readonly liftUpper: number;
}

/** What stands for the asset type among the attributes: no attribute can be called so. */
export const assetTypeAttribute = "assetType";

// Below five points of difference a value explains nothing that a person could act on, however many deaths prove it.
const leastLift = 0.05;
// Without a baseline it is unknown what is usual: only a value that most deaths surely share is worth naming.
const leastShare = 0.5;

/**
 * Returns the values that are over-represented in the window, the surest first: by the lower bound of what their share has risen,
 * never by counts. Deaths without an attribute count as not having its value, so that a value which begins to be there is
 * seen. The order of the values does not matter.
 */
export function rankCarriers(values: readonly ValueCounts[], totals: TotalCounts): Carrier[] {
  if (totals.currentCount <= 0) return [];
  const carriers: Carrier[] = [];
  for (const { attribute, value, currentCount, baselineCount } of values) {
    const hasBaseline = totals.baselineCount > 0;
    const { lower, upper } = hasBaseline
      ? differenceBounds(
          { count: currentCount, total: totals.currentCount },
          { count: baselineCount, total: totals.baselineCount },
        )
      : wilsonBounds(currentCount, totals.currentCount);
    if (lower < (hasBaseline ? leastLift : leastShare)) continue;
    carriers.push({
      attribute,
      value,
      share: currentCount / totals.currentCount,
      baselineShare: hasBaseline ? baselineCount / totals.baselineCount : null,
      liftLower: lower,
      liftUpper: Math.min(1, upper),
    });
  }
  return carriers.toSorted(
    (left, right) =>
      right.liftLower - left.liftLower ||
      compareText(left.attribute, right.attribute) ||
      compareText(left.value, right.value),
  );
}

/**
 * Returns the largest rise of a value's share that the counts allow: the upper bound over all values; null without deaths to compare
 * with. A small one shows that the deaths are spread as usual, which no value that stands out does not.
 */
export function largestRise(values: readonly ValueCounts[], totals: TotalCounts): number | null {
  if (totals.currentCount <= 0 || totals.baselineCount <= 0) return null;
  const rises = values.map(
    ({ currentCount, baselineCount }) =>
      differenceBounds(
        { count: currentCount, total: totals.currentCount },
        { count: baselineCount, total: totals.baselineCount },
      ).upper,
  );
  return Math.max(0, ...rises);
}

/** `87 % reason=tls_handshake, usually 4 %`. */
export function carrierText({ attribute, value, share, baselineShare }: Carrier): string {
  const usually = baselineShare === null ? "nothing to compare with" : `usually ${formatPercent(baselineShare)}`;
  return `${formatPercent(share)} ${attribute}=${value}, ${usually}`;
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
