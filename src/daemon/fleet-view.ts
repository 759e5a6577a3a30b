import type { Logger } from "../base/logger.ts";
import { secondMs, type Clock } from "../base/time.ts";
import type { CheckReport } from "../contract/report.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { checkKey } from "../contract/check-key.ts";
import type { Severity } from "../contract/severity.ts";
import type { CheckState as ShownState, RunningChecks } from "../web/read/running.ts";
import type { CheckKey, CheckState } from "../store/runs/check-state.ts";
import type { Store } from "../store/store.ts";
import type { Bus } from "./ground.ts";
import { createStoreWatch } from "./store-watch.ts";

/** The checks of the whole fleet as metrics and pages show them; and whether the store is there. */
export type FleetView = ReturnType<typeof createFleetView>;

export interface FleetViewOptions {
  readonly store: Store;
  readonly states: RunningChecks;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "checks" | "checkRan">;
  readonly bus: Bus;
}

// Due runs wait meanwhile, and a server that restarts is back by then.
const bearableMs = 10 * secondMs;
// The loops try again at least every 5 s and their stall is counted from their last success.
const settledMs = 30 * secondMs;

/** Creates a view that shows nothing before `showAll`. */
export function createFleetView(options: FleetViewOptions) {
  const { states, clock, metrics, bus } = options;
  const watch = createStoreWatch({
    ...options,
    onLook: look,
    onProblem: () => bus.emit("stored", "else"),
    // Some may have been done all the same.
    onFailed: () => bus.emit("changed"),
  });
  const firstRound = createFirstRound(options);
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
      if (!firstRound.isOver() && states.of(state.check, state.slug) !== null) firstRound.note(state);
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
    const all = states.all();
    metrics.checks.setAll(all);
    firstRound.begin(all);
  }

  async function look(): Promise<void> {
    if (watch.isAway()) {
      if (watch.awayForMs() >= bearableMs) showOverdue();
    } else if (overdue.size > 0) {
      showAll();
      bus.emit("stored", "else");
    }
  }

  /** Shows checks that cannot be run. */
  function showOverdue(): void {
    const nowMs = clock.nowMs();
    for (const state of states.all())
      if (state.nextDueAtMs <= nowMs && !overdue.has(checkKey(state))) noteUnrecorded(state, 0);
  }

  /** A run was over, and the store would not take it. */
  function noteUnrecorded(check: CheckKey, durationSeconds: number): void {
    const report = unrecorded(check, clock.nowMs());
    // The noted result is of an earlier run: the failure is newer.
    showNoted();
    overdue.add(checkKey(check));
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

function unrecorded({ check, slug }: CheckKey, nowMs: number): CheckReport & { readonly kind: "error" } {
  return {
    kind: "error",
    check,
    slug,
    startedAtMs: nowMs,
    finishedAtMs: nowMs,
    severity: "unknown",
    error: { reason: "store", message: "the store could not be reached" },
  };
}

/** Says once, when every check that was due at the start has run, how all of them are. */
function createFirstRound({ logger, clock }: Pick<FleetViewOptions, "logger" | "clock">) {
  const beganMs = clock.monotonicMs();
  let severities: Map<string, Severity | null> | null = new Map();
  let waiting: Set<string> | null = null;

  function sayWhenOver(): void {
    if (severities === null || waiting === null || waiting.size > 0) return;
    const counts = { ok: 0, warn: 0, fail: 0, unknown: 0 };
    for (const severity of severities.values()) counts[severity ?? "unknown"]++;
    const tookMs = Math.round(clock.monotonicMs() - beganMs);
    const hasRun = severities.size > 0;
    severities = null;
    // It is logged in the next turn, after the runs of the same commit.
    if (hasRun) void clock.sleep(0).then(() => logger.info({ ...counts, tookMs }, "every check has run"));
  }

  return {
    /** The checks as they are stored at the start; later calls say nothing new. */
    begin: (states: readonly ShownState[]): void => {
      if (severities === null || waiting !== null) return;
      const nowMs = clock.nowMs();
      // A run that ended while they were read is noted already, and newer.
      const isDue = (state: ShownState): boolean => state.lastRunAtMs === null || state.nextDueAtMs <= nowMs;
      const due = states.filter((state) => isDue(state) && severities?.has(checkKey(state)) !== true);
      for (const state of states) if (!severities.has(checkKey(state))) severities.set(checkKey(state), state.severity);
      waiting = new Set(due.map(checkKey));
      sayWhenOver();
    },
    /** A check ran. */
    note: (state: Pick<ShownState, "check" | "slug" | "severity">): void => {
      severities?.set(checkKey(state), state.severity);
      waiting?.delete(checkKey(state));
      sayWhenOver();
    },
    isOver: (): boolean => severities === null,
  };
}
