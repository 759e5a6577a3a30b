import { FlatlineError } from "../../base/errors.ts";
import type { Secret } from "../../base/secret.ts";

/** A database file of one machine. */
export interface SqliteLocation {
  /** The folder is created if it is missing. */
  readonly path: string;
}

/** A PostgreSQL database, to which one process writes. */
export interface PostgresLocation {
  /** postgres://USER:PASSWORD@HOST:PORT/DATABASE; the tables are in the first schema of the connection's search_path. */
  readonly url: Secret;
  /** Maximum number of connections of this process [10]. */
  readonly poolSize?: number;
}

/** The location of a store. */
export type StoreLocation = SqliteLocation | PostgresLocation;

/**
 * Creates the error of a command that only reads, when the store does not exist; `place` is the store's name in messages.
 */
export function noStore(place: string): FlatlineError {
  const message = `there is no store at ${place}, and this command does not create one: \`flatline run\`, \`flatline import\` and \`flatline keys create\` do`;
  return new FlatlineError("no_input", message);
}
