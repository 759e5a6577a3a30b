import type { ColumnType, Generated, Kysely } from "kysely";
import type { CheckName } from "../contract/report.ts";
import type { Severity } from "../contract/severity.ts";
import type { NoticeTables } from "./alerts/notice-table.ts";
import type { PlatformTables } from "./platform/rows.ts";
import type { VerdictNumbers } from "./runs/verdict-rows.ts";

/** An integer primary key that the database numbers. */
type RowId = ColumnType<number, number | undefined, never>;

export interface CheckRow {
  readonly check_id: RowId;
  readonly check_name: CheckName;
  readonly slug: string;
  readonly schedule_key: string;
  readonly next_due_at_ms: number;
  readonly fence: Generated<number>;
  readonly lease_owner: string | null;
  readonly lease_until_ms: Generated<number>;
  readonly last_run_at_ms: number | null;
  readonly last_success_at_ms: number | null;
  readonly severity: Severity | null;
  readonly severity_since_ms: number | null;
  /** Whole; null where the last run gave a result that is kept in parts. */
  readonly last_report: string | null;
  /** Of the last run with a result, while last_report is an error; null where it is kept in parts. */
  readonly last_result_report: string | null;
  /** Of the last run with a result that was kept in parts (report-parts.ts). */
  readonly report_values: Uint8Array | null;
  readonly report_shape: string | null;
}

/** The part of a last result's report that stays the same from run to run. */
export interface CheckReportRow {
  readonly check_id: number;
  readonly shape_id: string;
  readonly shape: string;
}

export interface VerdictSeriesRow {
  readonly series_id: RowId;
  readonly check_name: string;
  readonly slug: string;
  /** When the last whole report was kept. */
  readonly last_full_at_ms: number | null;
  /** Of severity, thresholds and findings of the last run. */
  readonly last_digest: string | null;
}

export interface VerdictPointRow extends VerdictNumbers {
  readonly series_id: number;
  readonly at_ms: number;
}

export interface VerdictReportRow {
  readonly series_id: number;
  readonly at_ms: number;
  readonly severity: number;
  /** See packReport (check-reports.ts). */
  readonly report: Uint8Array;
}

export interface VerdictHourRow extends VerdictPointRow {
  readonly hour: number;
  readonly min_current_count: number | null;
  readonly max_current_count: number | null;
}

export interface AlertRow {
  readonly id: string;
  readonly check_name: string;
  readonly slug: string;
  readonly kind: string;
  readonly state: string;
  /** The whole AlertState as JSON. */
  readonly body: string;
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
  readonly created_at_ms: number;
}

export interface MarkerRow {
  readonly id: string;
  readonly at_ms: number;
  readonly text: string;
  readonly slug: string | null;
  readonly created_by: string | null;
  readonly created_at_ms: number;
}

export interface GateReleaseRow {
  readonly slug: string;
  readonly at_ms: number;
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

/** Every table that is read through Kysely; the tables of the events are read in plain SQL (store/events/). */
export interface Tables extends NoticeTables, PlatformTables {
  readonly checks: CheckRow;
  readonly check_reports: CheckReportRow;
  readonly verdict_series: VerdictSeriesRow;
  readonly verdict_points: VerdictPointRow;
  readonly verdict_hours: VerdictHourRow;
  readonly verdict_reports: VerdictReportRow;
  readonly alerts: AlertRow;
  readonly alert_history: AlertHistoryRow;
  readonly outbox: OutboxRow;
  readonly outbox_alerts: { readonly alert_id: string; readonly seq: number };
  readonly receiver_pauses: { readonly receiver: string; readonly until_ms: number };
  readonly silences: SilenceRow;
  readonly deliveries: DeliveryRow;
  readonly delivery_slugs: { readonly slug: string; readonly at_ms: number; readonly notification_id: string };
  readonly markers: MarkerRow;
  readonly gate_releases: GateReleaseRow;
  readonly meta: { readonly name: string; readonly value: string };
}

/** The database, or a transaction on it: the stores do not tell them apart. */
export type Db = Kysely<Tables>;
