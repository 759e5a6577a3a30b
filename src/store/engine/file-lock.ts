import { closeSync, openSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { FlatlineError } from "../../base/errors.ts";
import { retrying } from "../../base/retry.ts";
import type { Clock } from "../../base/time.ts";
import { heldError, takeWithinMs, type TakeWriterOptions } from "../writer.ts";
import { databaseUri, isBusy, openDatabase, storeError } from "./sqlite-file.ts";

/** Proves that this process is the only one that writes to a store in a file; a second release does nothing. */
export interface FileLock {
  release(): void;
}

const retryMs = 100;

/** Returns the empty file whose lock is that of the store at this real path. */
export function lockPathOf(storePath: string): string {
  return `${storePath}-owner`;
}

/**
 * Takes the lock of a store's file, by its real path. The lock is the operating system's and ends with the process: a
 * start after `kill -9` does not wait.
 * @throws FlatlineError store_busy while another process holds it, store_unusable, unavailable when the signal aborts
 */
export async function takeFileLock(
  path: string,
  { clock, withinMs = takeWithinMs, signal }: TakeWriterOptions & { readonly clock: Clock },
): Promise<FileLock> {
  const take = async (): Promise<FileLock> => {
    if (signal?.aborted === true) throw new FlatlineError("unavailable", "stopped while another process writes");
    const lock = tryLock(lockPathOf(path));
    if (lock === null) throw heldError(path, holderOf(path));
    return lock;
  };
  return retrying(take, { clock, withinMs, firstMs: retryMs, longestMs: retryMs, isPassing });
}

const isPassing = (error: unknown): boolean => error instanceof FlatlineError && error.code === "store_busy";

/**
 * Waits until nobody has the file open by another name. A hard link has a lock of its own beside it, and, what is
 * worse, a log of its own: neither process would see what the other one commits.
 * @throws FlatlineError store_busy
 */
export async function requireOneName(path: string, clock: Clock): Promise<void> {
  const look = async (): Promise<void> => {
    if (statSync(path).nlink === 1 || !isOpen(path)) return;
    const lock = tryLock(lockPathOf(path));
    // The file is open by this name.
    if (lock === null) return;
    lock.release();
    throw heldError(path, holderOf(path));
  };
  await retrying(look, { clock, withinMs: takeWithinMs, firstMs: retryMs, longestMs: retryMs, isPassing });
}

/** Takes the operating system's lock on an empty file, and makes it if it is missing; null: another process has it. */
function tryLock(path: string): FileLock | null {
  let database: DatabaseSync | null = null;
  try {
    // Readable for the owner only, as the store is.
    closeSync(openSync(path, "a", 0o600));
    database = new DatabaseSync(path, { timeout: 0 });
    // Nothing is written, so no journal file is needed.
    database.exec("pragma journal_mode = memory");
    database.exec("begin exclusive");
    const held = database;
    return {
      release: () => {
        if (held.isOpen) held.close();
      },
    };
  } catch (error) {
    if (database?.isOpen === true) database.close();
    if (isBusy(error)) return null;
    throw storeError(error, path);
  }
}

/** Returns whether a process has the file open, by any name: it holds a shared lock on the file itself. */
function isOpen(path: string): boolean {
  try {
    using database = openDatabase(path, 0);
    database.exec("pragma locking_mode = exclusive");
    database.prepare("select count(*) from sqlite_schema").get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw storeError(error, path);
  }
}

/** Returns who writes, as the file itself says: a log beside another name cannot be read. */
function holderOf(path: string): string {
  try {
    using database = new DatabaseSync(databaseUri(path, "mode=ro&immutable=1"), { readOnly: true });
    const holder = database.prepare("select holder from writer").get()?.["holder"];
    return typeof holder === "string" && holder !== "" ? holder : "another process";
  } catch {
    return "another process";
  }
}
