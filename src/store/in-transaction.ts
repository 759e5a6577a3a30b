import type { Db } from "./schema.ts";

/** Does `work` in one transaction: the surrounding one if there is one, else one of its own. */
export function inTransaction<Result>(db: Db, work: (db: Db) => Promise<Result>): Promise<Result> {
  return db.isTransaction ? work(db) : db.transaction().execute(work);
}
