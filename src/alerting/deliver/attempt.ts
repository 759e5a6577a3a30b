import type { Clock } from "../../base/time.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import type { NewDeliveryAttempt } from "../../store/alerts/deliveries.ts";
import { shortened } from "../notify/budget.ts";
import type { Notification } from "../notify/notification.ts";
import { recipientsOf, type DeliveryOutcome, type Receiver } from "./receiver.ts";

/** A receiver with the limits of its deliveries. */
export interface OutboxReceiver {
  readonly receiver: Receiver;
  readonly timeoutMs: number;
  /** Counts from when a notification was formed. An older one is dead-lettered at its next failure. */
  readonly maxAgeMs: number;
  /** At most `count` starts in any `perMs`; null: no limit. */
  readonly rateLimit: { readonly count: number; readonly perMs: number } | null;
}

export interface AttemptOptions {
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, "receiverTimedOut">;
  readonly stop: AbortSignal;
  /** How long a receiver may take to answer after its signal aborted. */
  readonly graceMs: number;
}

/**
 * Sends once and always answers in time. A receiver that ignores its signal or throws is a bug, and must not stop the
 * queue.
 */
export async function attemptDelivery(
  { receiver, timeoutMs }: OutboxReceiver,
  notification: Notification,
  { clock, metrics, stop, graceMs }: AttemptOptions,
): Promise<DeliveryOutcome> {
  // A reload may have removed the recipient or changed the receiver's type.
  const { recipient } = notification;
  if (!recipientsOf(receiver).includes(recipient))
    return {
      kind: "rejected",
      error: `${recipient ?? "a receiver as a whole"} is no recipient of ${receiver.name} any more`,
    };
  const { answerMs = 0 } = receiver;
  const deadline = clock.deadline(timeoutMs, stop);
  const last = clock.deadline(timeoutMs + answerMs, stop);
  const { signal } = last;
  const over = new AbortController();
  const late: Promise<DeliveryOutcome> = new Promise((resolve) => {
    const wait = async (): Promise<void> => {
      if (!over.signal.aborted) await clock.sleep(graceMs, over.signal);
      resolve({ kind: "retry", error: `no answer within ${timeoutMs + answerMs} ms`, retryAfterMs: null });
    };
    if (signal.aborted) void wait();
    else signal.addEventListener("abort", () => void wait(), { once: true });
  });
  try {
    const context = { signal: deadline.signal, answerSignal: signal, nowMs: clock.nowMs() };
    return await Promise.race([sendOnce(receiver, notification, context), late]);
  } catch (error) {
    // The message may hold an address, so only the error's name is stored.
    const name = error instanceof Error ? error.name : typeof error;
    return { kind: "retry", error: `the receiver failed with ${name}`, retryAfterMs: null };
  } finally {
    deadline.release();
    last.release();
    if (signal.aborted && !stop.aborted) metrics.receiverTimedOut(receiver.name);
    // Without a reason each abort would create an exception with a stack.
    over.abort("the attempt is over");
  }
}

/** Sends, and once more with less when the receiver says too large. */
export async function sendOnce(
  receiver: Pick<Receiver, "deliver">,
  notification: Notification,
  context: Parameters<Receiver["deliver"]>[1],
): Promise<DeliveryOutcome> {
  const outcome = await receiver.deliver(notification, context);
  if (outcome.kind !== "rejected" || outcome.isTooLarge !== true) return outcome;
  const again = await receiver.deliver(shortened(notification), context);
  const what = `shortened after ${outcome.error}`;
  return again.kind === "accepted"
    ? { ...again, detail: `${again.detail}; ${what}` }
    : { ...again, error: `${again.error}; ${what}` };
}

export function answeredAttempt(
  { id: notificationId, receiver, recipient, incident, alerts }: Notification,
  outcome: DeliveryOutcome,
  { atMs, tookMs }: Pick<NewDeliveryAttempt, "atMs" | "tookMs">,
): NewDeliveryAttempt {
  return {
    notificationId,
    receiver,
    recipient,
    atMs,
    tookMs: Math.round(tookMs),
    outcome: outcome.kind === "rejected" ? "refused" : outcome.kind,
    detail: outcome.kind === "accepted" ? outcome.detail : outcome.error,
    // The sample incident of a test has number 0.
    incident: incident === null || incident.number === 0 ? null : incident.number,
    organizations: new Set(alerts.map(({ slug }) => slug)).size,
    alertIds: [...new Set(alerts.map(({ id }) => id))],
  };
}
