import { createRecorder, type Recorder } from "../../../src/alerting/record.ts";
import type { Logger } from "../../../src/base/logger.ts";
import { Secret } from "../../../src/base/secret.ts";
import { createFold } from "../../../src/daemon/fold.ts";
import { startSharedClock } from "../../../src/daemon/shared-clock.ts";
import { checkKey } from "../../../src/contract/check-key.ts";
import type { CheckReport } from "../../../src/contract/report.ts";
import { createMembership, type Membership } from "../../../src/monitor/membership.ts";
import { createRunRequests } from "../../../src/monitor/run-requests.ts";
import { createScheduler, type Scheduler } from "../../../src/monitor/scheduler.ts";
import type { CheckTarget } from "../../../src/checks/checks.ts";
import { openPostgresStore } from "../../../src/store/open-postgres.ts";
import { Board } from "../../../src/store/runs/board.ts";
import { quietSettings } from "../../support/quiet-settings.ts";
import { createModelPool } from "./postgres/pool.ts";
import type { ModelServer } from "./postgres/server.ts";
import type { Process } from "./process.ts";

export interface ReplicaOptions {
  readonly process: Process;
  readonly server: ModelServer;
  readonly targets: readonly CheckTarget[];
  readonly run: (target: CheckTarget, clock: Process["clock"], signal: AbortSignal) => Promise<CheckReport>;
  readonly logger: Logger;
}

/** What runs checks in one of several processes on a PostgreSQL: the daemon's own parts, as src/daemon/checking.ts wires them. */
export interface Replica {
  readonly board: Board;
  /** Rejects when the database cannot be used: then the process ends. */
  start(): Promise<void>;
  stop(drainMs: number): Promise<void>;
  runNow(slug: string): Promise<CheckReport>;
}

const concurrency = 16;
const runTimeoutMs = 30_000;
const askTimeoutMs = 20_000;
const url = new Secret("postgres://flatline@model.test/flatline");
const ignore = (): void => undefined;

/** Creates one that has not started. */
export function createReplica({ process, server, targets, logger, run }: ReplicaOptions): Replica {
  const { clock: machineClock } = process;
  const board = new Board();
  let running: { readonly scheduler: Scheduler; readonly stop: (drainMs: number) => Promise<void> } | null = null;

  async function start(): Promise<void> {
    const store = await openPostgresStore({
      url,
      retryClock: machineClock,
      createPool: createModelPool(server, process),
    });
    const shared = await startSharedClock({ store, clock: machineClock, logger });
    const { clock } = shared;
    const membership: Membership = createMembership({
      store,
      board,
      clock,
      logger,
      onShards: () => {
        scheduler.shardsChanged();
        recorder.shardsChanged();
      },
      onFollowed: ignore,
      whenIdle: (isOf) => scheduler.whenIdle(isOf),
      onLook: () => requests.answer(),
    });
    const requests = createRunRequests({
      store,
      board,
      membership,
      clock,
      logger,
      scheduler: () => scheduler,
      runWithinMs: () => runTimeoutMs,
    });
    const recorder: Recorder = createRecorder({
      store,
      board,
      owner: () => membership.owner(),
      distrust: (owner) => membership.distrust(owner),
      clock,
      logger,
      newId: () => "never used: no alert is configured",
      settings: () => quietSettings,
      onChange: ignore,
    });
    const scheduler: Scheduler = createScheduler({
      membership,
      board,
      clock,
      targets,
      concurrency,
      runTimeoutMs,
      run: (target, signal) => run(target, clock, signal),
      record: (request, signal) => recorder.record(request, signal),
      runElsewhere: (check, signal) => requests.ask(check, signal),
      metrics: { checkRan: ignore, runSkipped: ignore, schedulerLag: ignore },
      logger,
    });
    const fold = createFold({ store, clock, logger });
    await membership.start(false);
    const ids = await store.runs.addChecks(targets);
    for (const target of targets) board.name(ids.get(checkKey(target)) ?? 0, target);
    await store.runs.forget(board.keepOnly(({ slug }) => targets.some((target) => target.slug === slug)));
    scheduler.start();
    fold.start();
    running = {
      scheduler,
      stop: async (drainMs) => {
        try {
          await Promise.all([scheduler.stop(drainMs), fold.stop()]);
        } finally {
          await membership.stop();
          await shared.stop();
          await store.close();
        }
      },
    };
  }

  return {
    board,
    start,
    stop: async (drainMs) => running?.stop(drainMs),
    runNow: async (slug) => {
      if (running === null) throw new Error("not started");
      return running.scheduler.runNow("dead-asset-spike", slug, machineClock.timeout(askTimeoutMs));
    },
  };
}
