import type { Kysely } from "kysely";
import { turnsOf } from "./dialect.ts";

/**
 * Runs `work` in the surrounding transaction, or in a new one. Transactions of one database come one after the other, as SQLite
 * has it: none meets another one's changes, or has to begin again.
 */
export function inTransaction<Tables, Result>(
  db: Kysely<Tables>,
  work: (db: Kysely<Tables>) => Promise<Result>,
): Promise<Result> {
  if (db.isTransaction) return work(db);
  return turnsOf(db)(() => db.transaction().execute(work));
}
