import { randomBytes } from "node:crypto";
import { link, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { FlatlineError, messageOf, systemCodeOf } from "../base/errors.ts";
import { noStore } from "./store.ts";
import { applicationId, openDatabase, storeError } from "./engine/sqlite-file.ts";

export interface BackupOptions {
  /** Absolute path of the store's file. */
  readonly path: string;
  /** Absolute path of the copy; nothing may be there yet. */
  readonly target: string;
}

interface BackupOutcome {
  readonly bytes: number;
  readonly schemaVersion: number;
}

// A reader waits at most for the recovery of a write-ahead log, which takes milliseconds.
const lockTimeoutMs = 5_000;
const allPages = 0x7f_ff_ff_ff;

/**
 * Copies a store as it is at one moment, also while a daemon writes to it: one read transaction holds up no writer. The
 * copy is complete and checked before it gets its name; a failure leaves nothing behind.
 * @throws no_input without a store, usage for a target that exists, store_unusable, store_busy
 */
export async function backupStore({ path, target }: BackupOptions): Promise<BackupOutcome> {
  const store = await stat(path).catch(() => null);
  if (store === null || !store.isFile()) throw noStore(path);
  if ((await stat(target).catch(() => null)) !== null) throw alreadyThere(target);
  const copy = `${target}.${randomBytes(6).toString("hex")}.part`;
  try {
    await makeFile(copy, target);
    await copyPages(path, copy);
    const schemaVersion = checkCopy(copy, path);
    await syncPath(copy);
    // Unlike a rename it never replaces a file that another process made meanwhile; some file systems have no links.
    await link(copy, target).catch((error: Error) => {
      if (systemCodeOf(error) === "EEXIST") throw alreadyThere(target);
      return rename(copy, target);
    });
    await syncPath(dirname(target));
    return { schemaVersion, bytes: (await stat(target)).size };
  } finally {
    for (const file of [copy, `${copy}-journal`]) await rm(file, { force: true });
  }
}

function alreadyThere(target: string): FlatlineError {
  return new FlatlineError("usage", `${target} exists already: choose another name`);
}

/** Makes an empty file that its owner alone can read: SQLite keeps the mode of a file that is there. */
async function makeFile(copy: string, target: string): Promise<void> {
  const file = await open(copy, "wx", 0o600).catch((error: Error) => {
    const reason = systemCodeOf(error) === "ENOENT" ? `there is no folder ${dirname(target)}` : messageOf(error);
    throw new FlatlineError("store_unusable", `${target} cannot be written: ${reason}`, { cause: error });
  });
  await file.close();
}

async function copyPages(path: string, copy: string): Promise<void> {
  try {
    using source = openDatabase(path, lockTimeoutMs);
    requireStore(source, path);
    // One step, on another thread, copies all pages: each commit of the daemon would restart several steps.
    await backup(source, copy, { rate: allPages });
  } catch (error) {
    throw storeError(error, path);
  }
}

/** Checks all of the copy, and makes it one file without a log; returns its schema version. Messages name `path`. */
function checkCopy(copy: string, path: string): number {
  try {
    using database = new DatabaseSync(copy);
    database.exec("pragma journal_mode = delete");
    requireStore(database, path);
    const found = String(database.prepare("pragma quick_check(1)").get()?.["quick_check"]);
    if (found !== "ok") throw new FlatlineError("store_unusable", `${path} is damaged: ${found}`);
    return Number(database.prepare("select max(version) as version from schema_version").get()?.["version"]);
  } catch (error) {
    throw storeError(error, path);
  }
}

function requireStore(database: DatabaseSync, path: string): void {
  if (database.prepare("pragma application_id").get()?.["application_id"] === applicationId) return;
  throw new FlatlineError("store_unusable", `${path} is not a store of flatline`);
}

/** Writes a file, or the names in a folder, to the disk. */
async function syncPath(path: string): Promise<void> {
  await using handle = await open(path, "r");
  await handle.sync();
}
