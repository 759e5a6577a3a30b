// CONTRACT 7, Delivery.
const firstMs = 1_000;
const longestMs = 300_000;

/**
 * How long to wait before the next attempt after `attempts` failed ones (≥ 1): full jitter over 1 s, 2 s, 4 s … 5 min, so that
 * what failed together does not come back together; at least what the far side asked for. `random` gives [0, 1).
 */
export function retryDelayMs(attempts: number, retryAfterMs: number | null, random: () => number): number {
  const ceilingMs = Math.min(longestMs, firstMs * 2 ** Math.min(attempts - 1, 20));
  return Math.max(Math.ceil(random() * ceilingMs), retryAfterMs ?? 0);
}
