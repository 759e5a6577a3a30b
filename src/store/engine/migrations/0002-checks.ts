import type { Kysely } from "kysely";
import { runStatements, type MigrationStatement } from "./statements.ts";

const statements: readonly MigrationStatement[] = [
  // The schedule and the last verdict: one row a (check, slug).
  `CREATE TABLE checks (
     check_id INTEGER PRIMARY KEY, check_name TEXT NOT NULL, slug TEXT NOT NULL,
     schedule_key TEXT NOT NULL, next_due_at_ms INTEGER NOT NULL,
     fence INTEGER NOT NULL DEFAULT 0, lease_owner TEXT, lease_until_ms INTEGER NOT NULL DEFAULT 0,
     last_run_at_ms INTEGER, last_success_at_ms INTEGER, severity TEXT, severity_since_ms INTEGER,
     last_report TEXT, last_result_report TEXT,
     UNIQUE (check_name, slug))`,
  `CREATE INDEX checks_by_due ON checks (next_due_at_ms)`,
  `CREATE INDEX checks_by_owner ON checks (lease_owner) WHERE lease_owner IS NOT NULL`,

  // History outlives the configuration: its series are named apart from the schedule's rows.
  `CREATE TABLE verdict_series (
     series_id INTEGER PRIMARY KEY, check_name TEXT NOT NULL, slug TEXT NOT NULL,
     last_full_at_ms INTEGER, last_digest TEXT,
     UNIQUE (check_name, slug))`,
  // One run: numbers only. severity is the index of contract/severity.ts.
  `CREATE TABLE verdict_points (
     series_id INTEGER NOT NULL, at_ms INTEGER NOT NULL, severity INTEGER NOT NULL,
     current_count REAL, baseline_count REAL, expected_count REAL,
     PRIMARY KEY (series_id, at_ms)) WITHOUT ROWID`,
  // Runs older than a week, one row an hour; the last one's numbers with the extremes of the count and the worst severity.
  `CREATE TABLE verdict_hours (
     series_id INTEGER NOT NULL, hour INTEGER NOT NULL, at_ms INTEGER NOT NULL, severity INTEGER NOT NULL,
     current_count REAL, baseline_count REAL, expected_count REAL, min_current_count REAL, max_current_count REAL,
     PRIMARY KEY (series_id, hour)) WITHOUT ROWID`,
  // Whole reports, deflated: at each change and once a day.
  `CREATE TABLE verdict_reports (
     series_id INTEGER NOT NULL, at_ms INTEGER NOT NULL, severity INTEGER NOT NULL, report BLOB NOT NULL,
     PRIMARY KEY (series_id, at_ms)) WITHOUT ROWID`,

  `CREATE TABLE alerts (
     id TEXT PRIMARY KEY, check_name TEXT NOT NULL, slug TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL,
     body TEXT NOT NULL,
     UNIQUE (check_name, slug, kind)) WITHOUT ROWID`,
  `CREATE TABLE alert_history (
     entry_id INTEGER PRIMARY KEY, alert_id TEXT NOT NULL, check_name TEXT NOT NULL, slug TEXT NOT NULL,
     kind TEXT NOT NULL, at_ms INTEGER NOT NULL, event TEXT NOT NULL, severity TEXT NOT NULL, reason TEXT NOT NULL)`,
  `CREATE INDEX alert_history_by_check ON alert_history (check_name, slug, at_ms)`,
  `CREATE INDEX alert_history_by_time ON alert_history (at_ms)`,

  // seq is the order in which notifications were formed, which receivers and alerts keep.
  `CREATE TABLE outbox (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, receiver TEXT NOT NULL, state TEXT NOT NULL,
     attempts INTEGER NOT NULL DEFAULT 0, created_at_ms INTEGER NOT NULL, next_attempt_at_ms INTEGER NOT NULL,
     lease_owner TEXT, lease_until_ms INTEGER NOT NULL DEFAULT 0, last_error TEXT, payload TEXT NOT NULL)`,
  `CREATE INDEX outbox_by_receiver ON outbox (receiver, state, next_attempt_at_ms)`,
  `CREATE TABLE outbox_alerts (
     alert_id TEXT NOT NULL, seq INTEGER NOT NULL REFERENCES outbox (seq) ON DELETE CASCADE,
     PRIMARY KEY (alert_id, seq)) WITHOUT ROWID`,
  `CREATE INDEX outbox_alerts_by_seq ON outbox_alerts (seq)`,

  `CREATE TABLE silences (
     id TEXT PRIMARY KEY, slug TEXT NOT NULL, check_name TEXT, starts_at_ms INTEGER NOT NULL,
     ends_at_ms INTEGER NOT NULL, comment TEXT NOT NULL, created_by TEXT, created_at_ms INTEGER NOT NULL) WITHOUT ROWID`,
  `CREATE INDEX silences_by_end ON silences (ends_at_ms)`,

  `CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`,
];

/** Schedule, verdict history, alerts, outbox and silences. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, statements);
}
