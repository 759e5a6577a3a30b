import { FlatlineError } from "../../base/errors.ts";
import { createSystemClock } from "../../base/time.ts";
import { engineOf } from "./engine.ts";
import { isConflict } from "./postgres-error.ts";
import type { Db } from "../schema.ts";

// Of those that conflict one gets through each time: more than these in a row want the same rows all the time.
const attempts = 10;
const pauseMs = 3;

/**
 * What a transaction on PostgreSQL reads. `begin`: the database as it was when it began (REPEATABLE READ); when somebody else
 * changed a row that it changes, it is undone. `latest`: at each statement what others have committed by then (READ COMMITTED),
 * for work that locks what it relies on: it waits where the other would be undone.
 */
export type TransactionReads = "begin" | "latest";

const isolations = { begin: "repeatable read", latest: "read committed" } as const;

/**
 * Does `work` in one transaction: the surrounding one if there is one, else one of its own. On PostgreSQL, where it was undone
 * because of others, all of it is done again, so that `work` may run more than once and must leave nothing behind outside of
 * the database.
 * @throws FlatlineError store_busy when others keep on changing the same rows
 */
export async function inTransaction<Result>(
  db: Db,
  work: (db: Db) => Promise<Result>,
  reads: TransactionReads = "begin",
): Promise<Result> {
  if (db.isTransaction) return work(db);
  if (engineOf(db) === "sqlite") return db.transaction().execute(work);
  const clock = createSystemClock();
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().setIsolationLevel(isolations[reads]).execute(work);
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (attempt >= attempts)
        throw new FlatlineError("store_busy", "the store has been changed by others each time", { cause: error });
    }
    // They wait for the same row and not for each other; who comes next is a matter of who asks first.
    await clock.sleep(attempt * pauseMs);
  }
}
