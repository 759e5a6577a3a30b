import { Kysely, PostgresDialect } from "kysely";
import { createPostgresPool, type PostgresPoolOptions } from "./postgres-pool.ts";
import type { Db, Tables } from "../schema.ts";

/**
 * Creates a pool with separate connections for long writes; connects on first use. The schema must exist; `destroy` closes
 * the connections.
 */
export function openPostgresDatabase(options: PostgresPoolOptions): Db {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: createPostgresPool(options) }) });
}
