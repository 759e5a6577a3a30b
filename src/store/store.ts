import { FlatlineError } from "../base/errors.ts";
import type { Secret } from "../base/secret.ts";
import type { StoreParts } from "./store-parts.ts";
import type { TakeWriterOptions, Writer } from "./writer.ts";

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

/** What is wrong with a store that was opened. */
export interface StoreProblem {
  readonly kind: "deleted" | "replaced" | "damaged" | "failing";
  /** What messages call the store. */
  readonly place: string;
  /** What happened and what to do, without the place. */
  readonly message: string;
}

/**
 * The only way to stored state. Methods are async so that a database over the network fits behind them; each one is one
 * statement or one transaction. Rejects with `store_busy`, `store_unusable` or `store_newer`.
 */
export interface Store extends StoreParts {
  /** Whether it is a database on a server, which may be away, and not a file. */
  readonly isRemote: boolean;
  /**
   * Runs `work` in one write transaction: all of it is durable when the promise resolves, or none. `work` uses the
   * given parts only, never the store's own: those would wait for it (SQLite), or not see what it did (PostgreSQL). One
   * transaction comes after the other.
   */
  transaction<Result>(work: (parts: StoreParts) => Promise<Result>): Promise<Result>;
  /**
   * Makes this process the one that writes, until `close`. A store in PostgreSQL takes no writes before; a file does,
   * from commands beside a daemon. @throws store_busy with who writes, when that does not end in time
   */
  takeWriter(options?: TakeWriterOptions): Promise<Writer>;
  /** Now by the database server's clock, which shows that it answers; for a file the machine's; epoch ms. */
  nowMs(): Promise<number>;
  /** Size of the database, with SQLite's write-ahead log or PostgreSQL's indexes, bytes. */
  bytes(): Promise<number>;
  /**
   * Whether the file that is open is still the one at its path, and can be used; cheap enough for every few seconds.
   * null: as far as that shows; always with PostgreSQL, which says of itself what it can not do.
   */
  problem(): Promise<StoreProblem | null>;
  /** Reads a file as a start does; of a large one only what alerting needs. Nothing with PostgreSQL. @throws store_unusable for damage */
  check(): Promise<void>;
  /** How many statements have failed because the file could not be used; each may have been done all the same. */
  failures(): number;
  close(): Promise<void>;
}
