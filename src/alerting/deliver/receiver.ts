import type { Store } from "../../store/store.ts";
import type { AlertNotice, Notification } from "../notify/notification.ts";

/** The answer of a receiver. Only alerting/deliver/outbox decides about retries (CONTRACT 7). */
export type DeliveryOutcome =
  | { readonly kind: "accepted"; readonly detail: string }
  /** Worth another attempt. `retryAfterMs`: the wait that the receiver asked for. */
  | { readonly kind: "retry"; readonly error: string; readonly retryAfterMs: number | null }
  /** Never accepted: dead-lettered at once. `isTooLarge`: a shorter one may be accepted. */
  | { readonly kind: "rejected"; readonly error: string; readonly isTooLarge?: true };

export interface DeliveryBudget {
  readonly maxBytes: number;
  bytesOf(notification: Notification): number;
}

/** The state of incidents, and the ids of messages to edit, by receiver and incident number. */
export interface IncidentMessages extends Pick<Store["incidents"], "messageOf" | "saveMessage"> {
  /** Returns the notification's incident as it is at the attempt (alerting/notify/present.ts). */
  presentOf(notification: Notification): Promise<Notification>;
  /** Returns its alerts that fire at the attempt and that the receiver knows (present.ts). */
  firingOf(notification: Notification): Promise<readonly AlertNotice[]>;
}

/** Formats a notification and sends it once, without loops or retries. Errors hold no secret. */
export interface Receiver {
  readonly name: string;
  readonly type: string;
  /**
   * Set by a receiver that forgets alerts that are not repeated (Alertmanager): all firing alerts are sent so often,
   * outside the outbox, with event `reminder` and reason `resend`. Absent: never.
   */
  readonly resendIntervalMs?: number;
  /** A larger notification is split or shortened. Absent: the receiver shows what fits and counts the rest. */
  readonly budget?: DeliveryBudget;
  /** Each has its own deliveries, with own retries and order. Absent: the receiver has only one. */
  readonly recipients?: readonly string[];
  /** After sending, an answer may take so much longer than the timeout; nothing is sent again before [0]. */
  readonly answerMs?: number;
  /**
   * Does not reject for errors of the receiver or the network. `signal` aborts at the timeout, `answerSignal`
   * `answerMs` later [signal].
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

/** Returns the recipients of a receiver, each a delivery of its own; [null]: it has only one. */
export function recipientsOf(receiver: {
  readonly name: string;
  readonly recipients?: readonly string[];
}): readonly (string | null)[] {
  return receiver.recipients ?? [null];
}
