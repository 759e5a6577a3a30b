import { Kysely, PostgresDialect } from "kysely";
import { createPostgresPool, type PostgresPoolOptions } from "./postgres-pool.ts";
import type { Db, Tables } from "../schema.ts";

/** Connections of their own for long writes; opens none yet. The schema has to be there; `destroy` closes them. */
export function openPostgresDatabase(options: PostgresPoolOptions): Db {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: createPostgresPool(options) }) });
}
