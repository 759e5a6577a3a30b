import { Kysely, PostgresDialect } from "kysely";
import { postgresPlace } from "../../base/postgres-url.ts";
import { TurnsPostgresAdapter } from "./dialect.ts";
import { Fence } from "./fence.ts";
import type { PostgresLocation } from "./location.ts";
import { createPostgresPool, patientTimeoutMs, type StorePool } from "./postgres-pool.ts";
import type { PlainDb, PlainTables } from "../schema.ts";

/** Opens separate connections for long writes of events; connects on first use. The schema must exist; `destroy` closes them. */
export function openPostgresEvents(
  location: PostgresLocation,
  { epoch = 0, staging }: { readonly epoch?: number; readonly staging?: "disk" },
): PlainDb {
  const fence = new Fence(postgresPlace(location.url.reveal()), epoch);
  const timeoutMs = staging === "disk" ? { timeoutMs: patientTimeoutMs } : {};
  return databaseOver<PlainTables>(createPostgresPool({ ...location, ...timeoutMs, fence }));
}

/** Creates a database over a pool. */
export function databaseOver<Schema>(pool: StorePool): Kysely<Schema> {
  class TurnsPostgresDialect extends PostgresDialect {
    override createAdapter(): TurnsPostgresAdapter {
      return new TurnsPostgresAdapter();
    }
  }
  return new Kysely<Schema>({ dialect: new TurnsPostgresDialect({ pool }) });
}
