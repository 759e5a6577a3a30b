import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

import { nothingRead, unpackRow, type ReadRuns } from "../../src/store/runs/journal-row.ts";
import type { RunningSide, RunOptions } from "../harness/benchmark.ts";
import { startChild } from "../harness/child.ts";
import { everySecond, sleepMs, startDaemon, type BenchDaemon } from "../daemon.ts";
import { fillStore } from "../events/embedded-store.ts";
import { cpuSecondsOf, residentBytesOf } from "../harness/process-cpu.ts";
import { copyStore } from "../harness/store-files.ts";

// Each organization runs twice before anything is counted: then its sums are in memory, and hot code is compiled.
const warmUpRounds = 2;
const leastWarmUpMs = 6_000;
const measureMs = 6_000;
// Longer than the second in which each is due once.
const quickMeasureMs = 1_500;
const warmWithinMs = 240_000;
// A hundred thousand take some ten seconds of processor time, of which a busy machine gives a tenth.
const readyWithinMs = 120_000;
const eventsEach = 10;
const mebibyte = 2 ** 20;

/** A fleet of so many organizations: what a round of checks, a scrape and the schedule cost, and what the daemon holds. */
export async function startFleet(organizations: number, { quick }: RunOptions): Promise<RunningSide> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-bench-"));
  const filled = join(folder, "filled.db");
  const count = quick ? Math.ceil(organizations / 100) : organizations;
  await fillStore(filled, count, eventsEach);
  return {
    measure: async () => ({
      ...(await daemonCosts(filled, count, quick)),
      ...(await scriptCosts("growth/scrape.ts", [String(count)])),
      ...(await scheduleCosts(count)),
    }),
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Of the real daemon with more due than it can do: processor time of a round, and memory. */
async function daemonCosts(filled: string, count: number, quick: boolean): Promise<Record<string, number>> {
  const config = `source: { type: embedded, concurrency: 100 }\n${everySecond(count)}`;
  const prepare = (folder: string): Promise<void> => copyStore(filled, join(folder, "flatline.db"));
  const daemon = await startDaemon({ config, prepare, readyWithinMs });
  try {
    const startCpuSeconds = cpuSecondsOf(daemon.pid);
    const startedAtMs = performance.now();
    while (claims(daemon) < count * warmUpRounds || performance.now() - startedAtMs < (quick ? 300 : leastWarmUpMs)) {
      if (performance.now() - startedAtMs > warmWithinMs)
        throw new Error(`${count} organizations: too slow to warm up`);
      await sleepMs(200);
    }
    const cpuBefore = cpuSecondsOf(daemon.pid);
    const before = claims(daemon);
    await sleepMs(quick ? quickMeasureMs : measureMs);
    const cpuSeconds = cpuSecondsOf(daemon.pid) - cpuBefore;
    return {
      round: (cpuSeconds / (claims(daemon) - before)) * count * 1_000,
      fleetStart: startCpuSeconds * 1_000,
      memory: residentBytesOf(daemon.pid) / mebibyte,
    };
  } finally {
    await daemon.stop();
  }
}

/** Runs of this hour, from the store: /metrics of a hundred thousand organizations would cost more than what is measured. */
function claims({ folder }: BenchDaemon): number {
  const db = new DatabaseSync(join(folder, "flatline.db"), { readOnly: true, timeout: 5_000 });
  try {
    const rows = db.prepare("SELECT owner_id, runs FROM journal ORDER BY owner_id, seq").all();
    const read = new Map<unknown, ReadRuns>();
    let runs = 0;
    for (const { owner_id: ownerId, runs: packed } of rows) {
      const known = read.get(ownerId) ?? nothingRead();
      read.set(ownerId, known);
      if (!(packed instanceof Uint8Array)) continue;
      const row = unpackRow(packed, known);
      runs += row.repeats.reduce((sum, { checkIds }) => sum + checkIds.length, row.runs.length);
    }
    return runs;
  } finally {
    db.close();
  }
}

async function scheduleCosts(count: number): Promise<Record<string, number>> {
  const { bytesPerJob = Number.NaN, createCpuUs = Number.NaN } = await scriptCosts("schedule-jobs.ts", [
    "flatline",
    String(count),
    "0",
  ]);
  return { schedule: (bytesPerJob * count) / mebibyte, creation: (createCpuUs * count) / 1_000 };
}

async function scriptCosts(script: string, args: readonly string[]): Promise<Record<string, number>> {
  const file = fileURLToPath(new URL(`../${script}`, import.meta.url));
  const child = startChild(process.execPath, ["--expose-gc", file, ...args]);
  try {
    return JSON.parse(await child.line()) as Record<string, number>;
  } finally {
    await child.stop();
  }
}
