import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { FlatlineError } from "../../base/errors.ts";
import { retrying, type RetryOptions } from "../../base/retry.ts";
import { createSystemClock } from "../../base/time.ts";

// Other writers hold the lock for some ms; five seconds are not normal, except for an import of events. The owner of
// the lock lives in real time, also when a test has a virtual clock.
export const untilFree: RetryOptions = {
  clock: createSystemClock(),
  withinMs: 5_000,
  firstMs: 1,
  longestMs: 50,
  isPassing: (error) => isBusy(error) || (error instanceof FlatlineError && error.code === "store_busy"),
};
/** "flat" in ASCII: identifies our databases for `file` and for our own checks. */
export const applicationId = 0x66_6c_61_74;
// Shortens the log that a killed import leaves to a running daemon; an ordinary day needs a few megabytes.
const walBytes = 64 * 1_024 * 1_024;
// 16 MB: some rows change constantly, and a checkpoint writes each of their pages once.
const checkpointPages = 4_000;

/**
 * Opens an existing file as flatline's database, or initializes an empty one; leaves any other database untouched.
 * @throws FlatlineError store_unusable, store_busy
 */
export async function connectSqlite(path: string): Promise<DatabaseSync> {
  // SQLite must not wait: it would block the event loop.
  const database = openDatabase(path, 0);
  try {
    await whenFree(path, () => adopt(database, path));
    await whenFree(path, () => useWal(database, path));
    tune(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Sets what SQLite does not store in the file. */
export function tune(database: DatabaseSync): void {
  // FULL: a delivery that was acknowledged must survive a power cut, otherwise it is sent again.
  database.exec("pragma synchronous = full");
  database.exec("pragma foreign_keys = on");
  // 16 MiB: the system keeps the pages of the file, too, and an import may take 150 MB with it (CONTRACT 10).
  database.exec("pragma cache_size = -16384");
  database.exec(`pragma journal_size_limit = ${walBytes}`);
  database.exec(`pragma wal_autocheckpoint = ${checkpointPages}`);
}

/**
 * Opens a connection to an existing file; SQLite would create a missing one, also in place of a store that was deleted
 * under a daemon. `timeoutMs` limits a statement's wait for a lock.
 * @throws FlatlineError store_unusable
 */
export function openDatabase(path: string, timeoutMs: number): DatabaseSync {
  try {
    return new DatabaseSync(databaseUri(path, "mode=rw"), { timeout: timeoutMs });
  } catch (error) {
    throw storeError(error, path);
  }
}

/** Returns the file as SQLite's URI, as text: a URL object crashes Node.js 24.21 in a thread that is terminated. */
export function databaseUri(path: string, query: string): string {
  return `${pathToFileURL(path).href}?${query}`;
}

function adopt(database: DatabaseSync, path: string): void {
  const read = (sql: string): unknown => Object.values(database.prepare(sql).get() ?? {})[0];
  const isOurs = (): boolean => read("pragma application_id") === applicationId;
  if (isOurs()) return;
  // Another process may be initializing it at the same time.
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
 * Retries `attempt` until no other connection holds the database's lock, with pauses of 1 to 50 ms.
 * @throws FlatlineError store_busy after `options.withinMs` [5 s], store_unusable
 */
export async function whenFree<Result>(
  path: string,
  attempt: () => Result | Promise<Result>,
  options: RetryOptions = untilFree,
): Promise<Result> {
  try {
    return await retrying(async () => attempt(), options);
  } catch (error) {
    throw storeError(error, path);
  }
}

// Primary result codes, https://sqlite.org/rescode.html; extended codes contain them in the low byte. 15: many
// processes opened the write-ahead log at once.
const busyCodes: ReadonlySet<number> = new Set([5, 6, 15]);
const unusableCodes: Readonly<Record<number, string>> = {
  3: "permission denied; check its permissions",
  7: "out of memory",
  8: "it is read-only; check the permissions of the file and its folder",
  10: "the disk has an input or output error",
  11: "it is damaged; restore it from a backup, or move it away to start with an empty store",
  13: "the disk is full",
  14: "it cannot be opened; check that the folder exists and that this user may write to it",
  26: "it is not an SQLite database; choose another storage.path",
};

/** Maps SQLite's errors to FlatlineErrors; returns other errors as they are. */
export function storeError(error: unknown, path: string): unknown {
  const code = resultCodeOf(error);
  if (code === null) return error;
  if (isBusy(error)) {
    return new FlatlineError("store_busy", `the store ${path} is locked by another process`, { cause: error });
  }
  const meaning = unusableMeaning(code);
  if (meaning === null) return error;
  return new FlatlineError("store_unusable", `the store ${path} cannot be used: ${meaning}`, { cause: error });
}

/** Returns whether another connection holds a lock. */
export function isBusy(error: unknown): boolean {
  return busyCodes.has(resultCodeOf(error) ?? 0);
}

/** Returns the meaning of a primary result code for an unusable store, with what to do; null for other codes. */
export function unusableMeaning(code: number | null): string | null {
  return code === null ? null : (unusableCodes[code] ?? null);
}

/** Returns the primary result code of an SQLite error; null for any other error. */
export function resultCodeOf(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return null;
  return error.errcode & 0xff;
}

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
export const damageCodes: readonly (number | null)[] = [11, 26];

// Read completely at about 200 MB/s (measured 2026-11 on two shared cores, from memory): a tenth of a second.
const mostCheckedBytes = 16 * 1_024 * 1_024;
const checkWaitMs = 1_000;

/**
 * Checks all of a file of up to 16 MiB, by a connection of its own: an open one has most pages in memory, and SQLite
 * finds a damaged page only when it reads it. @throws store_unusable for damage
 */
export function checkForDamage(path: string): void {
  try {
    using database = openDatabase(path, checkWaitMs);
    const read = (text: string): unknown => Object.values(database.prepare(text).get() ?? {})[0];
    if (Number(read("pragma page_count")) * Number(read("pragma page_size")) > mostCheckedBytes) return;
    const found = String(read("pragma quick_check(1)"));
    if (found === "ok") return;
    const where = found.split("\n").at(-1) ?? "";
    throw new FlatlineError(
      "store_unusable",
      `the store ${path} cannot be used: it is damaged (${where}); ` +
        "restore it from a backup, or move it away to start with an empty store",
    );
  } catch (error) {
    throw storeError(error, path);
  }
}
