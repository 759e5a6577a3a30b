import { Kysely, PostgresDialect } from "kysely";
import { createSystemClock } from "../../base/time.ts";
import { postgresPlace } from "../../base/postgres-url.ts";
import { ClockedPostgresAdapter } from "./dialect.ts";
import { Fence } from "./fence.ts";
import type { PostgresLocation } from "./location.ts";
import { createPostgresPool, patientTimeoutMs, type PostgresPoolOptions, type StorePool } from "./postgres-pool.ts";
import type { PlainDb, PlainTables } from "../schema.ts";

/** Opens separate connections for long writes of events; connects on first use. The schema must exist; `destroy` closes them. */
export function openPostgresEvents(
  location: PostgresLocation,
  { epoch = 0, staging }: { readonly epoch?: number; readonly staging?: "disk" },
): PlainDb {
  const fence = new Fence(postgresPlace(location.url.reveal()), epoch);
  const timeoutMs = staging === "disk" ? { timeoutMs: patientTimeoutMs } : {};
  return databaseOver<PlainTables>(createPostgresPool({ ...location, ...timeoutMs, fence }), {});
}

/** Creates a database over a pool; work on it is tried again by `retryClock`. */
export function databaseOver<Schema>(
  pool: StorePool,
  { retryClock = createSystemClock() }: Pick<PostgresPoolOptions, "retryClock">,
): Kysely<Schema> {
  class ClockedPostgresDialect extends PostgresDialect {
    override createAdapter(): ClockedPostgresAdapter {
      return new ClockedPostgresAdapter(retryClock);
    }
  }
  return new Kysely<Schema>({ dialect: new ClockedPostgresDialect({ pool }) });
}
