import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createSystemClock, dayMs, hourMs } from "../src/base/time.ts";
import { createApiKey } from "../src/service/api-keys.ts";
import { openStore } from "../src/store/open.ts";
import type { Benchmark, Side } from "./harness/benchmark.ts";
import { startChild, startScript } from "./harness/child.ts";
import { freePort } from "../test/support/free-port.ts";
import { sleepMs, startDaemon } from "./daemon.ts";
import { cpuSecondsOf } from "./harness/process-cpu.ts";

const path = "/api/v2/healthchecks/assets/dead-asset-spike";
const connections = 16;
const warmUpMs = 3_000;
const durationMs = 5_000;
const body = JSON.stringify({ slug: "acme", windowHours: 24, baselineDays: 7, minSpikeCount: 10 });
// As long as flatline's own answer.
const fixedReply = JSON.stringify({ text: "x".repeat(436) });

const flatline: Side = {
  name: "flatline",
  kind: "flatline",
  start: async ({ quick }) => {
    let key = "";
    const config = "source: { type: embedded }\norganizations: [acme]\n";
    const prepare = async (folder: string): Promise<void> => {
      const clock = createSystemClock();
      const nowMs = clock.nowMs();
      const store = await openStore({ path: join(folder, "flatline.db"), clock });
      const wanted = { name: "bench", role: "customer", organizations: ["acme"], nowMs } as const;
      ({ key } = await createApiKey(store, wanted));
      const death = { slug: "acme", assetType: "URL", asset: null, status: "DETECTED_AS_DEAD", id: null, count: 40 };
      const deaths = Array.from({ length: 8 }, (_, day) => ({ ...death, atMs: nowMs - day * dayMs - hourMs }));
      await store.transaction(({ events }) => events.add(deaths));
      await store.close();
    };
    const daemon = await startDaemon({ config, prepare });
    return {
      measure: () => measure({ port: Number(new URL(daemon.url).port), pid: daemon.pid, key, quick }),
      stop: () => daemon.stop(),
    };
  },
};

const bare: Side = {
  name: "bare node:http",
  kind: "peer",
  version: () => process.versions.node,
  start: async ({ quick }) => {
    const port = await freePort();
    const server = fileURLToPath(new URL("bare-server.cjs", import.meta.url));
    const child = startChild(process.execPath, [server, String(port), fixedReply]);
    await sleepMs(500);
    return { measure: () => measure({ port, pid: child.pid, key: "none", quick }), stop: () => child.stop() };
  },
};

interface Server {
  readonly port: number;
  readonly pid: number;
  readonly key: string;
  readonly quick: boolean;
}

async function measure({ port, pid, key, quick }: Server): Promise<Record<string, number>> {
  await loadFor(port, key, quick ? 200 : warmUpMs);
  const before = cpuSecondsOf(pid);
  const { answers, seconds } = await loadFor(port, key, quick ? 500 : durationMs);
  return { requests: answers / seconds, perCpu: answers / (cpuSecondsOf(pid) - before) };
}

/** Requests, from a process of its own. */
async function loadFor(port: number, key: string, periodMs: number): Promise<{ answers: number; seconds: number }> {
  const headers = { "x-api-key": key, "content-type": "application/json", accept: "application/json" };
  const load = { port, method: "POST", path, headers, body, connections, durationMs: periodMs };
  const child = startScript("harness/http-load.ts", [JSON.stringify(load)]);
  try {
    const { answers, refused, elapsedMs } = JSON.parse(await child.line()) as Record<string, number>;
    if (answers === undefined || elapsedMs === undefined || refused !== 0) throw new Error(`${refused} were refused`);
    return { answers, seconds: elapsedMs / 1_000 };
  } finally {
    await child.stop();
  }
}

/** The healthcheck of the embedded service. */
export const benchmark: Benchmark = {
  name: "api",
  title: "POST …/dead-asset-spike, key checked, body validated, spike evaluated; 16 connections",
  metrics: [
    { name: "requests", title: "requests", unit: "a second", better: "more" },
    { name: "perCpu", title: "requests", unit: "per CPU second", better: "more" },
  ],
  sides: [flatline, bare],
  goals: [
    {
      title: "requests a second",
      of: { side: "flatline" },
      by: { side: "bare node:http" },
      bound: "at least",
      goal: 0.5,
      moonshot: 0.8,
    },
    {
      // The generator and the server share the machine: this one counts the server alone.
      title: "requests per CPU second",
      of: { side: "flatline", metric: "perCpu" },
      by: { side: "bare node:http", metric: "perCpu" },
      bound: "at least",
      goal: 0.5,
      moonshot: 0.8,
    },
  ],
};
