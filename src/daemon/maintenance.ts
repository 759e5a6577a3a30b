import { releaseOf, type GatePolicy } from "../alerting/decide/gate.ts";
import { createLoop, type Loop } from "../base/loop.ts";
import type { Logger } from "../base/logger.ts";
import { dayMs, hourMs, minuteMs, type Clock } from "../base/time.ts";
import type { OrganizationConfig, ServerConfig, StorageConfig } from "../config/config.ts";
import type { PruneLimits, Pruned } from "../store/tables.ts";
import { singleRunsMs } from "../store/runs/history.ts";
import type { Store } from "../store/store.ts";

export interface MaintenanceOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Asked at each round, so that a reload changes it. */
  readonly config: () => {
    readonly storage: StorageConfig;
    readonly server: Pick<ServerConfig, "sessionTtlMs">;
    readonly organizations: readonly Pick<OrganizationConfig, "thresholds">[];
  };
  readonly gateOf: (slug: string) => GatePolicy;
}

// Often enough that a round is short, seldom enough to cost nothing: it looks into some twenty tables.
const everyMs = hourMs;
// The first round waits, because the start has better things to do.
const firstAfterMs = minuteMs;
// A slice takes a few milliseconds; between two of them other work gets the store.
const rowsPerSlice = 1_000;
const pauseMs = 20;
// A link holds for 24 h from the attempt that sends it (CONTRACT 13), and must not be followed twice within them, however short
// the retention is.
const outsideActsMs = 25 * hourMs;

// More than a clock is ever corrected by.
const jumpMs = hourMs;
// A machine that slept jumps, too: nobody has to restart flatline after it.
const distrustMs = dayMs;
const metaKey = "deleted_until_ms";

// Tens of thousands of notifications are more than people read.
const mostDeadLetterBytes = 64 * 1_024 * 1_024;

/** Creates the loop that keeps the store within its retention, in slices that hold its lock for milliseconds. */
export function createMaintenance(options: MaintenanceOptions): Loop {
  const { store, clock, logger, gateOf } = options;
  const loop = createLoop({ clock, everyMs, firstAfterMs, runOnce, onError: note });
  const readUntilMs = createRetentionClock(store, clock, logger);

  async function inSlices(slice: () => Promise<Pruned>): Promise<void> {
    while (!loop.signal.aborted && (await slice()).hasMore) await clock.sleep(pauseMs, loop.signal);
  }

  /** Failures that hold the gate are kept however old they are. */
  async function pruneAlerts(limits: PruneLimits & { readonly checkersBeforeMs: number }): Promise<Pruned> {
    return store.transaction(async ({ alerts, gate }) => {
      const holding = (await gate.endedBy(limits.beforeMs)).filter(
        (failure) => releaseOf(failure, gateOf(failure.slug)) === null,
      );
      return alerts.pruneEnded({ ...limits, holding: holding.map((alert) => alert.id) });
    });
  }

  async function runOnce(): Promise<void> {
    const { storage, server, organizations } = options.config();
    const { retentionMs, auditRetentionMs, eventRetentionMs } = storage;
    const untilMs = await readUntilMs();
    const nowMs = untilMs ?? 0;
    const pastRetention = { beforeMs: nowMs - retentionMs, maxRows: rowsPerSlice };
    const runLimits = { nowMs: clock.nowMs(), runsBeforeMs: nowMs - singleRunsMs, beforeMs: pastRetention.beforeMs };
    let lastCheck: number | null = 0;
    await inSlices(async () => {
      lastCheck = await store.runs.tidy(lastCheck ?? 0, runLimits);
      return { hasMore: lastCheck !== null };
    });
    if (untilMs === null) return;
    // Judged checkers are kept for as long as their deaths lie in a baseline.
    const checkersBeforeMs = Math.min(pastRetention.beforeMs, nowMs - longestSpanMs(organizations));
    await inSlices(() => pruneAlerts({ ...pastRetention, checkersBeforeMs }));
    await store.transaction(({ incidents }) => incidents.tidy(nowMs));
    await store.transaction(({ looks }) => looks.tidy());
    let crowdedOut = 0;
    await inSlices(async () => {
      const slice = await store.outbox.pruneDeadLetters({ ...pastRetention, mostBytes: mostDeadLetterBytes });
      crowdedOut += slice.crowdedOut;
      return slice;
    });
    if (crowdedOut > 0)
      logger.warn(
        { count: crowdedOut, mostBytes: mostDeadLetterBytes },
        "the oldest dead letters were deleted: all of them took too many bytes",
      );
    await inSlices(() => store.deliveries.prune(pastRetention));
    await inSlices(() => store.audit.prune({ beforeMs: nowMs - auditRetentionMs, maxRows: rowsPerSlice }));
    await store.silences.prune(pastRetention.beforeMs);
    await store.markers.prune(pastRetention.beforeMs);
    await store.imports.prune(pastRetention.beforeMs);
    await store.outsideActs.prune(Math.min(pastRetention.beforeMs, nowMs - outsideActsMs));
    await store.sessions.prune(nowMs - server.sessionTtlMs);
    // This is last, because it fails while events are imported into a file.
    if (eventRetentionMs > 0) {
      const beforeMs = nowMs - eventRetentionMs;
      await inSlices(() => store.events.prune({ beforeMs, maxRows: rowsPerSlice }));
    }
  }

  function note(error: unknown): void {
    logger.error({ err: error }, "store could not be tidied up, trying again later");
  }

  return loop;
}

/**
 * Returns the time from the oldest death that any evaluation counts to now; a median's days begin up to a day before the
 * baseline does.
 */
function longestSpanMs(organizations: readonly Pick<OrganizationConfig, "thresholds">[]): number {
  return organizations.reduce(
    (longest, { thresholds }) =>
      Math.max(longest, thresholds.windowHours * hourMs + (thresholds.baselineDays + 1) * dayMs),
    0,
  );
}

/**
 * Creates the clock that decides what is old enough to be deleted: the machine's, but at most a day ahead of where it was when
 * something was deleted last, and from there at most twice as fast as time passes. A clock that is years ahead costs no more
 * than what one more day makes old; after months without flatline it takes months to catch up. Returns null after a jump.
 */
function createRetentionClock(store: Pick<Store, "meta">, clock: Clock, logger: Logger): () => Promise<number | null> {
  const startedAtMs = clock.monotonicMs();
  const offset = (): number => clock.nowMs() - clock.monotonicMs();
  let offsetMs = offset();
  let jumpedAtMs = -Infinity;
  let fromMs: number | null = null;

  return async () => {
    const byMs = offset() - offsetMs;
    offsetMs += byMs;
    if (Math.abs(byMs) > jumpMs) {
      jumpedAtMs = clock.monotonicMs();
      logger.warn({ byMs }, "clock has jumped: nothing is deleted for a day");
    }
    if (clock.monotonicMs() - jumpedAtMs < distrustMs) return null;
    const nowMs = clock.nowMs();
    fromMs ??= Number(await store.meta.getOrSet(metaKey, String(nowMs)));
    const untilMs = Math.min(nowMs, fromMs + dayMs + 2 * (clock.monotonicMs() - startedAtMs));
    await store.meta.set(metaKey, String(untilMs));
    return untilMs;
  };
}
