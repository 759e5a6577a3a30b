import type { LeasedEntry, OutboxEntry } from "./outbox.ts";

/** The columns of `outbox` that an entry is made of. */
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
  "payload",
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
  readonly payload: string;
}

/** The entry of a row with the alerts that it tells of. */
export function outboxEntry(row: OutboxEntryRow, alerts: readonly { readonly alert_id: string }[]): OutboxEntry {
  return { ...leasedEntry(row), subjects: alerts.map(({ alert_id }) => alert_id) };
}

/** The entry of a row as a delivery needs it. */
export function leasedEntry(row: OutboxEntryRow): LeasedEntry {
  return {
    id: row.id,
    receiver: row.receiver,
    recipient: row.recipient === "" ? null : row.recipient,
    state: row.state === "dead" || row.state === "leased" ? row.state : "queued",
    attempts: row.attempts,
    createdAtMs: row.created_at_ms,
    nextAttemptAtMs: row.next_attempt_at_ms,
    lastError: row.last_error,
    payload: row.payload,
  };
}
