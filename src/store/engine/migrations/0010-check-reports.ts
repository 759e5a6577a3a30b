import type { Kysely } from "kysely";
import { runStatements, type MigrationStatement } from "./statements.ts";

const statements: readonly MigrationStatement[] = [
  // Of the last result's report what changes in each run (report-parts.ts), and the name of what does not.
  `ALTER TABLE checks ADD COLUMN report_values BLOB`,
  `ALTER TABLE checks ADD COLUMN report_shape TEXT`,
  // What does not: a kilobyte that would be written again with each run if it stood in the row of the schedule.
  `CREATE TABLE check_reports (
     check_id INTEGER NOT NULL REFERENCES checks (check_id) ON DELETE CASCADE,
     shape_id TEXT NOT NULL, shape TEXT NOT NULL,
     PRIMARY KEY (check_id))`,
];

/** Last reports apart from the schedule. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, statements);
}
