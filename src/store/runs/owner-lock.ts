import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { FlatlineError } from "../../base/errors.ts";
import { retrying } from "../../base/retry.ts";
import { secondMs, type Clock } from "../../base/time.ts";
import { storeError } from "../engine/sqlite-file.ts";

/** Proves that this process is the only daemon on a store in a file. */
export interface OwnerLock {
  release(): void;
}

// A daemon that is being replaced may still be closing.
const waitMs = 5 * secondMs;
const retryMs = 100;

/**
 * Takes the lock beside a store's file. The lock is the operating system's, on an empty file, and ends with the process: a
 * start after `kill -9` does not wait.
 * @throws FlatlineError store_busy while another daemon holds it, store_unusable
 */
export async function takeOwnerLock(storePath: string, clock: Clock): Promise<OwnerLock> {
  const path = `${storePath}-owner`;
  // Readable for the owner only, as the store is.
  closeSync(openSync(path, "a", 0o600));
  const isPassing = (error: unknown): boolean => error instanceof FlatlineError && error.code === "store_busy";
  const take = async (): Promise<OwnerLock> => {
    const lock = tryLock(path);
    if (lock !== null) return lock;
    throw new FlatlineError(
      "store_busy",
      `another flatline runs on the store ${storePath}: stop it, or give this one a file of its own (storage.path)`,
    );
  };
  return retrying(take, { clock, withinMs: waitMs, firstMs: retryMs, longestMs: retryMs, isPassing });
}

/** Takes the operating system's lock on an empty file, which it makes when there is none; null while another has it. */
function tryLock(path: string): OwnerLock | null {
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    // Nothing is written, so no journal file is needed.
    database.exec("pragma journal_mode = memory");
    database.exec("begin exclusive");
    const held = database;
    return { release: () => held.close() };
  } catch (error) {
    if (database?.isOpen === true) database.close();
    const known = storeError(error, path);
    if (known instanceof FlatlineError && known.code === "store_busy") return null;
    throw known;
  }
}
