import { dirname } from "node:path";
import { Kysely } from "kysely";

import { FlatlineError } from "../../base/errors.ts";
import { retrying } from "../../base/retry.ts";
import { secondMs, type Clock } from "../../base/time.ts";
import { inTransaction } from "../engine/in-transaction.ts";
import { eventsPathOf, type StoreLocation } from "../engine/location.ts";
import { createSqliteDialect } from "../engine/sqlite-driver.ts";
import { openDatabase, tune, untilFree } from "../engine/sqlite-file.ts";
import type { PlainDb, PlainTables } from "../schema.ts";
import { stopped } from "./read.ts";
import type { Staging } from "./stage.ts";

export interface EventDatabaseOptions {
  readonly clock: Clock;
  /** Where the rows of an import lie until they are merged [in memory]. */
  readonly staging?: "disk";
  /** The epoch in which this process writes to a PostgreSQL [0, of a file]. */
  readonly epoch?: number;
  /** How the file is opened [openDatabase]. */
  readonly connect?: (path: string) => ReturnType<typeof openDatabase>;
}

// 8 MiB of pages, of the events and of what is staged: an import of any size takes no more.
const cacheKib = 8_192;
const poolSize = 1;
// As SQLite polls a lock.
const [firstMs, longestMs] = [5, 100];

/** Opens connections for long writes of events; the schema must exist. `destroy` closes them. */
export async function openEventDatabase(location: StoreLocation, options: EventDatabaseOptions): Promise<PlainDb> {
  if ("url" in location) {
    // Loaded on demand.
    const { openPostgresEvents } = await import("../engine/postgres-database.ts");
    return openPostgresEvents({ ...location, poolSize }, options);
  }
  const { clock, connect = (path: string) => openDatabase(path, 0) } = options;
  const path = eventsPathOf(location.path);
  const open = async (): Promise<ReturnType<typeof openDatabase>> => {
    const database = connect(path);
    tune(database);
    database.exec(`PRAGMA cache_size = -${cacheKib}`);
    if (options.staging !== "disk") database.exec("PRAGMA temp_store = memory");
    // Beside the store: the system's folder for such files may be in memory, or not writable.
    else database.exec(`PRAGMA temp_store_directory = '${dirname(path).replaceAll("'", "''")}'`);
    return database;
  };
  const untilFreeBriefly = { ...untilFree, withinMs: secondMs };
  return new Kysely<PlainTables>({
    dialect: createSqliteDialect({ path, clock, connect: open, untilFree: untilFreeBriefly }),
  });
}

export interface EventWriteOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Maximum wait for another writer of events; Infinity: an import, which may take minutes itself. */
  readonly waitMs: number;
}

/**
 * Numbers the names of what is staged, and runs `work` in a transaction on `connection`; it may run again. Waits for other
 * writers.
 * @throws store_busy when another one writes for longer than `waitMs`, unavailable when the signal aborts
 */
export async function writeEvents<Result>(
  connection: PlainDb,
  staging: Staging,
  work: (transaction: PlainDb) => Promise<Result>,
  options: EventWriteOptions,
): Promise<Result> {
  const attempt = async (): Promise<Result> => {
    await staging.number(connection);
    return inTransaction(connection, work);
  };
  return untilWritten(attempt, options);
}

/** Runs `write` again while another process writes events. @throws store_busy, unavailable as {@link writeEvents} */
export async function untilWritten<Result>(
  write: () => Promise<Result>,
  { clock, signal, waitMs: withinMs }: Pick<EventWriteOptions, "clock" | "signal" | "waitMs">,
): Promise<Result> {
  const isPassing = (error: unknown): boolean => error instanceof FlatlineError && error.code === "store_busy";
  try {
    if (signal.aborted) throw stopped();
    return await retrying(write, { clock, withinMs, firstMs, longestMs, isPassing, signal });
  } catch (error) {
    if (signal.aborted) throw stopped();
    if (!isPassing(error)) throw error;
    throw new FlatlineError("store_busy", "another process stores events, as an import does: send them again later", {
      cause: error,
    });
  }
}
