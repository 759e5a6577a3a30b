import { afterEach, beforeEach } from "vitest";

import type { FinishedRun } from "../../src/alerting/finished-run.ts";
import { createRecorder, type Recorded } from "../../src/alerting/record.ts";
import { recordRun } from "./record-run.ts";
import type { Logger } from "../../src/base/logger.ts";
import type { CheckReport } from "../../src/contract/report.ts";
import type { ResultSeverity } from "../../src/contract/severity.ts";
import { createLastStates } from "../../src/monitor/last-states.ts";
import { createScheduler, type SchedulerOptions } from "../../src/monitor/scheduler.ts";
import type { CheckTarget } from "../../src/checks/checks.ts";
import { Board } from "../../src/store/runs/board.ts";
import type { CheckState } from "../../src/store/runs/check-state.ts";
import type { Store } from "../../src/store/store.ts";
import { spikeResult } from "./far-side/scripted-source.ts";
import { createFastStore, type FastStore } from "./store/fast.ts";
import { createVirtualClock, type VirtualClock } from "./virtual-clock.ts";
import { quietSettings } from "./quiet-settings.ts";

export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export type SchedulingWorld = ReturnType<typeof createSchedulingWorld>;

/** Upstream, recorder, metrics and log for schedulers in tests. */
export function createSchedulingWorld(store: Store, clock: VirtualClock) {
  const world = {
    recorded: [] as { readonly slug: string; readonly startedAtMs: number }[],
    states: [] as CheckState[],
    skipped: { late: 0, overlap: 0 } as Record<string, number>,
    lagSeconds: [] as number[],
    log: [] as LogLine[],
    /** Checks under way now, and the most there ever were. */
    upstream: { now: 0, most: 0, starts: 0 },
    /** How long the next runs of a slug take, and what they give. */
    behave: (_slug: string): { readonly durationMs: number; readonly severity?: ResultSeverity } => ({ durationMs: 0 }),
    /** Throws to make recording fail. */
    beforeRecord: (_run: FinishedRun): void => undefined,
    process: createProcess,
  };

  /** A scheduler with the last states that it goes by, not started yet. */
  function createProcess(targets: readonly CheckTarget[], over: Partial<SchedulerOptions> = {}) {
    const board = new Board();
    const logger = createRecordingLogger(world.log);
    const lastStates = createLastStates({
      store,
      writer: { isSure: () => true, renew: async () => undefined },
      board,
      clock,
      logger,
      onRead: () => scheduler.restart(),
    });
    const recorder = createRecorder({
      store,
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
      world.recorded.push(request.report);
      world.states.push(state);
      return recorded;
    }

    return {
      ...scheduler,
      start: async (): Promise<void> => {
        board.learn(await store.runs.load());
        lastStates.start();
        scheduler.start();
      },
      stop: async (drainMs: number): Promise<void> => {
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

/** Answers what makes a world on a clock that begins at `startMs`; each test of the file has a store of its own. */
export function useSchedulingWorlds(
  startMs: number,
): () => Promise<{ clock: VirtualClock; store: Store; world: SchedulingWorld }> {
  let backend: FastStore;
  beforeEach(async () => {
    backend = await createFastStore();
  });
  afterEach(() => backend.remove());
  return async () => {
    const clock = createVirtualClock({ startMs });
    const store = await backend.connect();
    return { clock, store, world: createSchedulingWorld(store, clock) };
  };
}

/** Which organizations were run when, as "SLUG HH:MM:SS". */
export function times(world: SchedulingWorld): string[] {
  return world.recorded.map(({ slug, startedAtMs }) => `${slug} ${new Date(startedAtMs).toISOString().slice(11, 19)}`);
}
