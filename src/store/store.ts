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
  /** postgres://USER:PASSWORD@HOST:PORT/DATABASE; the tables are in the first schema of its search_path. */
  readonly url: Secret;
  /** Maximum number of connections of this process [10]. */
  readonly poolSize?: number;
}

/** The location of a store. */
export type StoreLocation = SqliteLocation | PostgresLocation;

/** Creates the error of a command that only reads, when there is no store; `place` is the store's name in messages. */
export function noStore(place: string): FlatlineError {
  const message =
    `there is no store at ${place}, and this command does not create one: ` +
    "`flatline run`, `flatline import` and `flatline keys create` do";
  return new FlatlineError("no_input", message);
}

/** A problem of an open store. */
export interface StoreProblem {
  readonly kind: "deleted" | "replaced" | "damaged" | "failing";
  /** The store's name in messages. */
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
  /** The time of the database server, which shows that it answers; of the machine for a file; epoch ms. */
  nowMs(): Promise<number>;
  /** Size of the database, with SQLite's write-ahead log or PostgreSQL's indexes, bytes. */
  bytes(): Promise<number>;
  /**
   * Checks that the open file is still the one at its path, and can be used; cheap enough for every few seconds. null:
   * no problem is known; always with PostgreSQL, whose statements fail with their reason.
   */
  problem(): Promise<StoreProblem | null>;
  /** Looks for damage in a file of up to 16 MiB; does nothing for others and PostgreSQL. @throws store_unusable */
  check(): Promise<void>;
  /** How many statements have failed because the file could not be used; each may have been done all the same. */
  failures(): number;
  close(): Promise<void>;
}
