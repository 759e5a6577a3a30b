import type { Kysely } from "kysely";
import { runStatements, type MigrationStatement } from "./statements.ts";

const statements: readonly MigrationStatement[] = [
  // Who of a receiver's recipients it is for; empty where the receiver is one.
  `ALTER TABLE outbox ADD COLUMN recipient TEXT NOT NULL DEFAULT ''`,
  `ALTER TABLE deliveries ADD COLUMN recipient TEXT NOT NULL DEFAULT ''`,
  // The receiver asked for it (Retry-After); nothing is claimed for it until then.
  `CREATE TABLE receiver_pauses (receiver TEXT PRIMARY KEY, until_ms INTEGER NOT NULL) WITHOUT ROWID`,
  // The fleet verdict that it told of; most tell of none.
  `ALTER TABLE deliveries ADD COLUMN fleet_id TEXT`,
  `CREATE INDEX deliveries_by_fleet ON deliveries (fleet_id) WHERE fleet_id IS NOT NULL`,
];

/** A delivery for each recipient; and pauses that receivers ask for, for replicas, commands and the next start. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, statements);
}
