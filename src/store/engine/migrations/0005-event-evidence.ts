import type { Kysely } from "kysely";
import { runStatements, type MigrationStatement } from "./statements.ts";

const statements: readonly MigrationStatement[] = [
  // A set of attributes as a JSON object with its names in order; an event names it by a small integer.
  `CREATE TABLE event_attribute_sets (attribute_set_id INTEGER PRIMARY KEY, attributes TEXT NOT NULL UNIQUE)`,
  `ALTER TABLE events ADD COLUMN attribute_set_id INTEGER`,
  // When the rows of import 0 came in, from this ordinal on; a row an instant and post, none an event. Those before the first
  // one came in before anybody took note. Rows of other imports came in when their import was published.
  `CREATE TABLE event_receipts (first_ordinal INTEGER PRIMARY KEY, received_at_ms INTEGER NOT NULL)`,
];

/** What events say of themselves, and when they came in. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, statements);
}
