import type { DatabaseSync, StatementSync } from "node:sqlite";

import type { Clock } from "../../../base/time.ts";
import type { SumTable, TypeNames } from "./sum-table.ts";

export interface SumLoaderOptions {
  readonly db: DatabaseSync;
  readonly clock: Clock;
  readonly table: SumTable;
  readonly typeName: TypeNames;
  /** Runs `work` on one snapshot, to which the sums have been updated. */
  readonly inSnapshot: (work: () => void) => void;
  readonly onError: (error: unknown) => void;
}

// About 2 ms of work (measured 2026-11: 0.5 µs per row).
const rowsASlice = 4_096;
// Loading uses at most a third of the event loop.
const restShare = 2;
const shortestRestMs = 1;

/** Loads wanted sums in the background, some thousand rows at a time. */
export class SumLoader {
  readonly #options: SumLoaderOptions;
  readonly #slice: StatementSync;
  readonly #closing = new AbortController();
  #running: Promise<void> | null = null;

  constructor(options: SumLoaderOptions) {
    this.#options = options;
    this.#slice = options.db.prepare(`
      SELECT slug_id, minute, type_id, deaths FROM event_minutes
      WHERE slug_id = ? AND minute >= ?
      ORDER BY minute LIMIT ?`);
    this.#slice.setReturnArrays(true);
  }

  /** Starts to load if there is something to load. */
  wake(): void {
    if (this.#running !== null || this.#closing.signal.aborted || this.#options.table.nextToLoad() === null) return;
    this.#running = this.#run()
      .catch((error: unknown) => this.#options.onError(error))
      .finally(() => {
        this.#running = null;
      });
  }

  /** Resolves when nothing is left to load. */
  async loaded(): Promise<void> {
    this.wake();
    while (this.#running !== null) {
      await this.#running;
      this.wake();
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, inSnapshot } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      // The caller that was just answered continues first.
      await clock.sleep(shortestRestMs, signal);
      if (signal.aborted) return;
      const startedAtMs = clock.monotonicMs();
      let isDone = false;
      inSnapshot(() => {
        isDone = !this.#loadSlice();
      });
      if (isDone) return;
      await clock.sleep(restShare * (clock.monotonicMs() - startedAtMs), signal);
    }
  }

  /** Loads some rows of one or more organizations; returns false if nothing was left. */
  #loadSlice(): boolean {
    const { table, typeName } = this.#options;
    let room = rowsASlice;
    for (let next = table.nextToLoad(); next !== null; next = table.nextToLoad()) {
      const { slugId, sums } = next;
      let limit = room;
      let rows = this.#rows(slugId, sums.nextMinute, limit);
      // A minute is loaded completely: if it has more imports than fit, it is read again with a larger limit.
      while (rows.length === limit && rows[0]?.[1] === rows.at(-1)?.[1]) {
        limit *= 2;
        rows = this.#rows(slugId, sums.nextMinute, limit);
      }
      const nextMinute = rows.length < limit ? null : (rows.at(-1)?.[1] ?? null);
      const whole = nextMinute === null ? rows : rows.filter((row) => row[1] !== nextMinute);
      table.load(slugId, whole.flat(), nextMinute, typeName);
      room -= rows.length + emptyOrganizationRows;
      if (room < smallestSlice) return true;
    }
    return false;
  }

  #rows(slugId: number, fromMinute: number, limit: number): readonly (readonly number[])[] {
    return this.#slice.all(slugId, fromMinute, limit) as unknown as readonly (readonly number[])[];
  }
}

// The statement itself costs as much as some rows; a remainder that is too small waits for the next slice.
const emptyOrganizationRows = 16;
const smallestSlice = 256;
