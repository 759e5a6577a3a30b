/** Shown for a missing number, never 0. */
export const none = "–";

// Larger numbers are inexact, and their groups of digits unreadable.
const largestGrouped = 1e15;

/** Formats an integer with groups of digits: `5,119`. */
export function formatCount(count: number | null): string {
  if (count === null || !Number.isFinite(count)) return none;
  if (Math.abs(count) >= largestGrouped) return count.toExponential(1);
  return String(Math.round(count)).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Formats `11.1`, `1,302`: one decimal below 100, none above; `0`, and `<0.1` for what would round to 0. */
export function formatExpected(expected: number | null): string {
  if (expected === null || !Number.isFinite(expected)) return none;
  if (expected === 0) return "0";
  if (expected > 0 && expected < 0.1) return "<0.1";
  return Math.abs(expected) < 99.95 ? expected.toFixed(1) : formatCount(expected);
}

export function formatRatio(ratio: number): string {
  return `${formatExpected(ratio)}×`;
}

/** Formats a share (0–1) as `4 %`; 0 % means none and 100 % means all. */
export function formatPercent(share: number): string {
  if (share > 0 && share < 0.01) return "<1 %";
  if (share < 1 && share > 0.99) return ">99 %";
  return `${Math.round(share * 100)} %`;
}

/** Formats integers as counts, others as expected counts. */
export function formatNumber(value: number): string {
  return Number.isInteger(value) ? formatCount(value) : formatExpected(value);
}

/** Returns the median, which is the mean of the middle two of an even number; null: there is no value. */
export function medianOf(values: readonly number[]): number | null {
  const sorted = values.toSorted((left, right) => left - right);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  return upper === undefined || lower === undefined ? null : (lower + upper) / 2;
}

/** Returns the place of the first of these integers, in ascending order, that is at least `least`. */
export function placeOf(sorted: ArrayLike<number>, least: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
