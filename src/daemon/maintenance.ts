import type { Logger } from "../base/logger.ts";
import { dayMs, minuteMs, type Clock } from "../base/time.ts";
import type { StorageConfig } from "../config/config.ts";
import type { Store } from "../store/store.ts";

/** Keeps the store within its retention, in slices that hold its lock for milliseconds. */
export interface Maintenance {
  start(): void;
  stop(): Promise<void>;
}

export interface MaintenanceOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Asked at each round, so that a reload changes it. */
  readonly storage: () => StorageConfig;
}

// Often enough that a round is short, seldom enough to cost nothing.
const everyMs = 10 * minuteMs;
// Not at once: the start has better things to do.
const firstAfterMs = minuteMs;
// A few milliseconds of work; between two slices everybody else gets the store.
const rowsPerSlice = 1_000;
const pauseMs = 20;
// For so long every report that a change left is kept; then one a day of each severity.
const wholeReportsMs = 7 * dayMs;

/** The housekeeping loop. */
export function createMaintenance({ store, clock, logger, storage }: MaintenanceOptions): Maintenance {
  const stopping = new AbortController();
  let loop: Promise<void> = Promise.resolve();

  async function inSlices(slice: () => Promise<{ readonly hasMore: boolean }>): Promise<void> {
    while (!stopping.signal.aborted && (await slice()).hasMore) await clock.sleep(pauseMs, stopping.signal);
  }

  async function round(): Promise<void> {
    const { retentionMs, auditRetentionMs, eventRetentionMs } = storage();
    const nowMs = clock.nowMs();
    const pastRetention = { beforeMs: nowMs - retentionMs, maxRows: rowsPerSlice };
    const thinBeforeMs = Math.floor((nowMs - wholeReportsMs) / dayMs) * dayMs;
    await inSlices(() => store.runs.prune({ ...pastRetention, thinBeforeMs }));
    const checkersBeforeMs = pastRetention.beforeMs;
    await inSlices(() => store.transaction(({ alerts }) => alerts.pruneEnded({ ...pastRetention, checkersBeforeMs })));
    await inSlices(() => store.alerts.pruneHistory(pastRetention));
    await inSlices(() => store.outbox.pruneDeadLetters(pastRetention));
    await inSlices(() => store.deliveries.prune(pastRetention));
    await inSlices(() => store.audit.prune({ beforeMs: nowMs - auditRetentionMs, maxRows: rowsPerSlice }));
    if (eventRetentionMs > 0) {
      const beforeMs = nowMs - eventRetentionMs;
      await inSlices(() => store.transaction(({ events }) => events.prune({ beforeMs, maxRows: rowsPerSlice })));
    }
    await store.silences.prune(pastRetention.beforeMs);
    await store.markers.prune(pastRetention.beforeMs);
    await store.outsideActs.prune(pastRetention.beforeMs);
    await store.gate.prune(pastRetention.beforeMs);
  }

  async function run(): Promise<void> {
    await clock.sleep(firstAfterMs, stopping.signal);
    while (!stopping.signal.aborted) {
      try {
        await round();
      } catch (error) {
        logger.error({ err: error }, "store could not be tidied up, trying again later");
      }
      await clock.sleep(everyMs, stopping.signal);
    }
  }

  return {
    start: () => {
      loop = run();
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
}
