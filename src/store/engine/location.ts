import type { Secret } from "../../base/secret.ts";

/** The database systems that the store can be in. */
export type StoreEngine = "sqlite" | "postgres";

/** A database file of one machine. */
export interface SqliteLocation {
  /** Its folder is made when it is missing. */
  readonly path: string;
}

/** A PostgreSQL that any number of processes share. */
export interface PostgresLocation {
  /** postgres://USER:PASSWORD@HOST:PORT/DATABASE; tables are in the first schema of the connection's search_path. */
  readonly url: Secret;
  /** Connections of this process at most [10]. */
  readonly poolSize?: number;
}

/** Where a store is. */
export type StoreLocation = SqliteLocation | PostgresLocation;
