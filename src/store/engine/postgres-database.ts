import { Kysely, PostgresDialect } from "kysely";
import { TurnsPostgresAdapter } from "./dialect.ts";
import type { StorePool } from "./postgres-pool.ts";

/** Creates a database over a pool. */
export function databaseOver<Schema>(pool: StorePool): Kysely<Schema> {
  class TurnsPostgresDialect extends PostgresDialect {
    override createAdapter(): TurnsPostgresAdapter {
      return new TurnsPostgresAdapter();
    }
  }
  return new Kysely<Schema>({ dialect: new TurnsPostgresDialect({ pool }) });
}
