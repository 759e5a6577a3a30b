import type { FinishedRun } from "../../src/alerting/finished-run.ts";
import { createRecorder, recordRun, type Recorded } from "../../src/alerting/record.ts";
import type { Logger } from "../../src/base/logger.ts";
import type { CheckReport } from "../../src/contract/report.ts";
import type { ResultSeverity } from "../../src/contract/severity.ts";
import { firstDueAtMs } from "../../src/monitor/scheduled-checks.ts";
import { createLastStates } from "../../src/monitor/last-states.ts";
import { createScheduler, type Scheduler, type SchedulerOptions } from "../../src/monitor/scheduler.ts";
import type { CheckTarget } from "../../src/checks/checks.ts";
import { Board } from "../../src/store/runs/board.ts";
import type { CheckState } from "../../src/store/runs/check-state.ts";
import type { Store } from "../../src/store/store.ts";
import { spikeResult } from "./far-side/scripted-source.ts";
import type { VirtualClock } from "./virtual-clock.ts";
import { quietSettings } from "./quiet-settings.ts";

/** A run that was recorded. */
export interface RecordedRun {
  readonly owner: string;
  readonly slug: string;
  readonly dueAtMs: number;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
}

export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What schedulers of one store did, whoever they were. */
export interface SchedulingWorld {
  readonly recorded: RecordedRun[];
  /** When processes began, or read the last states again. */
  readonly startsAtMs: number[];
  readonly states: CheckState[];
  readonly skipped: Record<string, number>;
  readonly lagSeconds: number[];
  readonly log: LogLine[];
  /** Checks under way now, and the most there ever were. */
  readonly upstream: { now: number; most: number; starts: number };
  /** How long the next runs of a slug take, and what they give. */
  behave: (slug: string) => { readonly durationMs: number; readonly severity?: ResultSeverity };
  /** Throws to make recording fail. */
  beforeRecord: (request: FinishedRun) => void;
  /** A process on the store that is not started yet. */
  process(owner: string, targets: readonly CheckTarget[], over?: ProcessOptions): SchedulingProcess;
  /** When the check is due, as a process that begins now finds it. */
  nextDueAtMs(target: CheckTarget): Promise<number>;
}

export type ProcessOptions = Partial<SchedulerOptions> & {
  /** Its own connection [the world's]. */
  readonly store?: Store;
  /** Proves that the store takes writes [it does]. */
  readonly renew?: () => Promise<void>;
};

/** A scheduler with the last states that it goes by. */
export type SchedulingProcess = Omit<Scheduler, "start"> & { start(): Promise<void> };

/** Upstream, recorder, metrics and log for schedulers in tests. */
export function createSchedulingWorld(store: Store, clock: VirtualClock): SchedulingWorld {
  const world: SchedulingWorld = {
    recorded: [],
    startsAtMs: [],
    states: [],
    skipped: { late: 0, overlap: 0 },
    lagSeconds: [],
    log: [],
    upstream: { now: 0, most: 0, starts: 0 },
    behave: () => ({ durationMs: 0 }),
    beforeRecord: () => {},
    process: createProcess,
    nextDueAtMs: async (target) => {
      const board = new Board();
      board.learn(await store.runs.load());
      return firstDueAtMs(target, board.state(target.check, target.slug), clock.nowMs());
    },
  };

  function createProcess(
    owner: string,
    targets: readonly CheckTarget[],
    options: ProcessOptions = {},
  ): SchedulingProcess {
    const { store: own = store, renew = () => Promise.resolve(), ...over } = options;
    const board = new Board();
    const logger = createRecordingLogger(world.log);
    const lastStates = createLastStates({
      store: own,
      writer: { isSure: () => true, renew },
      board,
      clock,
      logger,
      onRead: () => {
        world.startsAtMs.push(clock.nowMs());
        scheduler.restart();
      },
    });
    const recorder = createRecorder({
      store: own,
      board,
      onDoubt: () => lastStates.doubt(),
      clock,
      logger,
      newId: () => crypto.randomUUID(),
      settings: () => quietSettings,
      intervalOf: () => 300_000,
      onChange: () => undefined,
    });
    const scheduler = createScheduler({
      canBegin: () => lastStates.areKnown(),
      board,
      clock,
      targets,
      concurrency: 16,
      runTimeoutMs: 60_000,
      run: runUpstream,
      record: (requests, signal) => Promise.allSettled(requests.map((request) => recordOne(request, signal))),
      metrics: {
        checkRan: () => {},
        runSkipped: (_check, reason, count) => (world.skipped[reason] = (world.skipped[reason] ?? 0) + count),
        schedulerLag: (seconds) => world.lagSeconds.push(seconds),
      },
      logger,
      ...over,
    });

    async function recordOne(request: FinishedRun, signal: AbortSignal): Promise<Recorded> {
      world.beforeRecord(request);
      const recorded = await recordRun(recorder, request, signal);
      const { state } = recorded;
      const { report, run } = request;
      const { startedAtMs, finishedAtMs } = report;
      world.recorded.push({ owner, slug: run.slug, dueAtMs: run.dueAtMs, startedAtMs, finishedAtMs });
      world.states.push(state);
      return recorded;
    }

    return {
      ...scheduler,
      start: async () => {
        world.startsAtMs.push(clock.nowMs());
        board.learn(await own.runs.load());
        lastStates.start();
        scheduler.start();
      },
      stop: async (drainMs) => {
        await scheduler.stop(drainMs);
        await lastStates.stop().catch(() => undefined);
      },
    };
  }

  async function runUpstream(target: CheckTarget, signal: AbortSignal): Promise<CheckReport> {
    const startedAtMs = clock.nowMs();
    const { check, slug } = target;
    const { durationMs, severity = "ok" } = world.behave(slug);
    world.upstream.starts++;
    world.upstream.most = Math.max(world.upstream.most, ++world.upstream.now);
    await clock.sleep(durationMs, signal);
    world.upstream.now--;
    const base = { check, slug, startedAtMs, finishedAtMs: clock.nowMs() };
    if (signal.aborted)
      return { ...base, kind: "error", severity: "unknown", error: { reason: "timeout", message: "late" } };
    const counts = { currentCount: 3, baselineCount: 70, expectedCount: 10, ratio: 0.3 };
    return {
      ...base,
      kind: "result",
      severity,
      result: spikeResult(slug, { severity }),
      counts,
      baselineCoverage: null,
    };
  }

  return world;
}

/** A logger that keeps its lines. */
export function createRecordingLogger(lines: LogLine[], bound: object = {}): Logger {
  const write = (level: LogLine["level"]) => (fields: object, message: string) => {
    lines.push({ level, message, fields: { ...bound, ...fields } });
  };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: (fields) => createRecordingLogger(lines, { ...bound, ...fields }),
  };
}

/** A spike check of `slug`, every five minutes in UTC unless `over` says otherwise. */
export function spikeTarget(slug: string, over: Partial<CheckTarget["schedule"]> = {}): CheckTarget {
  return {
    check: "dead-asset-spike",
    slug,
    schedule: { pattern: "*/5 * * * *", timezone: "UTC", jitterMs: 0, ...over },
    thresholds: { windowHours: 24, baselineDays: 7, warnMultiplier: 2, failMultiplier: 4, minSpikeCount: 10 },
  };
}
