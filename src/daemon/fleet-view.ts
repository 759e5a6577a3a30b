import type { Logger } from "../base/logger.ts";
import { minuteMs, secondMs, type Clock } from "../base/time.ts";
import type { CheckReport } from "../contract/report.ts";
import type { AppMetrics } from "../metrics/app-metrics.ts";
import { targetKey } from "../monitor/target.ts";
import type { CheckKey, CheckState } from "../store/runs/schedule.ts";
import type { Store } from "../store/store.ts";
import { createFirstRound } from "./first-round.ts";
import type { HourBook } from "./hour-book.ts";
import type { Publisher } from "./publisher.ts";
import type { Runtime } from "./runtime.ts";
import { stalledLoops } from "./stalled-loops.ts";
import { createStoreWatch } from "./store-watch.ts";
import { checkSeriesInput } from "./ports/web.ts";

/** The checks of the whole fleet as metrics and pages show them, whichever replica ran them; and whether the store is there. */
export interface FleetView {
  start(): void;
  stop(): Promise<void>;
  /** Shows every check as it is stored, and no others. */
  showAll(): Promise<void>;
  /** Shows what other replicas ran since the last look. */
  refresh(): Promise<void>;
  /** Runs of this replica were recorded. */
  note(states: readonly CheckState[]): void;
  /** A run of this replica was over, and the store would not take it. */
  noteUnrecorded(check: CheckKey, durationSeconds: number): void;
  isStoreAway(): boolean;
  /** What has stalled for reasons of its own, in words: a loop that waits for the store has not. */
  stalled(loops: Parameters<typeof stalledLoops>[0]): string[];
}

export interface FleetViewOptions {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<AppMetrics, "checks" | "checkRan">;
  readonly hours: HourBook;
  readonly publisher: Publisher;
}

// A page draws changes every 2 s; a scrape looks on its own.
const refreshEveryMs = 2 * secondMs;
// Runs are recorded in another order than they end in: nothing that ended before this takes as long to be recorded.
const recordedWithinMs = 2 * minuteMs;
// As long as a lease: what is due meanwhile waits, and a server that restarts is back by then.
const bearableMs = 10 * secondMs;
// The loops try again at least every 5 s and their stall is counted from their last success.
const settledMs = 30 * secondMs;

/** Nothing is shown before `showAll`. */
export function createFleetView(options: FleetViewOptions): FleetView {
  const { store, runtime, clock, metrics, hours, publisher } = options;
  const watch = createStoreWatch({ ...options, onLook: look });
  const firstRound = createFirstRound(options);
  const shown = new Map<string, { readonly lastRunAtMs: number; readonly nextDueAtMs: number }>();
  /** Shown as unknown, because they were due while the store was away. */
  const overdue = new Set<string>();
  let newestMs = 0;
  let refreshedMs = -Infinity;
  let refreshing: Promise<void> | null = null;

  function show(state: CheckState): void {
    const { lastRunAtMs, nextDueAtMs } = state;
    const input = checkSeriesInput(state, runtime.current());
    if (input !== null) metrics.checks.set(input);
    remember(targetKey(state), lastRunAtMs ?? 0, nextDueAtMs);
    firstRound.note(state);
  }

  function remember(key: string, lastRunAtMs: number, nextDueAtMs: number): void {
    shown.set(key, { lastRunAtMs, nextDueAtMs });
    newestMs = Math.max(newestMs, lastRunAtMs);
  }

  async function showAll(): Promise<void> {
    const states = await store.schedule.states();
    shown.clear();
    overdue.clear();
    metrics.checks.setAll(states.flatMap((state) => checkSeriesInput(state, runtime.current()) ?? []));
    for (const state of states) remember(targetKey(state), state.lastRunAtMs ?? 0, state.nextDueAtMs);
    refreshedMs = clock.monotonicMs();
    firstRound.begin(states);
  }

  async function readOthers(): Promise<void> {
    // After a while without a look more than the last run of each may have been missed.
    const hasGap = clock.monotonicMs() - refreshedMs > minuteMs;
    const runs = await store.schedule.lastRuns(newestMs - recordedWithinMs);
    const news = runs.filter((run) => run.lastRunAtMs > (shown.get(targetKey(run))?.lastRunAtMs ?? -1));
    const states = await store.schedule.statesOf(news);
    if (hasGap) hours.forget();
    for (const state of states) {
      // A run of our own may have been recorded since.
      if ((state.lastRunAtMs ?? 0) <= (shown.get(targetKey(state))?.lastRunAtMs ?? -1)) continue;
      show(state);
      if (!hasGap) hours.note(state);
    }
    refreshedMs = clock.monotonicMs();
    if (states.length > 0) publisher.publish();
  }

  async function refresh(): Promise<void> {
    // A file has one daemon.
    if (store.engine === "sqlite" || watch.isAway()) return;
    refreshing ??= readOthers().finally(() => {
      refreshing = null;
    });
    await refreshing;
  }

  async function look(): Promise<void> {
    if (watch.isAway()) {
      if (watch.awayForMs() >= bearableMs) showOverdue();
    } else if (overdue.size > 0) {
      await showAll();
      publisher.publish();
    } else if (clock.monotonicMs() - refreshedMs >= refreshEveryMs) await refresh();
  }

  /** They cannot be run, as nobody can be sure that no other replica runs them. */
  function showOverdue(): void {
    const nowMs = clock.nowMs();
    for (const target of runtime.current().targets) {
      const key = targetKey(target);
      const known = shown.get(key);
      if (known === undefined || known.nextDueAtMs > nowMs || overdue.has(key)) continue;
      noteUnrecorded(target, 0);
    }
  }

  function noteUnrecorded(check: CheckKey, durationSeconds: number): void {
    const report = unrecorded(check, clock.nowMs());
    overdue.add(targetKey(check));
    metrics.checks.showError(report);
    metrics.checkRan(report, durationSeconds);
  }

  return {
    start: () => watch.start(),
    stop: () => watch.stop(),
    showAll,
    refresh,
    note: (states) => {
      for (const state of states) {
        show(state);
        overdue.delete(targetKey(state));
        hours.note(state);
      }
      if (states.length > 0) publisher.publish();
    },
    noteUnrecorded,
    isStoreAway: () => watch.isAway(),
    stalled: (loops) => (watch.backForMs() < settledMs ? [] : stalledLoops(loops)),
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
