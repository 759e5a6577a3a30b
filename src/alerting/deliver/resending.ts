import type { Logger } from "../../base/logger.ts";
import type { Clock } from "../../base/time.ts";
import type { OutboxLease, OutboxStore } from "../../store/alerts/outbox.ts";
import { attemptDelivery, type AttemptOptions } from "./attempt.ts";
import type { Lane } from "./lane.ts";
import type { Notification } from "../notify/notification.ts";

export interface ResendingOptions {
  readonly store: Pick<OutboxStore, "pauses" | "delivered">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly owner: string;
  readonly attempt: AttemptOptions;
  /** What the receiver is to be told again, in the outbox under the lease; null: nothing (alerting/notify/notifier.ts). */
  readonly form: (receiver: string, lease: OutboxLease) => Promise<Notification | null>;
  /** The receiver asked for a pause of so many milliseconds. */
  readonly pause: (lane: Lane, askedMs: number) => Promise<void>;
  /** Told when it is over. */
  readonly wake: () => void;
}

// A lease that was asked for longer ago may have run out, when this process was suspended meanwhile.
const beginWithinMs = 3_000;

/** Tells receivers that forget what still fires, beside the queue and once each time: the next one tells what fires then. */
export function createResending(options: ResendingOptions): (lane: Lane, lease: OutboxLease) => Promise<void> {
  const { store, clock, logger, attempt } = options;

  async function send(lane: Lane, lease: OutboxLease): Promise<void> {
    const { name: receiver } = lane.settings.receiver;
    const askedMs = clock.monotonicMs();
    if ((await store.pauses(clock.nowMs())).has(receiver)) return;
    const notification = await options.form(receiver, lease);
    if (notification === null || clock.monotonicMs() - askedMs >= beginWithinMs) return;
    const delivery = { recipient: null, payload: JSON.stringify(notification) };
    const outcome = await attemptDelivery(lane.settings, delivery, attempt);
    if (outcome.kind === "retry" && outcome.retryAfterMs !== null) await options.pause(lane, outcome.retryAfterMs);
    await store.delivered(notification.id, options.owner);
    if (outcome.kind === "accepted") logger.debug({ receiver }, "alerts sent again");
    else if (!attempt.stop.aborted) logger.warn({ receiver, error: outcome.error }, "alerts could not be sent again");
  }

  return async (lane, lease) => {
    lane.begin();
    lane.resent();
    try {
      await send(lane, lease);
    } catch (error) {
      logger.error({ err: error, receiver: lane.settings.receiver.name }, "alerts could not be sent again");
    } finally {
      lane.answered();
      lane.recorded();
      options.wake();
    }
  };
}
