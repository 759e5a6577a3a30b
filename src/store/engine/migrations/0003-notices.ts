import type { Kysely } from "kysely";
import { runStatements, type MigrationStatement } from "./statements.ts";

const statements: readonly MigrationStatement[] = [
  // Written with the alert's state, settled when nobody waits for it; the last one of an alert is kept for its snapshot.
  `CREATE TABLE alert_changes (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, alert_id TEXT NOT NULL, check_name TEXT NOT NULL, slug TEXT NOT NULL,
     kind TEXT NOT NULL, at_ms INTEGER NOT NULL, event TEXT NOT NULL, severity TEXT NOT NULL, reason TEXT NOT NULL,
     is_settled INTEGER NOT NULL DEFAULT 0, snapshot TEXT NOT NULL)`,
  `CREATE INDEX alert_changes_by_alert ON alert_changes (alert_id, seq)`,
  `CREATE INDEX alert_changes_unsettled ON alert_changes (seq) WHERE is_settled = 0`,
  `CREATE TABLE alert_told (
     alert_id TEXT NOT NULL, receiver TEXT NOT NULL, seq INTEGER NOT NULL, severity TEXT NOT NULL,
     told_at_ms INTEGER NOT NULL, is_ended INTEGER NOT NULL,
     PRIMARY KEY (alert_id, receiver)) WITHOUT ROWID`,
  `CREATE TABLE receiver_states (
     receiver TEXT PRIMARY KEY, last_new_at_ms INTEGER, told_fleet_id TEXT, last_fleet_at_ms INTEGER) WITHOUT ROWID`,
  `CREATE TABLE fleets (
     id TEXT PRIMARY KEY, check_name TEXT NOT NULL, starts_at_ms INTEGER NOT NULL, ends_at_ms INTEGER,
     peak_spiking INTEGER NOT NULL, organizations INTEGER NOT NULL) WITHOUT ROWID`,
  // Without rows: who holds its lock forms notifications. In SQLite nobody else writes meanwhile.
  { postgres: `CREATE TABLE notifier_turns ()` },
  // One lasts at a time.
  `CREATE UNIQUE INDEX fleets_live ON fleets (check_name) WHERE ends_at_ms IS NULL`,
];

/** What receivers are to be told, what they were told, and the fleet verdicts. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, statements);
}
