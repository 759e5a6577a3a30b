import { createRecorder, type Recorder, type RecorderOptions } from "../alerting/record.ts";
import type { Config } from "../config/config.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { evenIntervalMs, nextDueAtMs } from "../monitor/schedule.ts";
import { createLastStates } from "../monitor/last-states.ts";
import { createScheduler, type Scheduler, type RoundOptions } from "../monitor/scheduler.ts";
import { checkKey } from "../contract/check-key.ts";
import type { Board } from "../store/runs/board.ts";
import type { RunningChecks } from "../web/read/running.ts";
import { createCheckStates } from "./check-states.ts";
import { createFleetView, type FleetView } from "./fleet-view.ts";
import type { Changes } from "./changes.ts";
import type { Runtime } from "./runtime.ts";
import type { Writer } from "../store/writer.ts";

/** The way of a check: due, run, recorded with what follows from it, and shown. */
export interface Checking {
  readonly recorder: Recorder;
  readonly scheduler: Scheduler;
  readonly states: RunningChecks;
  readonly fleet: FleetView;
  /** Learns what the store has of the checks. */
  load(): Promise<void>;
  /** Begins to run what is due. */
  start(): void;
  /** Applies the configuration that holds now. */
  apply(): Promise<void>;
  /** Waits for running checks. */
  stop(drainMs: number): Promise<void>;
}

export interface CheckingOptions extends Pick<
  RecorderOptions,
  "store" | "board" | "clock" | "logger" | "newId" | "settings" | "onChange"
> {
  readonly config: Config;
  readonly runtime: Runtime;
  readonly metrics: Metrics;
  readonly changes: Changes;
  readonly writer: Writer;
  /** Whether events of an organization are being imported. */
  readonly isImporting: (slug: string) => boolean;
  /** Called after statements have failed that may have been done all the same. */
  readonly onStoreFailed: () => void;
}

// Some 10 ms, after which the event loop has its turn.
const mostStored = 500;
// As many as share a query.
const mostInTable = 2_000;

/** What counts events, and is wrong of a part of them (CONTRACT 10). */
const countingChecks: ReadonlySet<string> = new Set(["dead-asset-spike", "event-flow"]);

/** Creates the parts that run checks, over one board. */
export function createChecking(options: CheckingOptions): Checking {
  const { store, board, clock, logger, runtime, metrics, config } = options;
  const lastStates = createLastStates({
    ...options,
    onRead: () => {
      scheduler.restart();
      fleet.showAll();
      options.changes.changed();
    },
  });
  const recorder: Recorder = createRecorder({
    ...options,
    onDoubt: () => lastStates.doubt(),
    onIncident: (family) => metrics.incidentOpened(family),
    intervalOf: (check) => {
      const schedule = runtime.current().targetByKey.get(checkKey(check))?.schedule;
      if (schedule === undefined) return 0;
      const nextMs = nextDueAtMs(schedule, check.slug, clock.nowMs());
      return evenIntervalMs(schedule) ?? nextDueAtMs(schedule, check.slug, nextMs) - nextMs;
    },
    gather: () => scheduler.gatherEnding(),
    onRecorded: (changed) => fleet.note(changed),
  });
  const round: RoundOptions = {
    run: (targets, signal) => runtime.runRound(targets, signal),
    most: config.source.holdsEvents ? mostStored : mostInTable,
  };
  const scheduler: Scheduler = createScheduler({
    canBegin: () => lastStates.areKnown(),
    isImporting: ({ check, slug }) => countingChecks.has(check) && options.isImporting(slug),
    board,
    clock,
    targets: runtime.current().targets,
    concurrency: config.source.concurrency,
    runTimeoutMs: runtime.current().runTimeoutMs,
    run: (target, signal) => runtime.run(target, signal),
    ...(config.source.isLocal ? { round } : {}),
    record: (requests, signal) => recorder.record(requests, signal),
    onUnrecorded: (check, durationSeconds) => fleet.noteUnrecorded(check, durationSeconds),
    metrics,
    logger,
  });
  const states = createCheckStates({ board, runtime, clock, scheduler });
  const fleet: FleetView = createFleetView({ ...options, states });

  return {
    recorder,
    scheduler,
    states,
    fleet,
    load: async () => {
      board.learn(await store.runs.load());
      await learnChecks(store, board, runtime);
    },
    start: () => {
      lastStates.start();
      scheduler.start();
    },
    apply: async () => {
      const { targets, config: applied, runTimeoutMs } = runtime.current();
      try {
        await learnChecks(store, board, runtime);
      } finally {
        // Targets are set even without the numbers of checks, which a run asks for: a check that is no longer configured must not run.
        scheduler.setTargets({ targets, concurrency: applied.source.concurrency, runTimeoutMs });
      }
    },
    stop: async (drainMs) => {
      try {
        await scheduler.stop(drainMs);
      } finally {
        await lastStates.stop();
      }
    },
  };
}

/** Gives each configured check its number, and lets go of the last states of the others. */
async function learnChecks(
  store: Pick<RecorderOptions["store"], "runs">,
  board: Board,
  runtime: Pick<Runtime, "current">,
): Promise<void> {
  const { targets, targetByKey } = runtime.current();
  const ids = await store.runs.addChecks(targets);
  for (const target of targets) board.name(ids.get(checkKey(target)) ?? 0, target);
  await store.runs.forget(board.keepOnly((check) => targetByKey.has(checkKey(check))));
}
