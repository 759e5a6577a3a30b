import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { FlatlineError } from "../../base/errors.ts";
import { retrying } from "../../base/retry.ts";
import { type Clock } from "../../base/time.ts";
import { storeError } from "../engine/sqlite-file.ts";
import { heldError, takeWithinMs, type TakeWriterOptions } from "../writer.ts";

/** Proves that this process is the only daemon on a store in a file; a second release does nothing. */
export interface OwnerLock {
  release(): void;
}

const retryMs = 100;

export interface OwnerLockOptions extends TakeWriterOptions {
  readonly clock: Clock;
  /** Returns who has it. */
  readonly holder: () => Promise<string>;
}

/**
 * Takes the lock beside a store's file. The lock is the operating system's, on an empty file, and ends with the process: a
 * start after `kill -9` does not wait.
 * @throws FlatlineError store_busy while another process holds it, store_unusable, unavailable when the signal aborts
 */
export async function takeOwnerLock(
  storePath: string,
  { clock, holder, withinMs = takeWithinMs, signal }: OwnerLockOptions,
): Promise<OwnerLock> {
  const path = `${storePath}-owner`;
  // Readable for the owner only, as the store is.
  closeSync(openSync(path, "a", 0o600));
  const isPassing = (error: unknown): boolean => error instanceof FlatlineError && error.code === "store_busy";
  const take = async (): Promise<OwnerLock> => {
    if (signal?.aborted === true) throw new FlatlineError("unavailable", "stopped while another process writes");
    const lock = tryLock(path);
    if (lock !== null) return lock;
    throw heldError(storePath, await holder());
  };
  return retrying(take, { clock, withinMs, firstMs: retryMs, longestMs: retryMs, isPassing });
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
    return {
      release: () => {
        if (held.isOpen) held.close();
      },
    };
  } catch (error) {
    if (database?.isOpen === true) database.close();
    const known = storeError(error, path);
    if (known instanceof FlatlineError && known.code === "store_busy") return null;
    throw known;
  }
}
