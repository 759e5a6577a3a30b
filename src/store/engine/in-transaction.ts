import type { Kysely } from "kysely";
import { FlatlineError } from "../../base/errors.ts";
import { clockOf, dialectOf } from "./dialect.ts";
import { isConflict } from "./postgres-error.ts";

// In a conflict, one transaction succeeds each time: more conflicts in a row mean constant contention for the same rows.
const attempts = 10;
const pauseMs = 3;

/**
 * Isolation of a transaction on PostgreSQL. `begin`: REPEATABLE READ; it fails if another transaction changed a row that it
 * changes. `latest`: READ COMMITTED, for work that locks the rows it relies on: it waits instead of failing.
 */
export type TransactionReads = "begin" | "latest";

const isolations = { begin: "repeatable read", latest: "read committed" } as const;

/**
 * Runs `work` in the surrounding transaction, or in a new one. On PostgreSQL `work` runs again after a conflict, so it must
 * have no effects outside of the database.
 * @throws FlatlineError store_busy if conflicts continue
 */
export async function inTransaction<Tables, Result>(
  db: Kysely<Tables>,
  work: (db: Kysely<Tables>) => Promise<Result>,
  reads: TransactionReads = "begin",
): Promise<Result> {
  if (db.isTransaction) return work(db);
  if (!dialectOf(db).hasConcurrentWriters) return db.transaction().execute(work);
  const clock = clockOf(db);
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().setIsolationLevel(isolations[reads]).execute(work);
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (attempt >= attempts)
        throw new FlatlineError("store_busy", "other transactions changed the same rows in each attempt", {
          cause: error,
        });
    }
    // The transactions compete for one row, so retries are spread.
    await clock.sleep(attempt * pauseMs);
  }
}
