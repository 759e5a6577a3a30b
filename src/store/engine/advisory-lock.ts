import { sql } from "kysely";
import { FlatlineError } from "../../base/errors.ts";
import { minuteMs } from "../../base/time.ts";
import type { PlainDb } from "../schema.ts";
import { clockOf, dialectOf } from "./dialect.ts";

// Polls: a wait in the database would be ended by its timeouts.
const lookAgainMs = 100;
const longestWaitMs = 10 * minuteMs;
// Arbitrary numbers; the second number of an advisory lock is the hash of the name.
const sessionLockClass = 0x66_6c_65_78;
const transactionLockClass = 0x66_6c_74_75;

/**
 * Runs `work` while no other process on the same PostgreSQL runs work of this name. The advisory lock belongs to the
 * session, so it ends with the process.
 * @throws store_busy if others hold the lock for ten minutes
 */
export function exclusively<Result>(db: PlainDb, name: string, work: () => Promise<Result>): Promise<Result> {
  const clock = clockOf(db);
  return db.connection().execute(async (connection) => {
    const deadlineMs = clock.monotonicMs() + longestWaitMs;
    const isOurs = async (): Promise<boolean> => {
      const { rows } = await sql<{ is_ours: boolean }>`
        SELECT pg_try_advisory_lock(${sessionLockClass}::int, hashtext(${name})) AS is_ours`.execute(connection);
      return rows[0]?.is_ours === true;
    };
    while (!(await isOurs())) {
      if (clock.monotonicMs() > deadlineMs)
        throw new FlatlineError("store_busy", `another process holds the lock: ${name}`);
      await clock.sleep(lookAgainMs);
    }
    try {
      return await work();
    } finally {
      await sql`SELECT pg_advisory_unlock(${sessionLockClass}::int, hashtext(${name}))`.execute(connection);
    }
  });
}

/**
 * Takes the lock of this name until the transaction ends; returns false if another transaction holds it. For housekeeping
 * that one replica does for all, so the others need not wait.
 */
export async function tryTransactionLock(transaction: PlainDb, name: string): Promise<boolean> {
  if (!dialectOf(transaction).hasConcurrentWriters) return true;
  const { rows } = await sql<{ is_ours: boolean }>`
    select pg_try_advisory_xact_lock(${transactionLockClass}::int, hashtext(${name})) as is_ours`.execute(transaction);
  return rows[0]?.is_ours === true;
}

/** Waits for the lock of this name, and holds it until the transaction ends. */
export async function takeTransactionLock(transaction: PlainDb, name: string): Promise<void> {
  if (!dialectOf(transaction).hasConcurrentWriters) return;
  await sql`select pg_advisory_xact_lock(${transactionLockClass}::int, hashtext(${name}))`.execute(transaction);
}
