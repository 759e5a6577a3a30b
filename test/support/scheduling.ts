import type { Logger } from "../../src/base/logger.ts";
import type { CheckReport } from "../../src/contract/report.ts";
import type { ResultSeverity } from "../../src/contract/severity.ts";
import type { RecordRequest } from "../../src/alerting/record.ts";
import { createScheduler, type Scheduler, type SchedulerOptions } from "../../src/monitor/scheduler.ts";
import type { CheckTarget } from "../../src/monitor/target.ts";
import type { CheckState, ScheduleStore } from "../../src/store/runs/schedule.ts";
import { spikeResult } from "./scripted-source.ts";
import type { VirtualClock } from "./virtual-clock.ts";

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
  process(owner: string, targets: readonly CheckTarget[], over?: Partial<SchedulerOptions>): Scheduler;
}

/** Upstream, recorder, metrics and log for schedulers in tests. */
export function createSchedulingWorld(store: ScheduleStore, clock: VirtualClock): SchedulingWorld {
  const world: SchedulingWorld = {
    recorded: [],
    states: [],
    skipped: { late: 0, overlap: 0 },
    lagSeconds: [],
    log: [],
    upstream: { now: 0, most: 0, starts: 0 },
    behave: () => ({ durationMs: 0 }),
    beforeRecord: () => {},
    process: (owner, targets, over = {}) =>
      createScheduler({
        store,
        clock,
        owner,
        targets,
        concurrency: 16,
        runTimeoutMs: 60_000,
        run: runUpstream,
        record: async (request) => {
          world.beforeRecord(request);
          const [state = null] = await (over.store ?? store).completeAll([request]);
          const { report, run } = request;
          const { startedAtMs, finishedAtMs } = report;
          if (state !== null)
            world.recorded.push({ owner, slug: run.slug, dueAtMs: run.dueAtMs, startedAtMs, finishedAtMs });
          return { state };
        },
        onRecorded: (state) => world.states.push(state),
        metrics: {
          checkRan: () => {},
          runSkipped: (_check, reason, count) => (world.skipped[reason] += count),
          schedulerLag: (seconds) => world.lagSeconds.push(seconds),
        },
        logger: createRecordingLogger(world.log),
        ...over,
      }),
  };

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
