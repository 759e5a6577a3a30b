/** A notification that its receiver has not accepted yet (CONTRACT 7, Delivery). */
export interface OutboxEntry {
  /** The notification's `id`, also the `webhook-id`: stable over every retry. */
  readonly id: string;
  readonly receiver: string;
  /** Who of the receiver's recipients it is for; null where the receiver is one. */
  readonly recipient: string | null;
  /** queued: waits for its next attempt; leased: being delivered; dead: dead-lettered. */
  readonly state: "queued" | "leased" | "dead";
  /** Begun so far: a claim counts as one. */
  readonly attempts: number;
  readonly createdAtMs: number;
  /** In `list` not before the end of the receiver's pause. */
  readonly nextAttemptAtMs: number;
  readonly lastError: string | null;
  /** Its subject, whichever episode, as `check/slug/kind`, and the id of its fleet: order is kept per receiver, recipient and subject. */
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
  /** The Notification (alerting/notify/notification.ts) as JSON. */
  readonly payload: string;
}

/** The columns of `outbox` that an entry is made of, without what it says. */
export const entryColumns = [
  "seq",
  "id",
  "receiver",
  "recipient",
  "state",
  "attempts",
  "created_at_ms",
  "next_attempt_at_ms",
  "last_error",
] as const;

/** These columns of a row. */
export interface OutboxEntryRow {
  readonly seq: number;
  readonly id: string;
  readonly receiver: string;
  readonly recipient: string;
  readonly state: string;
  readonly attempts: number;
  readonly created_at_ms: number;
  readonly next_attempt_at_ms: number;
  readonly last_error: string | null;
}

/** Returns the entry of a row with its alerts. */
export function outboxEntry(row: OutboxEntryRow, alerts: readonly { readonly alert_id: string }[]): OutboxEntry {
  return { ...entryOf(row), subjects: alerts.map(({ alert_id }) => alert_id) };
}

/** Returns the entry of a row as a delivery needs it. */
export function leasedEntry(row: OutboxEntryRow & { readonly payload: string }): LeasedEntry {
  return { ...entryOf(row), payload: row.payload };
}

function entryOf(row: OutboxEntryRow): Omit<OutboxEntry, "subjects"> {
  return {
    id: row.id,
    receiver: row.receiver,
    recipient: row.recipient === "" ? null : row.recipient,
    state: stateOf(row.state),
    attempts: row.attempts,
    createdAtMs: row.created_at_ms,
    nextAttemptAtMs: row.next_attempt_at_ms,
    lastError: row.last_error,
  };
}

/** The columns that say what keeps an entry waiting. */
export const waitingColumns = [
  "outbox.receiver",
  "outbox.recipient",
  "outbox.state",
  "outbox.attempts",
  "outbox.next_attempt_at_ms",
  "outbox.last_error",
] as const;

/** Returns what keeps the entry of a row waiting, the pause of its receiver included. */
export function waitingEntry(
  row: Pick<OutboxEntryRow, "receiver" | "recipient" | "state" | "attempts" | "next_attempt_at_ms" | "last_error"> & {
    readonly until_ms: number | null;
  },
): WaitingEntry {
  return {
    receiver: row.receiver,
    recipient: row.recipient === "" ? null : row.recipient,
    state: stateOf(row.state),
    attempts: row.attempts,
    nextAttemptAtMs: Math.max(row.next_attempt_at_ms, row.until_ms ?? 0),
    lastError: row.last_error,
  };
}

function stateOf(state: string): WaitingEntry["state"] {
  return state === "dead" || state === "leased" ? state : "queued";
}
