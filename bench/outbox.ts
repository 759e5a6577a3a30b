import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Benchmark, Side } from "./harness/benchmark.ts";
import { startScript } from "./harness/child.ts";
import { startPostgres } from "./harness/local-postgres.ts";
import type { OutboxWork } from "./outbox/work.ts";
import { missingPackage, packageVersion } from "./harness/installed.ts";

const notificationsARun = 10_000;

/** Runs one of the two worker files once; the receiver is a process of its own and answers every request with 200. */
async function deliverAll(script: string, work: OutboxWork): Promise<{ deliveries: number }> {
  const worker = startScript(script, [JSON.stringify(work)]);
  try {
    const { seconds } = JSON.parse(await worker.line()) as { seconds: number };
    return { deliveries: work.notifications / seconds };
  } finally {
    await worker.stop();
  }
}

const flatline: Side = {
  name: "flatline",
  kind: "flatline",
  start: async ({ quick }) => {
    const receiver = startScript("outbox/receiver.ts");
    const url = `http://127.0.0.1:${await receiver.line()}/hook`;
    const notifications = quick ? 50 : notificationsARun;
    return {
      measure: async () => {
        const target = await mkdtemp(join(tmpdir(), "flatline-bench-"));
        try {
          return await deliverAll("outbox/flatline.ts", { url, notifications, target });
        } finally {
          await rm(target, { recursive: true, force: true });
        }
      },
      stop: () => receiver.stop(),
    };
  },
};

const graphileWorker: Side = {
  name: "graphile-worker on PostgreSQL",
  kind: "peer",
  version: () => packageVersion("graphile-worker"),
  missing: () => missingPackage("graphile-worker"),
  start: async ({ quick }) => {
    const folder = await mkdtemp(join(tmpdir(), "flatline-bench-"));
    // PostgreSQL runs as a user of its own where this is root.
    await chmod(folder, 0o755);
    const postgres = await startPostgres(folder);
    const receiver = startScript("outbox/receiver.ts");
    const url = `http://127.0.0.1:${await receiver.line()}/hook`;
    const notifications = quick ? 50 : notificationsARun;
    const target = `postgres://postgres:bench@127.0.0.1:${postgres.client.port}/postgres`;
    return {
      measure: () => deliverAll("outbox/graphile.ts", { url, notifications, target }),
      stop: async () => {
        await receiver.stop();
        await postgres.stop();
        await rm(folder, { recursive: true, force: true });
      },
    };
  },
};

/** The outbox row of docs/benchmarks.md. */
export const benchmark: Benchmark = {
  name: "outbox",
  title: "Notifications a second, from enqueued to delivered and acknowledged, every commit on the disk",
  metrics: [{ name: "deliveries", title: "deliveries", unit: "per second", better: "more" }],
  sides: [flatline, graphileWorker],
  goals: [
    {
      title: "outbox, enqueue to acknowledgement",
      of: { side: "flatline" },
      by: { side: "graphile-worker on PostgreSQL" },
      bound: "at least",
      goal: 0.9,
      moonshot: 2,
    },
  ],
};
