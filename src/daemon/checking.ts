import { createRecorder, type Recorder } from "../alerting/record.ts";
import { checkKey } from "../contract/check-key.ts";
import { createLastStates } from "../monitor/last-states.ts";
import { evenIntervalMs, nextDueAtMs } from "../monitor/schedule.ts";
import { createScheduler, type RoundOptions, type Scheduler } from "../monitor/scheduler.ts";
import type { Board } from "../store/runs/board.ts";
import type { Store } from "../store/store.ts";
import { createFleetView, type FleetView } from "./fleet-view.ts";
import type { Ground, Part } from "./ground.ts";
import { createLiveChecks } from "./live-checks.ts";
import type { Runtime } from "./runtime.ts";
import type { Sourcing } from "./sourcing.ts";
import { drainOf } from "./stop-sequence.ts";

/** The scheduler, the recorder and the view of the checks. */
export type Checking = ReturnType<typeof createChecking>;

// 500 checks take some 10 ms; then the event loop has its turn.
const mostStored = 500;
// One query of the user's table counts for all of them, and does not hold the event loop.
const mostInTable = 2_000;

// A commit costs a database server as much as a hundred runs: at 500 checks a second, a hundred share one.
const gatherMs = 200;

/** Checks that would be wrong during an import, because they count events (CONTRACT 10). */
const countingChecks: ReadonlySet<string> = new Set(["dead-asset-spike", "event-flow"]);

export function createChecking(ground: Ground, { config, runtime, ingest }: Sourcing) {
  const { store, board, clock, bus, metrics, stop } = ground;
  const lastStates = createLastStates({
    ...ground,
    onRead: () => {
      scheduler.restart();
      fleet.showAll();
      bus.emit("stored", "else");
    },
  });
  const recorder: Recorder = createRecorder({
    ...ground,
    settings: () => runtime.current().settings,
    onChange: () => bus.emit("stored", "alerts"),
    onDoubt: () => lastStates.doubt(),
    onIncident: (family) => metrics.incidentOpened(family),
    intervalOf: (check) => {
      const schedule = runtime.current().targetByKey.get(checkKey(check))?.schedule;
      if (schedule === undefined) return 0;
      const nextMs = nextDueAtMs(schedule, check.slug, clock.nowMs());
      return evenIntervalMs(schedule) ?? nextDueAtMs(schedule, check.slug, nextMs) - nextMs;
    },
    gather: () => (store.isRemote ? clock.sleep(gatherMs) : scheduler.gatherEnding()),
    onRecorded: (changed) => fleet.note(changed),
  });
  const round: RoundOptions = {
    run: (targets, signal) => runtime.runRound(targets, signal),
    most: config.source.holdsEvents ? mostStored : mostInTable,
  };
  const scheduler: Scheduler = createScheduler({
    ...ground,
    canBegin: () => lastStates.areKnown(),
    isImporting: ({ check, slug }) => countingChecks.has(check) && ingest?.isImporting(slug) === true,
    targets: runtime.current().targets,
    concurrency: config.source.concurrency,
    runTimeoutMs: runtime.current().runTimeoutMs,
    run: (target, signal) => runtime.run(target, signal),
    ...(config.source.isLocal ? { round } : {}),
    record: (requests, signal) => recorder.record(requests, signal),
    onUnrecorded: (check, durationSeconds) => fleet.noteUnrecorded(check, durationSeconds),
  });
  const states = createLiveChecks({ ...ground, runtime, scheduler });
  const fleet: FleetView = createFleetView(ground, states);

  /** Loads the last states of the checks from the store. */
  async function load(): Promise<void> {
    board.learn(await store.runs.load());
    await learnChecks(store, board, runtime);
  }

  /** Ends the alerts of checks that are no longer configured, and shows the others. */
  async function settle(): Promise<void> {
    await recorder.endUnconfigured();
    const { checkNames, config: applied } = runtime.current();
    metrics.show({ checks: checkNames, receivers: applied.receivers.map(({ name }) => name) });
    fleet.showAll();
  }

  async function end(drainMs: number): Promise<void> {
    try {
      await scheduler.stop(drainMs);
    } finally {
      await lastStates.stop();
    }
  }

  stop.work.add("checks", (limitMs) => end(drainOf(limitMs)), { stores: true });
  stop.work.add("view of the fleet", () => fleet.stop());
  const part: Part = {
    start: async () => {
      await load();
      lastStates.start();
      scheduler.start();
      await settle();
      fleet.start();
    },
    apply: async () => {
      const { targets, config: applied, runTimeoutMs } = runtime.current();
      try {
        await learnChecks(store, board, runtime);
      } finally {
        // Set even when the store fails: a check that is no longer configured must not run.
        scheduler.setTargets({ targets, concurrency: applied.source.concurrency, runTimeoutMs });
      }
      await settle();
    },
  };
  return { ...part, scheduler, states, fleet, load };
}

/** Gives each configured check its number, and forgets the last states of the others. */
async function learnChecks(store: Pick<Store, "runs">, board: Board, runtime: Pick<Runtime, "current">): Promise<void> {
  const { targets, targetByKey } = runtime.current();
  const ids = await store.runs.addChecks(targets);
  for (const target of targets) board.name(ids.get(checkKey(target)) ?? 0, target);
  await store.runs.forget(board.keepOnly((check) => targetByKey.has(checkKey(check))));
}
