import { sql } from "kysely";
import { FlatlineError } from "../../base/errors.ts";
import { createSystemClock, minuteMs } from "../../base/time.ts";
import type { Db } from "../schema.ts";

// Polls: a wait in the database would be ended by its timeouts.
const lookAgainMs = 100;
const longestWaitMs = 10 * minuteMs;
// An arbitrary number; the second number of the advisory lock is the hash of the name.
const lockClass = 0x66_6c_65_78;

/**
 * Runs `work` while no other process on the same PostgreSQL runs work of this name. The advisory lock belongs to the
 * session, so it ends with the process.
 * @throws store_busy if others hold the lock for ten minutes
 */
export function exclusively<Result>(db: Db, name: string, work: () => Promise<Result>): Promise<Result> {
  const clock = createSystemClock();
  return db.connection().execute(async (connection) => {
    const deadlineMs = clock.monotonicMs() + longestWaitMs;
    const isOurs = async (): Promise<boolean> => {
      const { rows } = await sql<{ is_ours: boolean }>`
        SELECT pg_try_advisory_lock(${lockClass}::int, hashtext(${name})) AS is_ours`.execute(connection);
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
      await sql`SELECT pg_advisory_unlock(${lockClass}::int, hashtext(${name}))`.execute(connection);
    }
  });
}
