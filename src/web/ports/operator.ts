import type { Actor } from "../../contract/actor.ts";
import type { OutboxStore } from "../../store/alerts/outbox.ts";

/** A receiver, without its address, which is a secret. */
export interface ReceiverView {
  readonly name: string;
  readonly type: string;
  readonly minSeverity: string;
  readonly sendResolved: boolean;
  readonly pending: number;
  readonly deadLetters: number;
  /** Until when it asked to be left alone (Retry-After); null: it did not. */
  readonly pausedUntilMs: number | null;
}

/** The outbox and the receivers, with the acts of people on them. */
export interface OutboxPort extends Pick<OutboxStore, "list" | "waitingWith" | "eventsOf"> {
  receivers(): Promise<readonly ReceiverView[]>;
  /** Queues it again, due now. False: no such entry, or it is in flight. */
  retry(id: string, author: Actor): Promise<boolean>;
  /** Deletes it for good. False: no such entry, or it is in flight. */
  discard(id: string, author: Actor): Promise<boolean>;
  /** Sends a test to each recipient of a receiver now, and ends a pause that it asked for. null: no such receiver. */
  test(receiver: string, author: Actor): Promise<readonly TestedDelivery[] | null>;
}

/** What one recipient of a receiver answered to a test. */
export interface TestedDelivery {
  /** null: the receiver has no recipients. */
  readonly recipient: string | null;
  readonly outcome: "accepted" | "retry" | "rejected";
  readonly detail: string;
}
