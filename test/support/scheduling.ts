import type { RecordRequest } from "../../src/alerting/finished-run.ts";
import { createRecorder, recordRun, type Recorded } from "../../src/alerting/record.ts";
import type { Logger } from "../../src/base/logger.ts";
import type { CheckReport } from "../../src/contract/report.ts";
import type { ResultSeverity } from "../../src/contract/severity.ts";
import { firstDueAtMs } from "../../src/monitor/due-times.ts";
import { createRunRequests } from "../../src/monitor/run-requests.ts";
import { createMembership } from "../../src/monitor/membership.ts";
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
  /** When processes began, or took checks of another one. */
  readonly startsAtMs: number[];
  readonly states: CheckState[];
  readonly skipped: { late: number; overlap: number };
  readonly lagSeconds: number[];
  readonly log: LogLine[];
  /** Checks under way now, and the most there ever were. */
  readonly upstream: { now: number; most: number; starts: number };
  /** How long the next runs of a slug take, and what they give. */
  behave: (slug: string) => { readonly durationMs: number; readonly severity?: ResultSeverity };
  /** Throws to make recording fail. */
  beforeRecord: (request: RecordRequest) => void;
  /** A process on the store that is not started yet. */
  process(owner: string, targets: readonly CheckTarget[], over?: ProcessOptions): SchedulingProcess;
  /** When the check is due, as a process that begins now finds it. */
  nextDueAtMs(target: CheckTarget): Promise<number>;
}

export type ProcessOptions = Partial<SchedulerOptions> & {
  /** Its own connection [the world's]. */
  readonly store?: Store;
  /** Others are on the store, too [it is alone]. */
  readonly isShared?: boolean;
  /** Asks the owner of a check that is not its own for a run, and answers those who ask [does neither]. */
  readonly asksOwners?: boolean;
};

/** A scheduler with its part in the checks. */
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
    const { store: own = store, isShared = false, asksOwners = false, ...over } = options;
    const board = new Board();
    const logger = createRecordingLogger(world.log);
    const membership = createMembership({
      store: own,
      board,
      clock,
      logger,
      onShards: () => {
        world.startsAtMs.push(clock.nowMs());
        scheduler.shardsChanged();
        recorder.shardsChanged();
      },
      onFollowed: () => undefined,
      whenIdle: (isOf) => scheduler.whenIdle(isOf),
      ...(asksOwners ? { onLook: () => requests.answer() } : {}),
    });
    const requests = createRunRequests({
      store: own,
      board,
      membership,
      clock,
      logger,
      scheduler: () => scheduler,
      runWithinMs: () => 60_000,
    });
    const recorder = createRecorder({
      store: own,
      board,
      owner: () => membership.owner(),
      distrust: (owner) => membership.distrust(owner),
      clock,
      logger,
      newId: () => crypto.randomUUID(),
      settings: () => quietSettings,
      intervalOf: () => 300_000,
      onChange: () => undefined,
    });
    const scheduler = createScheduler({
      membership,
      board,
      clock,
      targets,
      concurrency: 16,
      runTimeoutMs: 60_000,
      run: runUpstream,
      record: (requests, signal) => Promise.allSettled(requests.map((request) => recordOne(request, signal))),
      metrics: {
        checkRan: () => {},
        runSkipped: (_check, reason, count) => (world.skipped[reason] += count),
        schedulerLag: (seconds) => world.lagSeconds.push(seconds),
      },
      logger,
      ...(asksOwners ? { runElsewhere: (check, signal) => requests.ask(check, signal) } : {}),
      ...over,
    });

    async function recordOne(request: RecordRequest, signal: AbortSignal): Promise<Recorded> {
      world.beforeRecord(request);
      const recorded = await recordRun(recorder, request, signal);
      const { state } = recorded;
      if (state === null) return recorded;
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
        await membership.start(!isShared);
        scheduler.start();
      },
      stop: async (drainMs) => {
        await scheduler.stop(drainMs);
        await membership.stop().catch(() => undefined);
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
