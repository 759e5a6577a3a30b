import type { Store } from "../../store/store.ts";
import type { AlertNotice, Notification } from "../notify/notification.ts";

/** What a receiver answered; one place (alerting/deliver/outbox) decides about retries (CONTRACT 7, Delivery). */
export type DeliveryOutcome =
  | { readonly kind: "accepted"; readonly detail: string }
  /** It is worth another attempt; `retryAfterMs` when the receiver asked to wait. */
  | { readonly kind: "retry"; readonly error: string; readonly retryAfterMs: number | null }
  /** It will never be accepted, and is dead-lettered at once. `isTooLarge`: less of it may be accepted. */
  | { readonly kind: "rejected"; readonly error: string; readonly isTooLarge?: true };

/** How much one delivery may be. */
export interface DeliveryBudget {
  readonly maxBytes: number;
  bytesOf(notification: Notification): number;
}

/** What receivers show incidents by: the messages that they edit, by the receiver's name and the incident's number, and how it stands. */
export interface IncidentMessages extends Pick<Store["incidents"], "messageOf" | "saveMessage"> {
  /** Returns how the incident of a notification stands at the attempt (alerting/notify/present.ts). */
  presentOf(notification: Notification): Promise<Notification>;
  /** Returns which of its alerts fire at the attempt, of those that the receiver is notified of (as above). */
  firingOf(notification: Notification): Promise<readonly AlertNotice[]>;
}

/** Words a notification for one receiver and sends it once: no loops, no retries in here. Errors hold no secret. */
export interface Receiver {
  readonly name: string;
  readonly type: string;
  /**
   * For receivers that forget an alert that is not repeated (Alertmanager): everything that fires is delivered again
   * this often, outside of the outbox, as a notification with event `reminder` and reason `resend`. Absent: never.
   */
  readonly resendIntervalMs?: number;
  /** A notification beyond it is split, or shortened; absent: it shows what has room, and counts the others. */
  readonly budget?: DeliveryBudget;
  /** Each of them is a delivery of its own, with its own retries, end and order. Absent: the receiver is one. */
  readonly recipients?: readonly string[];
  /** How much longer than its timeout the answer to what was sent whole may take, before which nothing is sent again [no longer]. */
  readonly answerMs?: number;
  /**
   * Never rejects for what the far side or the network does. `signal` aborts at the receiver's timeout, `answerSignal`
   * [signal] so much later.
   */
  deliver(
    notification: Notification,
    context: {
      readonly signal: AbortSignal;
      readonly answerSignal?: AbortSignal;
      readonly nowMs: number;
    },
  ): Promise<DeliveryOutcome>;
}

/** Whom one notification of a receiver goes to, each in a delivery of its own; one null where the receiver is one. */
export function recipientsOf(receiver: {
  readonly name: string;
  readonly recipients?: readonly string[];
}): readonly (string | null)[] {
  return receiver.recipients ?? [null];
}
