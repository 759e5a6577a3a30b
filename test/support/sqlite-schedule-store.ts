import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Kysely, sql } from "kysely";

import { createSystemClock } from "../../src/base/time.ts";
import { migrate } from "../../src/store/engine/migrations/migrations.ts";
import { createScheduleStore } from "../../src/store/runs/schedule-table.ts";
import type { ScheduleStore } from "../../src/store/runs/schedule.ts";
import type { Tables } from "../../src/store/schema.ts";
import { createSqliteDialect } from "../../src/store/engine/sqlite-driver.ts";

/** A real schedule in a file of its own, to which several connections can be made, as several processes would. */
export interface SqliteSchedule {
  connect(): Promise<ScheduleStore>;
  /** Closes every connection and deletes the file. */
  remove(): Promise<void>;
}

export async function createSqliteSchedule(): Promise<SqliteSchedule> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-schedule-"));
  const path = join(folder, "flatline.db");
  const connections: Kysely<Tables>[] = [];
  return {
    connect: async () => {
      // The machine's own clock: waiting for a lock is no part of the virtual time. It shows no work as long: the loop's
      // turns amid it, which only real time gives, would come while virtual time moves on.
      const clock = { ...createSystemClock(), monotonicMs: () => 0 };
      const db = new Kysely<Tables>({ dialect: createSqliteDialect({ path, clock }) });
      connections.push(db);
      // Days of commits in seconds: what a power cut would leave is not what these tests ask.
      await sql`pragma synchronous = off`.execute(db);
      await migrate(db as unknown as Kysely<unknown>, path);
      return createScheduleStore(db, "caller");
    },
    remove: async () => {
      for (const db of connections) await db.destroy();
      await rm(folder, { recursive: true });
    },
  };
}
