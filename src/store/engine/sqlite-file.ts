import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { FlatlineError } from "../../base/errors.ts";
import { createSystemClock, type Clock } from "../../base/time.ts";

// Other writers hold the lock for at most 250 ms (CONTRACT 10); twenty of them in a row are no longer normal.
const busyAfterMs = 5_000;
/** "flat" in ASCII: what `file` and the checks of ours know our databases by. */
export const applicationId = 0x66_6c_61_74;
// What an import of millions of rows leaves behind is given back; a usual day needs a few megabytes.
const walBytes = 64 * 1_024 * 1_024;
// 16 MB: the rows of the schedule change all the time, and a checkpoint writes each of their pages once.
const checkpointPages = 4_000;

/**
 * Opens the file, which must exist, as flatline's database, an empty one included, and leaves any other untouched.
 * @throws FlatlineError store_unusable, store_busy
 */
export async function connectSqlite(path: string, clock: Clock): Promise<DatabaseSync> {
  // No waiting inside of SQLite: it would block the event loop.
  const database = openDatabase(path, 0);
  try {
    await whenFree(path, clock, () => adopt(database, path));
    await whenFree(path, clock, () => useWal(database, path));
    // FULL: what a receiver was told must survive a power cut, else it is told twice.
    database.exec("pragma synchronous = full");
    database.exec("pragma foreign_keys = on");
    database.exec("pragma cache_size = -65536");
    database.exec(`pragma journal_size_limit = ${walBytes}`);
    database.exec(`pragma wal_autocheckpoint = ${checkpointPages}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * A connection to a file that must exist: SQLite would make one that is missing, also in the place of a store that was deleted
 * from under a daemon. `timeoutMs` is how long a statement waits for a lock. @throws FlatlineError store_unusable
 */
export function openDatabase(path: string, timeoutMs: number): DatabaseSync {
  try {
    return new DatabaseSync(databaseUri(path, "mode=rw"), { timeout: timeoutMs });
  } catch (error) {
    throw storeError(error, path);
  }
}

/** The file as SQLite's URI. As text: given a URL, Node.js 24.21 crashes in a thread that is being ended. */
export function databaseUri(path: string, query: string): string {
  return `${pathToFileURL(path).href}?${query}`;
}

function adopt(database: DatabaseSync, path: string): void {
  const read = (sql: string): unknown => Object.values(database.prepare(sql).get() ?? {})[0];
  const isOurs = (): boolean => read("pragma application_id") === applicationId;
  if (isOurs()) return;
  // Another process may be making it this very moment.
  database.exec("begin immediate");
  try {
    if (!isOurs()) {
      if (read("select count(*) from sqlite_schema") !== 0) throw foreignDatabase(path);
      database.exec(`pragma application_id = ${applicationId}`);
    }
    database.exec("commit");
  } catch (error) {
    if (database.isTransaction) database.exec("rollback");
    throw error;
  }
}

function foreignDatabase(path: string): FlatlineError {
  return new FlatlineError("store_unusable", `${path} is a database of another program: choose another storage.path`);
}

function useWal(database: DatabaseSync, path: string): void {
  const row = database.prepare("pragma journal_mode = wal").get();
  if (row?.["journal_mode"] === "wal") return;
  throw new FlatlineError(
    "store_unusable",
    `the store ${path} cannot have a write-ahead log: it must be a file on a local disk that may be written`,
  );
}

/**
 * Does `attempt` as soon as no other connection holds the database's lock. In between others have the event loop.
 * @throws FlatlineError store_busy when it is held for 5 s, store_unusable
 */
export async function whenFree<Result>(path: string, clock: Clock, attempt: () => Result): Promise<Result> {
  let deadlineMs: number | null = null;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      const known = storeError(error, path);
      if (!(known instanceof FlatlineError) || known.code !== "store_busy") throw known;
      // Who holds the lock lives in real time, whatever the clock of a test says.
      const nowMs = createSystemClock().monotonicMs();
      deadlineMs ??= nowMs + busyAfterMs;
      if (nowMs >= deadlineMs) throw known;
      await clock.sleep(0);
    }
  }
}

// Primary result codes, https://sqlite.org/rescode.html; the extended ones carry them in the low byte. 15: many processes
// opened the write-ahead log at once.
const busyCodes: ReadonlySet<number> = new Set([5, 6, 15]);
const unusableCodes: Readonly<Record<number, string>> = {
  3: "it may not be read or written; check its permissions",
  7: "memory is exhausted",
  8: "it may not be written; check the permissions of the file and its folder",
  10: "the disk has an input or output error",
  11: "it is damaged; restore it from a backup, or move it away to begin anew",
  13: "the disk is full",
  14: "it cannot be opened; does the folder exist, and may this user write to it?",
  26: "it is not an SQLite database; choose another storage.path",
};

/** SQLite's own errors as ours; anything else as it is. */
export function storeError(error: unknown, path: string): unknown {
  const code = resultCodeOf(error);
  if (code === null) return error;
  if (busyCodes.has(code)) {
    return new FlatlineError("store_busy", `the store ${path} is locked by another process`, { cause: error });
  }
  const meaning = unusableMeaning(code);
  if (meaning === null) return error;
  return new FlatlineError("store_unusable", `the store ${path} cannot be used: ${meaning}`, { cause: error });
}

/** What a primary result code says of a store that cannot be used, and what to do; null for all others. */
export function unusableMeaning(code: number | null): string | null {
  return code === null ? null : (unusableCodes[code] ?? null);
}

/** The primary result code of an error of SQLite's; null for any other error. */
export function resultCodeOf(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return null;
  return error.errcode & 0xff;
}

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
export const damageCodes: readonly (number | null)[] = [11, 26];
