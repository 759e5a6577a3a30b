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

/** Which entries are asked for: the newest `limit` with this subject that were enqueued (or retried) at or after `fromMs`. */
export interface WaitingQuery {
  readonly subject: string;
  readonly fromMs: number;
  readonly limit: number;
}

/** What is deleted of dead letters: those of before, and the oldest where all of them take more bytes than that. */
export interface DeadLetterLimits {
  readonly beforeMs: number;
  readonly mostBytes: number;
  readonly maxRows: number;
}

/** What is put into the queue. */
export interface NewOutboxEntry {
  readonly id: string;
  readonly receiver: string;
  /** [none] */
  readonly recipient?: string | null;
  readonly createdAtMs: number;
  readonly notBeforeMs: number;
  readonly subjects: readonly string[];
  readonly payload: string;
  /** Leased from the beginning: its writer sends it at once [any process claims it]. */
  readonly lease?: OutboxLease;
}

/** What became of a delivery: accepted (the row goes), to be tried again, or dead-lettered. */
export type EndedDelivery =
  | { readonly kind: "delivered"; readonly id: string }
  | { readonly kind: "retry"; readonly id: string; readonly nextAttemptAtMs: number; readonly lastError: string }
  | { readonly kind: "dead"; readonly id: string; readonly lastError: string };

export interface OutboxTotals {
  readonly receiver: string;
  readonly pending: number;
  readonly deadLetters: number;
  readonly oldestCreatedAtMs: number | null;
}

/** Who wants how many of a receiver's entries, and for how long. */
export interface OutboxClaim {
  readonly receiver: string;
  readonly nowMs: number;
  readonly owner: string;
  readonly leaseUntilMs: number;
  readonly limit: number;
}

/** What is queued or leased for a receiver. */
export interface Waiting {
  /** Some of it may be claimed now, unless an older entry with the same subject still waits. */
  readonly isDue: boolean;
  /** When the next retry or the pause is due, or a lease runs out, from now; Infinity: none of it. */
  readonly nextInMs: number;
}

/** Who may deliver an entry, and until when by the clock of the caller. */
export interface OutboxLease {
  readonly owner: string;
  readonly nowMs: number;
  readonly untilMs: number;
}

/** Pauses that receivers asked for; while one lasts, nothing of its receiver is claimed. */
export interface ReceiverPauses {
  /** Nothing of the receiver is claimed until then, as it asked; a pause that lasts longer stays. */
  pause(pause: { readonly receiver: string; readonly nowMs: number; readonly untilMs: number }): Promise<void>;
  /** What waits for the receiver is due as without the pause. False: it was not paused. */
  endPause(receiver: string, nowMs: number): Promise<boolean>;
  /** Until when receivers are paused, by the caller's clock; those that are not are absent. */
  pauses(nowMs: number): Promise<ReadonlyMap<string, number>>;
}

/** The queue, which several processes share; as in the schedule, a database server's clock decides about leases. */
export interface OutboxStore extends ReceiverPauses {
  enqueue(entry: NewOutboxEntry): Promise<void>;
  /** The same for many in one transaction; their order is that of the list. */
  enqueueAll(entries: readonly NewOutboxEntry[]): Promise<void>;
  /** Returns those of the receivers for which anything is queued or leased: what is not due needs no transaction. */
  waitingFor(receivers: readonly string[], nowMs: number): Promise<ReadonlyMap<string, Waiting>>;
  /**
   * Leases up to `limit` due entries of each receiver, oldest first, leaving out those with a subject of which an older entry
   * of the same receiver and recipient is still queued or leased.
   */
  claim(claims: readonly OutboxClaim[]): Promise<readonly LeasedEntry[]>;
  /** Ends the leases of these deliveries. Returns the ids of those that `owner` still held; the others are unchanged. */
  settle(ended: readonly EndedDelivery[], owner: string): Promise<readonly string[]>;
  /** Dead-letters everything that waits for receivers that are not in `receivers` (a reload removed them); their pauses go. */
  deadLetterUnknownReceivers(receivers: readonly string[], reason: string): Promise<number>;
  releaseLeases(owner: string): Promise<void>;
  /** All of them, oldest first, without what they say: of many that is gigabytes. */
  list(): Promise<readonly OutboxEntry[]>;
  /** The event of the first alert in each of these notifications. */
  eventsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The name of the delivery (`deliveryName`); null: no such entry. */
  addresseeOf(id: string): Promise<string | null>;
  /** Oldest first, without what they say. */
  waitingWith(query: WaitingQuery): Promise<readonly WaitingEntry[]>;
  totals(): Promise<readonly OutboxTotals[]>;
  /**
   * Queued or dead → queued and due now, attempts and maxAge from 0, and the pause of its receiver ends; one in flight is left
   * alone. False: no such entry.
   */
  retry(id: string, nowMs: number): Promise<boolean>;
  /** Deletes it; one in flight may still arrive. False: no such entry. */
  discard(id: string): Promise<boolean>;
  /**
   * Deletes dead letters that were enqueued (or retried) at or before `beforeMs`, or that are beyond `mostBytes` in all; at
   * most `maxRows` at a time of each. `crowdedOut` is how many of the latter.
   */
  pruneDeadLetters(limits: DeadLetterLimits): Promise<{ readonly hasMore: boolean; readonly crowdedOut: number }>;
}
