import { hourMs } from "../../base/time.ts";
import type { EndedDelivery, LeasedEntry } from "../../store/alerts/outbox.ts";
import type { DeliveryOutcome } from "./receiver.ts";

/** A Retry-After of years is a mistake, and an hour without a message is long enough for a limit that is meant (CONTRACT 7). */
const longestPauseMs = hourMs;

// CONTRACT 7, Delivery.
const firstMs = 1_000;
const longestMs = 300_000;

/**
 * Decides what follows from an answer: accepted ones are deleted, the others are tried again or dead-lettered. The last attempt is made when
 * `maxAgeMs` ends, not some minutes before it, or when a pause of the receiver ends after it. `random` gives [0, 1).
 */
export function endOf(
  { id, attempts, createdAtMs }: Pick<LeasedEntry, "id" | "attempts" | "createdAtMs">,
  maxAgeMs: number,
  outcome: DeliveryOutcome,
  { nowMs, random }: { readonly nowMs: number; readonly random: () => number },
): EndedDelivery {
  if (outcome.kind === "accepted") return { kind: "delivered", id };
  const deadlineMs = createdAtMs + maxAgeMs;
  const lastError = outcome.error;
  if (outcome.kind === "rejected" || nowMs >= deadlineMs) return { kind: "dead", id, lastError };
  const nextAttemptAtMs = Math.min(nowMs + retryDelayMs(attempts, random), deadlineMs);
  return { kind: "retry", id, lastError, nextAttemptAtMs };
}

/** Returns for how long the receiver asked to be left alone, ms, at most an hour; 0: it did not. */
export function pauseOf(outcome: DeliveryOutcome): number {
  return outcome.kind === "retry" ? Math.min(outcome.retryAfterMs ?? 0, longestPauseMs) : 0;
}

/**
 * How long to wait before the next attempt after `attempts` failed ones (≥ 1): full jitter over 1 s, 2 s, 4 s … 5 min, so that
 * what failed together does not come back together.
 */
function retryDelayMs(attempts: number, random: () => number): number {
  const ceilingMs = Math.min(longestMs, firstMs * 2 ** Math.min(attempts - 1, 20));
  return Math.ceil(random() * ceilingMs);
}
