import { FlatlineError } from "../base/errors.ts";
import { endsWithin } from "../base/lifecycle.ts";
import { createLoop } from "../base/loop.ts";
import { secondMs } from "../base/time.ts";
import { checkKey } from "../contract/check-key.ts";
import type { CheckKey, CheckState } from "../store/runs/check-state.ts";
import type { Store, StoreProblem } from "../store/store.ts";
import type { RunningChecks } from "../web/read/running.ts";
import type { Ground } from "./ground.ts";

/** The checks of the whole fleet as metrics and pages show them; and whether the store is there. */
export type FleetView = ReturnType<typeof createFleetView>;

// A load balancer should learn of it before many requests have failed; one small query costs nothing.
const askEveryMs = secondMs;
// An overloaded database is slow, but not unavailable.
const answerWithinMs = 5 * secondMs;
// A look comes sooner than an orchestrator asks three times whether the daemon is well, and costs next to nothing.
const lookAtFileEveryMs = 3 * secondMs;
// Due runs wait meanwhile, and a server that restarts is back by then.
const bearableMs = 10 * secondMs;
// The loops try again at least every 5 s and their stall is counted from their last success.
const settledMs = 30 * secondMs;

/**
 * Creates a view that shows nothing before `showAll`. It asks a database every second whether it answers, and looks
 * every 3 s whether a file is still the one that was opened.
 */
export function createFleetView({ store, clock, logger, metrics, bus }: Ground, states: RunningChecks) {
  const [everyMs, runOnce] = store.isRemote ? [askEveryMs, askDatabase] : [lookAtFileEveryMs, lookAtFile];
  // A failed read is repeated at the next look.
  const onError = (error: unknown): void => logger.debug({ err: error }, "store could not be looked at, trying again");
  const loop = createLoop({ clock, everyMs, runOnce, onError });
  /** null: it answered the last question. */
  let awaySinceMs: number | null = null;
  let backSinceMs = -Infinity;
  /** What is wrong with the file, as of the last look. */
  let problem: StoreProblem | null = null;
  let failures = 0;
  /** Shown as unknown, because they were due while the store was away. */
  const overdue = new Set<string>();
  /** Ran since the metrics last showed them, by key. */
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
    // Some statements may have been done all the same.
    if (failures !== before) bus.emit("changed");
  }

  /** Shows checks that cannot be run. */
  function showOverdue(): void {
    const nowMs = clock.nowMs();
    for (const state of states.all())
      if (state.nextDueAtMs <= nowMs && !overdue.has(checkKey(state))) noteUnrecorded(state, 0);
  }

  /** Runs were recorded. */
  function note(changed: readonly CheckState[]): void {
    for (const state of changed) {
      const key = checkKey(state);
      overdue.delete(key);
      noted.set(key, state);
    }
    if (changed.length > 0) bus.emit("stored", "runs");
  }

  /** Gives the metrics the states of the checks that ran since the last call: a scrape pays for its lines, not each run. */
  function showNoted(): void {
    for (const { check, slug } of noted.values()) {
      const shown = states.of(check, slug);
      if (shown !== null) metrics.checks.set(shown);
    }
    noted.clear();
  }

  /** Shows every check as it is stored, and no others. */
  function showAll(): void {
    overdue.clear();
    noted.clear();
    metrics.checks.setAll(states.all());
  }

  /** A run was over, and the store would not take it. */
  function noteUnrecorded({ check, slug }: CheckKey, durationSeconds: number): void {
    const nowMs = clock.nowMs();
    const error = { reason: "store", message: "the store could not be reached" } as const;
    const at = { startedAtMs: nowMs, finishedAtMs: nowMs };
    const report = { kind: "error", check, slug, severity: "unknown", error, ...at } as const;
    // The noted result is of an earlier run: the failure is newer.
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
    /** Returns what is wrong with the store's file, in words; null when nothing is. */
    storeProblem: (): string | null => problem?.message ?? null,
    /** Returns what has stalled for a reason of its own, in words: a loop that waits for an unavailable database has not. */
    stalled: (loops: Readonly<Record<string, { isStalled(): boolean }>>): string[] => {
      if (problem !== null) return [problem.message];
      if (awaySinceMs !== null || clock.monotonicMs() - backSinceMs < settledMs) return [];
      return Object.entries(loops).flatMap(([name, loop]) => (loop.isStalled() ? `the ${name} has stalled` : []));
    },
  };
}

/** The last look at a file, at what it holds, too. @throws FlatlineError store_unusable while something is wrong with it */
export async function requireStore(store: Pick<Store, "check" | "problem">): Promise<void> {
  const problem = await store.problem();
  if (problem !== null) throw new FlatlineError("store_unusable", problem.message);
  await store.check();
}
