import { hourMs } from "../../base/time.ts";

/** A Retry-After of years is a mistake, and an hour without a message is long enough for a limit that is meant (CONTRACT 7). */
export const longestPauseMs = hourMs;

// CONTRACT 7, Delivery.
const firstMs = 1_000;
const longestMs = 300_000;

/**
 * How long to wait before the next attempt after `attempts` failed ones (≥ 1): full jitter over 1 s, 2 s, 4 s … 5 min, so that
 * what failed together does not come back together. `random` gives [0, 1).
 */
export function retryDelayMs(attempts: number, random: () => number): number {
  const ceilingMs = Math.min(longestMs, firstMs * 2 ** Math.min(attempts - 1, 20));
  return Math.ceil(random() * ceilingMs);
}
