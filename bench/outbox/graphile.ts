// One repetition of graphile-worker's side: from the first job added to the last one completed.
import pg from "pg";

import type { Notification } from "../../src/alerting/notify/notification.ts";
import { clock, createWebhook, deliveriesAtOnce, enqueuedAtOnce, notificationOf, readWork, sayDone } from "./work.ts";
import { importPeer } from "../harness/installed.ts";

interface WorkerUtils {
  addJobs(jobs: readonly { identifier: string; payload: unknown }[]): Promise<unknown>;
  release(): Promise<void>;
}
interface GraphileWorker {
  readonly run: (options: object) => Promise<{ stop(): Promise<void> }>;
  readonly makeWorkerUtils: (options: object) => Promise<WorkerUtils>;
  Logger: new (factory: () => () => void) => unknown;
}

const { url, notifications, target } = readWork();
const { run, makeWorkerUtils, Logger } = await importPeer<GraphileWorker>("graphile-worker");
const webhook = createWebhook("benchmark", url);
const runner = await run({
  connectionString: target,
  logger: new Logger(() => () => undefined),
  noHandleSignals: true,
  // As its documentation has it for throughput: jobs are fetched and completed by the hundred.
  preset: {
    worker: {
      concurrentJobs: deliveriesAtOnce,
      localQueue: { size: 500 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    },
  },
  taskList: {
    deliver: async (payload: unknown) => {
      const context = { signal: AbortSignal.timeout(10_000), nowMs: clock.nowMs() };
      const outcome = await webhook.deliver(payload as Notification, context);
      if (outcome.kind !== "accepted") throw new Error(`a notification was ${outcome.kind}`);
    },
  },
});
const utils = await makeWorkerUtils({ connectionString: target });
const pool = new pg.Pool({ connectionString: target, max: 1 });
const startedAtMs = clock.monotonicMs();
for (let start = 0; start < notifications; start += enqueuedAtOnce) {
  const jobs = Array.from({ length: Math.min(enqueuedAtOnce, notifications - start) }, (_, index) => ({
    identifier: "deliver",
    payload: notificationOf(start + index),
  }));
  await utils.addJobs(jobs);
}
for (;;) {
  const { rows } = await pool.query<{ left: boolean }>("select exists (select from graphile_worker.jobs) as left");
  if (rows[0]?.left === false) break;
  await clock.sleep(5);
}
sayDone(startedAtMs);
await utils.release();
await runner.stop();
await pool.end();
process.exit();
