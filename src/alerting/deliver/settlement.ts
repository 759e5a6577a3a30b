import type { Logger } from "../../base/logger.ts";
import type { Clock } from "../../base/time.ts";
import type { LeasedEntry, OutboxRetry, OutboxStore } from "../../store/alerts/outbox.ts";
import type { OutboxReceiver } from "./attempt.ts";
import { longestPauseMs, retryDelayMs } from "./backoff.ts";
import { createGroupCommit } from "../group-commit.ts";
import type { DeliveryOutcome } from "./receiver.ts";

/** What became of one attempt; `lost`: somebody else has the lease, or nobody. */
export type Ended = "delivered" | "retried" | "deadLettered" | "lost";

export interface SettlementOptions {
  readonly store: OutboxStore;
  readonly clock: Clock;
  /** [0, 1), for the jitter. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly owner: string;
  /** Awaited before what ended is recorded, for more to join it. */
  readonly gather: () => Promise<void>;
}

/** Records what a receiver answered: accepted ones go, the others are tried again or given up (CONTRACT 7, Delivery). */
export function createSettlement({ store, clock, random, logger, owner, gather }: SettlementOptions) {
  const acknowledge = createGroupCommit({
    gather,
    keyOf: (id: string) => id,
    commit: async (ids) => heldOf(ids, await store.deliveredAll(ids, owner)),
  });
  const retryLater = createGroupCommit({
    gather,
    keyOf: ({ id }: OutboxRetry) => id,
    commit: async (retries) =>
      heldOf(
        retries.map(({ id }) => id),
        await store.retryAllLater(retries, owner),
      ),
  });

  function lost(facts: object): "lost" {
    logger.warn(facts, "lease of a notification was lost");
    return "lost";
  }

  return async (entry: LeasedEntry, { maxAgeMs }: OutboxReceiver, outcome: DeliveryOutcome): Promise<Ended> => {
    const { id, attempts } = entry;
    const recipient = entry.recipient === null ? {} : { recipient: entry.recipient };
    const facts = { notification: id, receiver: entry.receiver, ...recipient, attempts };
    if (outcome.kind === "accepted") {
      const isOurs = await acknowledge(id);
      if (isOurs) logger.info(facts, "notification delivered");
      return isOurs ? "delivered" : lost(facts);
    }
    const nowMs = clock.nowMs();
    const deadlineMs = entry.createdAtMs + maxAgeMs;
    if (outcome.kind === "rejected" || nowMs >= deadlineMs) {
      const isOurs = await store.deadLetter(id, owner, outcome.error);
      if (isOurs) logger.error({ ...facts, error: outcome.error }, "notification given up");
      return isOurs ? "deadLettered" : lost(facts);
    }
    // The last attempt is made when maxAge ends, not some minutes before it, or when a pause of the receiver ends after it.
    const nextAttemptAtMs = Math.min(nowMs + retryDelayMs(attempts, random), deadlineMs);
    const isOurs = await retryLater({ id, nextAttemptAtMs, lastError: outcome.error });
    if (isOurs) {
      const pausedMs = Math.min(outcome.retryAfterMs ?? 0, longestPauseMs);
      const retryInMs = Math.max(nextAttemptAtMs - nowMs, pausedMs);
      logger.warn({ ...facts, error: outcome.error, retryInMs }, "notification not accepted yet");
    }
    return isOurs ? "retried" : lost(facts);
  };
}

function heldOf(ids: readonly string[], held: readonly string[]): boolean[] {
  const ours = new Set(held);
  return ids.map((id) => ours.has(id));
}
