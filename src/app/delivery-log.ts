import type { Receiver } from "../alerting/receiver.ts";
import type { Clock } from "../base/time.ts";
import type { PageDelivery } from "../web/page-ports.ts";

/** What receivers answered since the start, for the page: the store forgets what was accepted. */
export interface DeliveryLog {
  /** The receiver, with what it answers noted. */
  watch(receiver: Receiver): Receiver;
  /** The latest, newest last. */
  list(): readonly PageDelivery[];
}

// Enough for a day of a busy fleet, little enough to hold.
const kept = 2_000;

/** An empty log. `onAttempt` is told after each one. */
export function createDeliveryLog(clock: Clock, onAttempt: () => void): DeliveryLog {
  const deliveries: PageDelivery[] = [];
  return {
    watch: (receiver) => ({
      ...receiver,
      name: receiver.name,
      type: receiver.type,
      deliver: async (notification, context) => {
        const startedMs = clock.monotonicMs();
        const outcome = await receiver.deliver(notification, context);
        deliveries.push({
          receiver: receiver.name,
          atMs: clock.nowMs(),
          tookMs: Math.round(clock.monotonicMs() - startedMs),
          outcome: outcome.kind === "accepted" || outcome.kind === "retry" ? outcome.kind : "refused",
          detail: outcome.kind === "accepted" ? outcome.detail : outcome.error,
          slugs: [...new Set(notification.alerts.map(({ slug }) => slug))],
        });
        if (deliveries.length > kept) deliveries.splice(0, deliveries.length - kept);
        onAttempt();
        return outcome;
      },
    }),
    list: () => deliveries,
  };
}
