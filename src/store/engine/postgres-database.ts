import { Kysely, PostgresDialect } from "kysely";
import { createSystemClock } from "../../base/time.ts";
import { ClockedPostgresAdapter } from "./dialect.ts";
import { createPostgresPool, type PostgresPoolOptions, type StorePool } from "./postgres-pool.ts";
import type { PlainDb, PlainTables } from "../schema.ts";

/**
 * Creates a pool with separate connections for long writes; connects on first use. The schema must exist; `destroy` closes
 * the connections.
 */
export function openPostgresDatabase(options: PostgresPoolOptions): PlainDb {
  return databaseOver<PlainTables>(createPostgresPool(options), options);
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
