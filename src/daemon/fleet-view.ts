import { FlatlineError } from "../base/errors.ts";
import { endsWithin } from "../base/lifecycle.ts";
import { createLoop } from "../base/loop.ts";
import { secondMs } from "../base/time.ts";
import { checkKey } from "../contract/check-key.ts";
import type { CheckKey, CheckState } from "../store/runs/check-state.ts";
import type { Store, StoreProblem } from "../store/store.ts";
import type { RunningChecks } from "../web/read/running.ts";
import type { Ground } from "./ground.ts";

/** The states of all checks for metrics and pages, and whether the store is available. */
export type FleetView = ReturnType<typeof createFleetView>;

// A load balancer should see it before many requests fail.
const askEveryMs = secondMs;
// An overloaded database is slow, but available.
const answerWithinMs = 5 * secondMs;
// Shorter than three liveness probes of an orchestrator.
const lookAtFileEveryMs = 3 * secondMs;
// A server that restarts is back by then; due runs wait.
const bearableMs = 10 * secondMs;
// The loops retry at least every 5 s, and a stall is counted from their last success.
const settledMs = 30 * secondMs;

/** Creates a view that shows nothing before `showAll`. It watches whether a database answers, or a file is the same. */
export function createFleetView({ store, clock, logger, metrics, bus }: Ground, states: RunningChecks) {
  const [everyMs, runOnce] = store.isRemote ? [askEveryMs, askDatabase] : [lookAtFileEveryMs, lookAtFile];
  // The next look repeats a failed read.
  const onError = (error: unknown): void => logger.debug({ err: error }, "store could not be looked at, trying again");
  const loop = createLoop({ clock, everyMs, runOnce, onError });
  /** null: the store answered the last query. */
  let awaySinceMs: number | null = null;
  let backSinceMs = -Infinity;
  /** The problem of the file at the last look. */
  let problem: StoreProblem | null = null;
  let failures = 0;
  /** Keys of checks that are shown as unknown, because they were due while the store was away. */
  const overdue = new Set<string>();
  /** Checks that ran since the metrics last showed them, by key. */
  const noted = new Map<string, CheckKey>();

  async function askDatabase(): Promise<void> {
    const silence = new FlatlineError("store_busy", "the store does not answer in time");
    // A stop does not wait for a server that is unavailable.
    const error = await endsWithin(clock, store.nowMs(), answerWithinMs, loop.signal).then(
      (isThere): unknown => (isThere ? null : silence),
      (error: unknown) => error,
    );
    if (loop.signal.aborted) return;
    const nowMs = clock.monotonicMs();
    if (error !== null) {
      if (awaySinceMs === null) logger.error({ err: error }, "store cannot be reached, trying again");
      awaySinceMs ??= nowMs;
      if (nowMs - awaySinceMs >= bearableMs) showOverdue();
      return;
    }
    if (awaySinceMs !== null) {
      logger.info({ awayMs: Math.round(nowMs - awaySinceMs) }, "store is back");
      [awaySinceMs, backSinceMs] = [null, nowMs];
    }
    if (overdue.size === 0) return;
    showAll();
    bus.emit("stored", "else");
  }

  async function lookAtFile(): Promise<void> {
    const found = await store.problem();
    const isNews = found?.kind !== problem?.kind;
    problem = found;
    if (isNews) {
      if (problem === null) logger.info({}, "store is well again");
      else logger.error({ store: problem.place, problem: problem.message }, "store is lost or cannot be used");
      bus.emit("stored", "else");
    }
    const before = failures;
    failures = store.failures();
    // A failed statement may have been executed all the same.
    if (failures !== before) bus.emit("changed");
  }

  /** Shows due checks as unknown. */
  function showOverdue(): void {
    const nowMs = clock.nowMs();
    for (const state of states.all())
      if (state.nextDueAtMs <= nowMs && !overdue.has(checkKey(state))) noteUnrecorded(state, 0);
  }

  function note(changed: readonly CheckState[]): void {
    for (const state of changed) {
      const key = checkKey(state);
      overdue.delete(key);
      noted.set(key, state);
    }
    if (changed.length > 0) bus.emit("stored", "runs");
  }

  /** Gives the metrics the checks that ran since the last call: a scrape formats their lines, not each run. */
  function showNoted(): void {
    for (const { check, slug } of noted.values()) {
      const shown = states.of(check, slug);
      if (shown !== null) metrics.checks.set(shown);
    }
    noted.clear();
  }

  /** Replaces all that is shown by the stored states. */
  function showAll(): void {
    overdue.clear();
    noted.clear();
    metrics.checks.setAll(states.all());
  }

  /** Shows a run that could not be stored. */
  function noteUnrecorded({ check, slug }: CheckKey, durationSeconds: number): void {
    const nowMs = clock.nowMs();
    const error = { reason: "store", message: "the store could not be reached" } as const;
    const at = { startedAtMs: nowMs, finishedAtMs: nowMs };
    const report = { kind: "error", check, slug, severity: "unknown", error, ...at } as const;
    // Noted results are older than this failure.
    showNoted();
    overdue.add(checkKey(report));
    metrics.checks.showError(report);
    metrics.checkRan(report, durationSeconds);
  }

  return {
    start: loop.start,
    stop: loop.stop,
    showAll,
    note,
    showNoted,
    noteUnrecorded,
    isStoreAway: (): boolean => awaySinceMs !== null,
    /** Returns the problem of the store's file, in words; null: none. */
    storeProblem: (): string | null => problem?.message ?? null,
    /** Returns the stalled loops, in words; a loop that waits for an unavailable database has not stalled. */
    stalled: (loops: Readonly<Record<string, { isStalled(): boolean }>>): string[] => {
      if (problem !== null) return [problem.message];
      if (awaySinceMs !== null || clock.monotonicMs() - backSinceMs < settledMs) return [];
      return Object.entries(loops).flatMap(([name, loop]) => (loop.isStalled() ? `the ${name} has stalled` : []));
    },
  };
}

/** Checks a store and its content. @throws FlatlineError store_unusable */
export async function requireStore(store: Pick<Store, "check" | "problem">): Promise<void> {
  const problem = await store.problem();
  if (problem !== null) throw new FlatlineError("store_unusable", problem.message);
  await store.check();
}
