import { FlatlineError } from "../../base/errors.ts";
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

/** Says to a command that only reads that there is nothing to read; `place` is what messages call the store. */
export function noStore(place: string): FlatlineError {
  const message = `there is no store at ${place}, and this command makes none: \`flatline run\` and \`flatline import\` do`;
  return new FlatlineError("no_input", message);
}
