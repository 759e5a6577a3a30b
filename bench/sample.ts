import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";

import { medianOf } from "../src/backtest/score.ts";
import { createSystemClock, dayMs, hourMs, minuteMs, secondMs } from "../src/base/time.ts";
import { importEvents } from "../src/store/events/import.ts";
import { openStore } from "../src/store/open.ts";
import type { Benchmark, RunningSide, RunOptions, Side } from "./harness/benchmark.ts";
import { startAlertingDaemon } from "./events/alert-latency.ts";
import { mulberry32 } from "./events/data.ts";
import { ownCpuSeconds } from "./harness/process-cpu.ts";

const clock = createSystemClock();
const days = 30;
const assets = 1_000_000;
// Mostly looks that found an asset alive, as a checker makes them.
const deadShare = 0.01;
const rowsAWrite = 20_000;
const asksARound = 20;
const alertsARound = 4;

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
  const endMs = Math.floor(clock.nowMs() / minuteMs) * minuteMs;
  const daemon = await startAlertingDaemon((folder) => fill(folder, events, endMs));
  const store = await openStore({ path: join(daemon.folder, "flatline.db"), clock });
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
    measure: async () => {
      const reads = { newest: await ask(["URL"]), old: await ask(["EMAIL"]), none: await ask(["TELEGRAM"]) };
      const [named, unnamed]: [number[], number[]] = [[], []];
      for (let turn = 0; turn < alertsARound; turn++) {
        // Another one first each time.
        if (turn % 2 === 0) named.push(await daemon.fire(10));
        unnamed.push(await daemon.fire(0));
        if (turn % 2 === 1) named.push(await daemon.fire(10));
      }
      // Of neighbours in time: what the machine does besides changes slowly.
      const added = medianOf(named.map((ms, turn) => ms - (unnamed[turn] ?? 0))) ?? 0;
      return { ...reads, alert: medianOf(named) ?? 0, alertWithout: medianOf(unnamed) ?? 0, added };
    },
    stop: async () => {
      await store.close();
      await daemon.stop();
    },
  };
}

async function fill(folder: string, events: number, endMs: number): Promise<void> {
  const csv = join(folder, "looks.csv");
  await writeLooks(csv, events, endMs);
  const path = join(folder, "flatline.db");
  const store = await openStore({ path, clock });
  await store.close();
  await importEvents({
    location: { path },
    files: [csv],
    rebaseToMs: null,
    again: false,
    signal: new AbortController().signal,
    clock,
  });
  await rm(csv);
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
    "Reading the ten newest dead assets of an organization with looks at a million assets, as a change of its alert does (processor time), and an alert from the start of its run to its receiver",
  metrics: [
    { name: "newest", title: "died in the last minutes", unit: "ms", better: "less" },
    { name: "old", title: "died 23 hours ago", unit: "ms", better: "less" },
    { name: "none", title: "no asset died", unit: "ms", better: "less" },
    { name: "alert", title: "run to receiver, `sample: 10`", unit: "ms", better: "less" },
    { name: "alertWithout", title: "run to receiver, `sample: 0`", unit: "ms", better: "less" },
    { name: "added", title: "what the sample adds", unit: "ms", better: "less" },
  ],
  sides: [side("flatline, 10M events", 10_000_000), side("flatline, 100k events", 100_000)],
  goals: [
    {
      title: "what the sample adds to an alert at 10M events",
      of: { side: "flatline, 10M events", metric: "added" },
      bound: "at most",
      goal: 50,
    },
  ],
  isolated: true,
};
