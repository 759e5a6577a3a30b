import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createSystemClock, dayMs, hourMs, minuteMs, secondMs } from "../src/base/time.ts";
import { importEvents } from "../src/store/events/import.ts";
import { openStore } from "../src/store/open.ts";
import type { Benchmark, RunningSide, RunOptions, Side } from "./harness/benchmark.ts";
import { mulberry32 } from "./events/data.ts";
import { ownCpuSeconds } from "./harness/process-cpu.ts";

const clock = createSystemClock();
const days = 30;
const assets = 1_000_000;
// Mostly looks that found an asset alive, as a checker makes them.
const deadShare = 0.01;
const rowsAWrite = 20_000;
const asksARound = 20;

/** Looks at the assets of one organization; mail addresses died before the last 23 hours only. */
async function writeLooks(path: string, events: number, endMs: number): Promise<void> {
  const random = mulberry32(11);
  const file = createWriteStream(path);
  file.write("at,slug,assetType,asset,status,attr.checker\n");
  const stepMs = (days * dayMs) / events;
  for (let start = 0; start < events; start += rowsAWrite) {
    let text = "";
    for (let index = start; index < Math.min(start + rowsAWrite, events); index++) {
      const atMs = Math.floor(endMs - days * dayMs + (index + 1) * stepMs);
      const isDead = random() < deadShare;
      const type = isDead && atMs < endMs - 23 * hourMs && random() < 0.1 ? "EMAIL" : "URL";
      const status = isDead ? "DETECTED_AS_DEAD" : "DETECTED_AS_ALIVE";
      text += `${atMs},acme,${type},asset-${Math.floor(random() * assets)},${status},eu-${index % 3}\n`;
    }
    if (!file.write(text)) await once(file, "drain");
  }
  file.end();
  await once(file, "close");
}

async function start(events: number): Promise<RunningSide> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-bench-sample-"));
  const endMs = Math.floor(clock.nowMs() / minuteMs) * minuteMs;
  const csv = join(folder, "looks.csv");
  await writeLooks(csv, events, endMs);
  const path = join(folder, "flatline.db");
  const store = await openStore({ path, clock });
  await importEvents({
    location: { path },
    files: [csv],
    rebaseToMs: null,
    again: false,
    signal: new AbortController().signal,
    clock,
  });
  await rm(csv);
  const interval = { afterMs: endMs - dayMs, untilMs: endMs };
  const ask = async (assetTypes: readonly string[]): Promise<number> => {
    const before = ownCpuSeconds();
    for (let index = 0; index < asksARound; index++) {
      await store.transaction(async ({ evidence }) => {
        const deaths = await evidence.newestDeaths({ slug: "acme", interval, assetTypes, limit: 10 });
        await evidence.factsOf(deaths);
      });
    }
    return ((ownCpuSeconds() - before) / asksARound) * secondMs;
  };
  return {
    measure: async () => ({ newest: await ask(["URL"]), old: await ask(["EMAIL"]), none: await ask(["TELEGRAM"]) }),
    stop: async () => {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
}

const side = (name: string, events: number): Side => ({
  name,
  kind: "flatline",
  start: ({ quick }: RunOptions) => start(quick ? Math.min(events, 5_000) : events),
});

/** What the sample of a notification adds to the latency of an alert. */
export const benchmark: Benchmark = {
  name: "sample",
  title:
    "reading the ten newest dead assets of an organization with looks at a million assets, as a change of its alert does: processor time, 50 ms at most",
  metrics: [
    { name: "newest", title: "died in the last minutes", unit: "ms", better: "less" },
    { name: "old", title: "died 23 hours ago", unit: "ms", better: "less" },
    { name: "none", title: "nobody died", unit: "ms", better: "less" },
  ],
  sides: [side("flatline, 10M events", 10_000_000), side("flatline, 100k events", 100_000)],
  goals: [],
  isolated: true,
};
