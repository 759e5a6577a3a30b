import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

import { FlatlineError } from "../../../base/errors.ts";
import type { Clock } from "../../../base/time.ts";
import { storeError } from "../../engine/sqlite-driver.ts";

export interface PaceOptions {
  readonly db: DatabaseSync;
  readonly databasePath: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long one transaction may hold the write lock, its commit included, milliseconds. */
  readonly holdMs: number;
}

/**
 * How long the write lock is free between two slices. SQLite's own wait for a lock polls after 1, 2, 5, 10, 15, 20, 25, 25,
 * 25, 50, 50 and then every 100 ms: a gap of 25 ms is met by whoever has waited for up to 100 ms, a longer one by everybody.
 */
const gapMs = 26;
const longGapMs = 105;
// With the gap after it, within the first 100 ms of a wait.
const longHoldMs = 75;
// From this size of the log on, we copy it back after every slice, outside of the lock: else the next commit of the daemon
// would have to do it, on its event loop. The file does not shrink; it is begun anew.
const checkpointAtBytes = 4 * 1_024 ** 2;
const shortestSliceMs = 5;

/** Does long write work in short transactions, with time for other writers in between. */
export class Pace {
  readonly #options: PaceOptions;
  #lastCommitMs = 0;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /**
   * Runs `work` to its end, as much of it in each transaction as fits; `begin` runs first in each of them.
   * @throws unavailable when the signal aborts, store_busy, store_unusable
   */
  async run(work: Iterator<void>, begin: () => void = () => undefined): Promise<void> {
    const { db, databasePath, clock, signal, holdMs } = this.#options;
    for (;;) {
      if (signal.aborted) throw new FlatlineError("unavailable", "stopped; nothing was stored");
      const budgetMs = Math.max(holdMs - this.#lastCommitMs, shortestSliceMs);
      let heldSinceMs = 0;
      let workedAtMs = 0;
      const isDone = inTransaction(db, databasePath, () => {
        heldSinceMs = clock.monotonicMs();
        begin();
        let isWorkDone: boolean;
        do {
          isWorkDone = work.next().done === true;
          workedAtMs = clock.monotonicMs();
        } while (!isWorkDone && workedAtMs - heldSinceMs < budgetMs);
        return isWorkDone;
      });
      this.#lastCommitMs = Math.min(clock.monotonicMs() - workedAtMs, holdMs);
      const freeAtMs = clock.monotonicMs();
      this.#checkpoint();
      if (isDone) return;
      // The machine is slow or busy: who waits by now looks seldom.
      const freeMs = freeAtMs - heldSinceMs > longHoldMs ? longGapMs : gapMs;
      await clock.sleep(freeMs - (clock.monotonicMs() - freeAtMs), signal);
    }
  }

  #checkpoint(): void {
    const log = statSync(`${this.#options.databasePath}-wal`, { throwIfNoEntry: false });
    if (log !== undefined && log.size > checkpointAtBytes) this.#options.db.exec("PRAGMA wal_checkpoint(PASSIVE)");
  }
}

/** Runs `work` in one write transaction: all of it is durable on return, or none. @throws store_busy, store_unusable */
export function inTransaction<Result>(db: DatabaseSync, databasePath: string, work: () => Result): Result {
  try {
    db.exec("BEGIN IMMEDIATE");
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw storeError(error, databasePath);
  }
}
