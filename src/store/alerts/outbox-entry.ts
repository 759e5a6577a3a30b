import type { Generated } from "kysely";
import type { RowId } from "../tables.ts";

/** A notification that its receiver has not accepted yet (CONTRACT 7, Delivery). */
export interface OutboxEntry {
  /** The notification's `id`, also the `webhook-id`: stable over every retry. */
  readonly id: string;
  readonly receiver: string;
  /** The recipient; null: the receiver has none. */
  readonly recipient: string | null;
  /** queued: waits for its next attempt; leased: being delivered; dead: dead-lettered. */
  readonly state: "queued" | "leased" | "dead";
  /** Begun so far: a claim counts as one. */
  readonly attempts: number;
  readonly createdAtMs: number;
  /** In `list` it is never before the end of the receiver's pause. */
  readonly nextAttemptAtMs: number;
  readonly lastError: string | null;
  /**
   * Its subject in any episode, as `check/slug/kind`, and the id of its fleet: order is kept per receiver, recipient and
   * subject.
   */
  readonly subjects: readonly string[];
}

/** Returns the organization of a subject; nothing of a fleet's. */
export function slugOfSubject(subject: string): string[] {
  const slug = /^[^/]+\/(.+)\/[^/]+$/s.exec(subject)?.[1];
  return slug === undefined ? [] : [slug];
}

/** Returns how a delivery is called where people read: `ops`, `mail to ops@example.com`. */
export function deliveryName(receiver: string, recipient: string | null): string {
  return recipient === null ? receiver : `${receiver} to ${recipient}`;
}

/** What keeps an entry waiting. */
export type WaitingEntry = Pick<
  OutboxEntry,
  "receiver" | "recipient" | "state" | "attempts" | "nextAttemptAtMs" | "lastError"
>;

/** What a delivery needs of an entry. */
export interface LeasedEntry extends Omit<OutboxEntry, "subjects"> {
  /** Grows with every entry. */
  readonly seq: number;
  /** The Notification (alerting/notify/notification.ts) as JSON. */
  readonly payload: string;
}

export interface OutboxTables {
  readonly outbox: Omit<LeasedEntry, "seq" | "recipient" | "attempts"> & {
    readonly seq: RowId;
    /** Empty: none. */
    readonly recipient: string;
    readonly attempts: Generated<number>;
    /** null: it is about none. */
    readonly incidentNumber: number | null;
    /** Whether its receiver has accepted a later one of its incident: 1. */
    readonly isFollowed: Generated<number>;
  };
  readonly outbox_alerts: { readonly alertId: string; readonly seq: number };
  readonly receiver_pauses: { readonly receiver: string; readonly untilMs: number };
}

/** The columns of `outbox` that an entry is made of, without what it says. */
export const entryColumns = [
  "id",
  "receiver",
  "recipient",
  "state",
  "attempts",
  "createdAtMs",
  "nextAttemptAtMs",
  "lastError",
] as const;

/** The columns that say what keeps an entry waiting. */
export const waitingColumns = [
  "outbox.receiver",
  "outbox.recipient",
  "outbox.state",
  "outbox.attempts",
  "outbox.nextAttemptAtMs",
  "outbox.lastError",
] as const;
