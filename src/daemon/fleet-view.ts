import { secondMs } from "../base/time.ts";
import { checkKey } from "../contract/check-key.ts";
import type { CheckKey, CheckState } from "../store/runs/check-state.ts";
import type { RunningChecks } from "../web/read/running.ts";
import type { Ground } from "./ground.ts";
import { createStoreWatch } from "./store-watch.ts";

/** The checks of the whole fleet as metrics and pages show them; and whether the store is there. */
export type FleetView = ReturnType<typeof createFleetView>;

// Due runs wait meanwhile, and a server that restarts is back by then.
const bearableMs = 10 * secondMs;
// The loops try again at least every 5 s and their stall is counted from their last success.
const settledMs = 30 * secondMs;

/** Creates a view that shows nothing before `showAll`. */
export function createFleetView(ground: Ground, states: RunningChecks) {
  const { clock, metrics, bus } = ground;
  const watch = createStoreWatch(ground, look);
  /** Shown as unknown, because they were due while the store was away. */
  const overdue = new Set<string>();
  /** Ran since the metrics last showed them, by key. */
  const noted = new Map<string, CheckKey>();

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

  /** Shows checks that cannot be run, or all when they can again. */
  function look(): void {
    const nowMs = clock.nowMs();
    if (watch.awayForMs() >= bearableMs) {
      for (const state of states.all())
        if (state.nextDueAtMs <= nowMs && !overdue.has(checkKey(state))) noteUnrecorded(state, 0);
    } else if (!watch.isAway() && overdue.size > 0) {
      showAll();
      bus.emit("stored", "else");
    }
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

  const storeProblem = (): string | null => watch.problem()?.message ?? null;
  return {
    start: watch.start,
    stop: watch.stop,
    showAll,
    note,
    showNoted,
    noteUnrecorded,
    isStoreAway: watch.isAway,
    /** Returns what is wrong with the store's file, in words; null when nothing is. */
    storeProblem,
    /** Returns what has stalled for a reason of its own, in words: a loop that waits for an unavailable database has not. */
    stalled: (loops: Readonly<Record<string, { isStalled(): boolean }>>): string[] => {
      const problem = storeProblem();
      if (problem !== null) return [problem];
      if (watch.backForMs() < settledMs) return [];
      return Object.entries(loops).flatMap(([name, loop]) => (loop.isStalled() ? `the ${name} has stalled` : []));
    },
  };
}
