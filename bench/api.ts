import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createSystemClock, dayMs, hourMs } from "../src/base/time.ts";
import { actor } from "../src/contract/actor.ts";
import { createKeyActs } from "../src/service/api-keys.ts";
import { openStore } from "../src/store/open.ts";
import { freePort } from "../test/support/free-port.ts";
import { eventually, startProgram } from "../test/support/program/program.ts";
import type { Benchmark, Readings, Side } from "./harness/benchmark.ts";
import { startDaemon, startScript } from "./processes.ts";

const path = "/api/v2/healthchecks/assets/dead-asset-spike";
const connections = 16;
const body = JSON.stringify({ slug: "acme", windowHours: 24, baselineDays: 7, minSpikeCount: 10 });
// As long as flatline's own answer.
const fixedReply = JSON.stringify({ text: "x".repeat(436) });

/** The program of a server that answers everything with one text. */
export const bareServer = fileURLToPath(new URL("bare-server.mjs", import.meta.url));

const flatline: Side = {
  name: "flatline",
  start: async (quick, releases) => {
    let key = "";
    const config = "source: { type: embedded }\norganizations: [acme]\n";
    const prepare = async (folder: string): Promise<void> => {
      const clock = createSystemClock();
      const nowMs = clock.nowMs();
      const store = await openStore({ path: join(folder, "flatline.db"), clock });
      const wanted = { name: "bench", role: "customer", organizations: ["acme"] } as const;
      ({ key } = await createKeyActs({ store, clock }).create(wanted, actor("bench", "cli")));
      const death = { slug: "acme", assetType: "URL", asset: null, status: "DETECTED_AS_DEAD", id: null, count: 40 };
      const deaths = Array.from({ length: 8 }, (_, day) => ({ ...death, atMs: nowMs - day * dayMs - hourMs }));
      await store.transaction(({ events }) => events.add(deaths));
      await store.close();
    };
    const { url } = await startDaemon({ config, prepare }, releases);
    return () => measure(Number(new URL(url).port), key, quick);
  },
};

const bare: Side = {
  name: "bare node:http",
  start: async (quick, releases) => {
    const port = await freePort();
    releases.use(startProgram([String(port), fixedReply], { cwd: tmpdir(), entry: bareServer }));
    await eventually(async () => (await fetch(`http://127.0.0.1:${port}/`)).ok);
    return () => measure(port, "none", quick);
  },
};

async function measure(port: number, key: string, quick: boolean): Promise<Readings> {
  await load(port, key, quick ? 200 : 3_000);
  return { requests: await load(port, key, quick ? 500 : 5_000) };
}

/** Answers a second, to a process of its own. */
async function load(port: number, key: string, durationMs: number): Promise<number> {
  const headers = { "x-api-key": key, "content-type": "application/json", accept: "application/json" };
  await using releases = new AsyncDisposableStack();
  const options = JSON.stringify({ port, path, headers, body, connections, durationMs });
  return Number((await startScript("api/load.ts", [options], releases)).line);
}

/** The healthcheck of the embedded service. */
export const benchmark: Benchmark = {
  name: "api",
  title: "POST …/dead-asset-spike, key checked, body validated, spike evaluated; 16 connections",
  metrics: [{ name: "requests", title: "requests", unit: "a second", better: "more" }],
  sides: [flatline, bare],
  goals: [
    {
      title: "healthchecks served a second",
      metric: "requests",
      peer: "bare node:http",
      bound: "at least",
      goal: 0.5,
    },
  ],
};
