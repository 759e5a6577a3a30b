import { formatPercent } from "../base/numbers.ts";

/** Deaths with one value of one attribute, in the window and in the baseline. */
export interface ValueCounts {
  /** `assetType`, or the name of an attribute. */
  readonly attribute: string;
  readonly value: string;
  readonly currentCount: number;
  readonly baselineCount: number;
}

/** All deaths, including those without the attribute. */
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

/** The name of the asset type among the attributes: no attribute can have it. */
export const assetTypeAttribute = "assetType";

// A smaller rise explains nothing that a person could act on, however many deaths prove it.
const leastLift = 0.05;
// If no baseline says what is usual, only a value that most deaths surely share is worth naming.
const leastShare = 0.5;

/** Values whose share has risen; the largest rise that the counts allow, null: no deaths to compare with. */
interface Rises {
  readonly carriers: readonly Carrier[];
  readonly largestRise: number | null;
}

/**
 * Returns the values that are over-represented in the window, the surest first: by the lower bound of the rise of their
 * share, never by counts. A death without an attribute does not have its value, so that a new value is seen. A small
 * `largestRise`, the upper bound over all values, shows that the deaths are spread as usual; no carriers do not.
 */
export function risesOf(values: readonly ValueCounts[], totals: TotalCounts): Rises {
  const { currentCount: total, baselineCount: baseline } = totals;
  if (total <= 0) return { carriers: [], largestRise: null };
  const hasBaseline = baseline > 0;
  const bounded = values.map(({ attribute, value, currentCount: count, baselineCount }): Carrier => {
    const before = { count: baselineCount, total: baseline };
    const { lower, upper } = hasBaseline ? differenceBounds({ count, total }, before) : wilsonBounds(count, total);
    const baselineShare = hasBaseline ? baselineCount / baseline : null;
    return { attribute, value, share: count / total, baselineShare, liftLower: lower, liftUpper: Math.min(1, upper) };
  });
  const carriers = bounded
    .filter(({ liftLower }) => liftLower >= (hasBaseline ? leastLift : leastShare))
    .toSorted((left, right) => right.liftLower - left.liftLower || (valueText(left) < valueText(right) ? -1 : 1));
  return { carriers, largestRise: hasBaseline ? Math.max(0, ...bounded.map(({ liftUpper }) => liftUpper)) : null };
}

/** `reason=tls_handshake`. */
export function valueText({ attribute, value }: Pick<Carrier, "attribute" | "value">): string {
  return `${attribute}=${value}`;
}

/** `87 % reason=tls_handshake, usually 4 %`. */
export function carrierText(carrier: Carrier): string {
  const { share, baselineShare } = carrier;
  const usually = baselineShare === null ? "nothing to compare with" : `usually ${formatPercent(baselineShare)}`;
  return `${formatPercent(share)} ${valueText(carrier)}, ${usually}`;
}

/** An interval; both bounds are shares or differences of shares. */
interface Bounds {
  readonly lower: number;
  readonly upper: number;
}

// 99 %: many values are looked at each time, and with 95 % one in twenty would stand out for nothing.
const z = 2.5758;

/**
 * Returns the score interval of a proportion, which is right for small counts, too, and for none or all: E. B. Wilson,
 * Probable Inference, the Law of Succession, and Statistical Inference, JASA 22 (1927). For 0 of 0 it is 0 to 1.
 */
export function wilsonBounds(count: number, total: number): Bounds {
  if (total <= 0) return { lower: 0, upper: 1 };
  const share = count / total;
  const centre = share + (z * z) / (2 * total);
  const half = z * Math.sqrt((share * (1 - share)) / total + (z * z) / (4 * total * total));
  const scale = 1 + (z * z) / total;
  return { lower: Math.max(0, (centre - half) / scale), upper: Math.min(1, (centre + half) / scale) };
}

/**
 * Returns the difference of two independent proportions with its hybrid score interval: R. G. Newcombe, Interval
 * estimation for the difference between independent proportions, Statistics in Medicine 17 (1998), method 10.
 */
export function differenceBounds(
  first: { readonly count: number; readonly total: number },
  second: { readonly count: number; readonly total: number },
): Bounds {
  const share = first.count / first.total;
  const other = second.total === 0 ? 0 : second.count / second.total;
  const own = wilsonBounds(first.count, first.total);
  const others = wilsonBounds(second.count, second.total);
  const difference = share - other;
  return {
    lower: difference - Math.hypot(share - own.lower, others.upper - other),
    upper: difference + Math.hypot(own.upper - share, other - others.lower),
  };
}
