import type { Kysely } from "kysely";
import { runStatements, type MigrationStatement } from "./statements.ts";

const statements: readonly MigrationStatement[] = [
  // What has changed in the published rows of event_minutes, in the order of the commits, for those who keep sums of them in
  // memory (store/events/sums/event-sums.ts). position counts the cells up to and with this row, so that the newest rows can be kept by
  // their size; weight is this row's share. detail is a JSON array of whole numbers, by kind:
  //   added: slug_id, minute, type_id, deaths, again and again · published: import_id · pruned: the first minute that stays
  {
    sqlite: `CREATE TABLE event_changes (
     position INTEGER PRIMARY KEY, weight INTEGER NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL)`,
  },
];

/** The journal of changes to the counts of events. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, statements);
}
