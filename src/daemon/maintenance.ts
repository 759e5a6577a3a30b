import { releaseOf } from "../alerting/decide/gate.ts";
import { createLoop, type Loop } from "../base/loop.ts";
import { dayMs, hourMs, minuteMs } from "../base/time.ts";
import type { StoreParts } from "../store/store-parts.ts";
import type { PruneLimits, Pruned } from "../store/tables.ts";
import { singleRunsMs } from "../store/runs/history.ts";
import type { Ground } from "./ground.ts";
import type { Applied } from "./runtime.ts";

// Often enough that a round is short.
const everyMs = hourMs;
// The first round waits for the start to be over.
const firstAfterMs = minuteMs;
// A slice takes a few milliseconds; other work gets the store between two slices.
const rowsPerSlice = 1_000;
const pauseMs = 20;
// A link holds for 24 h from the attempt that sends it, and acts only once (CONTRACT 13), however short the retention.
const outsideActsMs = 25 * hourMs;

// Larger than any correction of a clock.
const jumpMs = hourMs;
// The clock also jumps when a machine wakes up: after so long it is trusted again without a restart.
const distrustMs = dayMs;
const metaKey = "deleted_until_ms";

// Tens of thousands of notifications.
const mostDeadLetterBytes = 64 * 1_024 * 1_024;

/** Stores the time at which a store was made, the first limit of what may be deleted. */
export async function beginRetention({ meta }: Pick<StoreParts, "meta">, nowMs: number): Promise<void> {
  await meta.getOrSet(metaKey, String(nowMs));
}

/** Creates the loop that deletes what is past its retention, in slices that hold the store's lock for milliseconds. */
export function createMaintenance(
  { store, clock, logger, bus }: Pick<Ground, "store" | "clock" | "logger" | "bus">,
  current: () => Pick<Applied, "config" | "settings">,
): Loop {
  const onError = (error: unknown): void =>
    logger.error({ err: error }, "store could not be tidied up, trying again later");
  const loop = createLoop({ clock, everyMs, firstAfterMs, runOnce, onError });
  const startedAtMs = clock.monotonicMs();
  let aheadMs = clock.nowMs() - startedAtMs;
  let jumpedAtMs = -Infinity;
  let fromMs: number | null = null;

  /**
   * Returns the time by which rows are old: now, but at most a day after the last deletion before the start, and then
   * at most twice as fast as time passes. So a clock that is years ahead deletes little; after months without flatline
   * it takes months to catch up. null: the clock has jumped.
   */
  async function readUntilMs(): Promise<number | null> {
    const [nowMs, monotonicMs] = [clock.nowMs(), clock.monotonicMs()];
    const byMs = nowMs - monotonicMs - aheadMs;
    aheadMs += byMs;
    if (Math.abs(byMs) > jumpMs) {
      jumpedAtMs = monotonicMs;
      logger.warn({ byMs }, "clock has jumped: nothing is deleted for a day");
    }
    if (monotonicMs - jumpedAtMs < distrustMs) return null;
    fromMs ??= Number(await store.meta.getOrSet(metaKey, String(nowMs)));
    const untilMs = Math.min(nowMs, fromMs + dayMs + 2 * (monotonicMs - startedAtMs));
    await store.meta.set(metaKey, String(untilMs));
    return untilMs;
  }

  async function inSlices(slice: () => Promise<Pruned>): Promise<void> {
    while (!loop.signal.aborted && (await slice()).hasMore) await clock.sleep(pauseMs, loop.signal);
  }

  /** Keeps failures that hold a gate, however old they are. */
  async function pruneAlerts(limits: PruneLimits & { readonly checkersBeforeMs: number }): Promise<Pruned> {
    return store.transaction(async ({ alerts, gate }) => {
      const holding = (await gate.endedBy(limits.beforeMs)).filter(
        (failure) => releaseOf(failure, current().settings.gateOf(failure.slug)) === null,
      );
      return alerts.pruneEnded({ ...limits, holding: holding.map((alert) => alert.id) });
    });
  }

  async function runOnce(): Promise<void> {
    const { storage, server, organizations } = current().config;
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
    // Alerts judged `checker` are kept while their deaths lie in a baseline; a median's days begin up to a day earlier.
    const spansMs = organizations.map(
      ({ thresholds }) => thresholds.windowHours * hourMs + (thresholds.baselineDays + 1) * dayMs,
    );
    const longestSpanMs = spansMs.reduce((longest, spanMs) => Math.max(longest, spanMs), 0);
    const checkersBeforeMs = Math.min(pastRetention.beforeMs, nowMs - longestSpanMs);
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
    bus.emit("stored", "else");
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

  return loop;
}
