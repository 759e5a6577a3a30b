import type { Kysely } from "kysely";
import { runStatements, type MigrationStatement } from "./statements.ts";

const statements: readonly MigrationStatement[] = [
  // Claims want a receiver's oldest entries: without it each would sort all that wait there.
  `CREATE INDEX outbox_in_order ON outbox (receiver, seq)`,
];

/** The order of a receiver's queue. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, statements);
}
