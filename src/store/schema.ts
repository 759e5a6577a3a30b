import type { ColumnType, Generated, Kysely } from "kysely";
import type { CheckName } from "../contract/report.ts";
import type { SessionRow } from "./acts/sessions.ts";
import type { IncidentTables } from "./alerts/incidents.ts";
import type { NoticeTables } from "./alerts/notices.ts";
import type { DiscoveryTables } from "./discovery/discovered-lists.ts";
import type { PlatformTables } from "./platform/rows.ts";

/** An integer primary key that the database numbers. */
type RowId = ColumnType<number, number | undefined, never>;

export interface CheckRow {
  readonly check_id: RowId;
  readonly check_name: CheckName;
  readonly slug: string;
}

export interface OwnerRow {
  readonly owner_id: RowId;
  readonly epoch: number;
  readonly lease_until_ms: number;
  readonly folded_seq: number;
}

export interface BoardRow {
  readonly check_id: number;
  readonly owner_id: number;
  readonly due_at_ms: number;
  readonly is_asked: number;
  readonly severity_since_ms: number;
  readonly started_at_ms: number;
  readonly finished_at_ms: number;
  /** See report-shape.ts. */
  readonly shape: string;
  readonly report_values: Uint8Array;
  /** The last result, where the last run gave none. */
  readonly result_started_at_ms: number | null;
  readonly result_finished_at_ms: number | null;
  readonly result_shape: string | null;
  readonly result_values: Uint8Array | null;
  readonly kept_at_ms: number | null;
  readonly kept_digest: string | null;
}

export interface CheckReportRow {
  readonly check_id: number;
  readonly at_ms: number;
  readonly severity: number;
  /** See packReport (check-reports.ts). */
  readonly report: Uint8Array;
}

export interface AlertRow {
  readonly id: string;
  readonly check_name: string;
  readonly slug: string;
  readonly kind: string;
  readonly state: string;
  readonly incident_number: number | null;
  /** The whole AlertState as JSON. */
  readonly body: string;
}

export interface EndedAlertRow {
  readonly id: string;
  readonly check_name: string;
  readonly slug: string;
  readonly kind: string;
  readonly ends_at_ms: number;
  readonly incident_number: number | null;
  /** The whole AlertState as JSON. */
  readonly body: string;
  /** The AlertEnd as JSON. */
  readonly end_body: string;
}

export interface JudgementRow {
  readonly judgement_id: RowId;
  readonly alert_id: string;
  readonly check_name: CheckName;
  readonly slug: string;
  readonly at_ms: number;
  /** null: withdrawn. */
  readonly verdict: string | null;
  readonly comment: string | null;
  readonly author: string;
  readonly note: string | null;
  readonly is_standing: number;
}

export interface CommentRow {
  readonly comment_id: RowId;
  readonly alert_id: string | null;
  readonly slug: string | null;
  readonly at_ms: number;
  readonly author: string;
  readonly note: string | null;
  readonly text: string;
  readonly act: string | null;
  readonly incident_number: number | null;
  /** A JSON array; null: of all alerts of the incident. */
  readonly alert_ids: string | null;
}

export interface AlertHistoryRow {
  readonly entry_id: RowId;
  readonly alert_id: string;
  readonly check_name: string;
  readonly slug: string;
  readonly kind: string;
  readonly at_ms: number;
  readonly event: string;
  readonly severity: string;
  readonly reason: string;
}

export interface OutboxRow {
  readonly seq: RowId;
  readonly id: string;
  readonly receiver: string;
  /** Empty: none. */
  readonly recipient: string;
  readonly state: string;
  readonly attempts: Generated<number>;
  readonly created_at_ms: number;
  readonly next_attempt_at_ms: number;
  readonly lease_owner: string | null;
  readonly lease_until_ms: Generated<number>;
  readonly last_error: string | null;
  readonly payload: string;
}

export interface SilenceRow {
  readonly id: string;
  readonly slug: string;
  readonly check_name: string | null;
  readonly starts_at_ms: number;
  readonly ends_at_ms: number;
  readonly comment: string;
  readonly created_by: string | null;
  readonly note: string | null;
  readonly created_at_ms: number;
}

export interface MarkerRow {
  readonly id: string;
  readonly at_ms: number;
  readonly text: string;
  readonly slug: string | null;
  readonly created_by: string | null;
  readonly note: string | null;
  readonly created_at_ms: number;
}

export interface GateFailureRow {
  readonly alert_id: string;
  readonly check_name: CheckName;
  readonly slug: string;
  readonly failed_at_ms: number;
  readonly released_at_ms: number | null;
  /** Counts who looked, so that two who change the gate of one organization exclude each other. */
  readonly turn: Generated<number>;
}

export interface GateReleaseRow {
  readonly release_id: RowId;
  readonly slug: string;
  readonly at_ms: number;
  readonly how: string;
  readonly alert_id: string | null;
  readonly released_by: string | null;
  readonly comment: string | null;
}

export interface DeliveryRow {
  readonly notification_id: string;
  readonly at_ms: number;
  readonly receiver: string;
  /** Empty: none. */
  readonly recipient: string;
  readonly took_ms: number;
  readonly outcome: string;
  readonly detail: string;
  /** A JSON array. */
  readonly slugs: string;
  readonly fleet_id: string | null;
}

export interface OutsideActRow {
  readonly via: string;
  readonly id: string;
  readonly alert_id: string;
  readonly occurred_at_ms: number;
  readonly at_ms: number;
}

export interface AuditRow {
  readonly entry_id: RowId;
  readonly at_ms: number;
  readonly actor: string;
  readonly via: string;
  readonly action: string;
  readonly slug: string | null;
  readonly subject: string | null;
  /** A JSON object. */
  readonly detail: string;
}

/** Every table that is read through Kysely; the tables of the events are read in plain SQL (store/events/). */
export interface Tables extends NoticeTables, IncidentTables, DiscoveryTables, PlatformTables {
  readonly checks: CheckRow;
  readonly owners: OwnerRow;
  readonly shards: { readonly shard: number; readonly owner_id: number | null };
  readonly board: BoardRow;
  readonly check_reports: CheckReportRow;
  readonly run_requests: { readonly request_id: RowId; readonly check_id: number; readonly asked_at_ms: number };
  readonly alerts: AlertRow;
  readonly ended_alerts: EndedAlertRow;
  readonly judgements: JudgementRow;
  readonly comments: CommentRow;
  readonly alert_history: AlertHistoryRow;
  readonly outbox: OutboxRow;
  readonly outbox_alerts: { readonly alert_id: string; readonly seq: number };
  readonly receiver_pauses: { readonly receiver: string; readonly until_ms: number };
  readonly silences: SilenceRow;
  readonly deliveries: DeliveryRow;
  readonly alert_notified: { readonly alert_id: string; readonly receiver: string; readonly at_ms: number };
  readonly delivery_slugs: { readonly slug: string; readonly at_ms: number; readonly notification_id: string };
  readonly markers: MarkerRow;
  readonly gate_failures: GateFailureRow;
  readonly gate_releases: GateReleaseRow;
  readonly audit: AuditRow;
  readonly outside_acts: OutsideActRow;
  readonly sessions: SessionRow;
  readonly meta: { readonly name: string; readonly value: string };
}

/** The database, or a transaction on it: the stores do not distinguish them. */
export type Db = Kysely<Tables>;
