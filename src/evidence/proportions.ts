/** An interval; both bounds are shares or differences of shares. */
export interface Bounds {
  readonly lower: number;
  readonly upper: number;
}

// 99 %: many values are looked at each time, and with 95 % one in twenty would stand out for nothing.
const z = 2.5758;

/**
 * Returns the score interval of a proportion, which holds its coverage for small counts and for none or all: E. B. Wilson, Probable
 * Inference, the Law of Succession, and Statistical Inference, JASA 22 (1927). Nothing of nothing may be any share.
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
 * Returns the difference of two independent proportions with its hybrid score interval: R. G. Newcombe, Interval estimation for the
 * difference between independent proportions, Statistics in Medicine 17 (1998), method 10.
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
