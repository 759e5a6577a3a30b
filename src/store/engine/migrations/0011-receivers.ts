import type { Kysely } from "kysely";
import { runStatements, type MigrationStatement } from "./statements.ts";

const statements: readonly MigrationStatement[] = [
  // The receiver asked for it (Retry-After); nothing is claimed for it until then.
  `CREATE TABLE receiver_pauses (receiver TEXT PRIMARY KEY, until_ms INTEGER NOT NULL) WITHOUT ROWID`,
];

/** Pauses that receivers ask for: shared by replicas, ended by commands, kept over a restart. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, statements);
}
