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
  /** Maximum duration of a transaction, its commit included, milliseconds. */
  readonly holdMs: number;
}

/**
 * Time between two slices in which the write lock is free. SQLite polls a lock after 1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50
 * and then every 100 ms: a writer that has waited up to 100 ms hits a gap of 25 ms, and every writer a longer one.
 */
const gapMs = 26;
const longGapMs = 105;
// With the gap after it, within the first 100 ms of a wait.
const longHoldMs = 75;
// Above this size of the log, a checkpoint runs after every slice, outside of the lock: otherwise the daemon's next commit
// would run it on the event loop. The file does not shrink; it is reused.
const checkpointAtBytes = 4 * 1_024 ** 2;
const shortestSliceMs = 5;

/** Runs long writes in short transactions, with time for other writers in between. */
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
      // The machine is slow or busy: waiting writers poll rarely by now.
      const freeMs = freeAtMs - heldSinceMs > longHoldMs ? longGapMs : gapMs;
      await clock.sleep(freeMs - (clock.monotonicMs() - freeAtMs), signal);
    }
  }

  #checkpoint(): void {
    const log = statSync(`${this.#options.databasePath}-wal`, { throwIfNoEntry: false });
    if (log !== undefined && log.size > checkpointAtBytes) this.#options.db.exec("PRAGMA wal_checkpoint(PASSIVE)");
  }
}

/** Runs `work` in one write transaction. @throws store_busy, store_unusable */
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
