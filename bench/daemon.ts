import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../test/support/free-port.ts";

import type { RunOptions } from "./harness/benchmark.ts";
import { startChild } from "./harness/child.ts";
import { cpuSecondsOf } from "./harness/process-cpu.ts";

export interface BenchDaemon {
  readonly pid: number;
  readonly folder: string;
  readonly url: string;
  /** Runs that were recorded so far, by what they gave. */
  runs(): Promise<Readonly<Record<string, number>>>;
  stop(): Promise<void>;
}

export interface BenchDaemonOptions {
  /** flatline.yaml, but for `server` and `storage`. */
  readonly config: string;
  /** [the file `flatline.db` in its folder] */
  readonly storage?: string;
  /** Called with the folder before the start, to fill the store `flatline.db`. */
  readonly prepare?: (folder: string) => Promise<void>;
  /** [60 s] */
  readonly readyWithinMs?: number;
}

export interface MeasureOptions extends BenchDaemonOptions, RunOptions {
  /** [6 s] */
  readonly warmUpMs?: number;
  /** [5 s] */
  readonly durationMs?: number;
  /** Processor time so far of what is measured [the daemon]. */
  readonly cpuSeconds?: () => number;
}

const defaultReadyWithinMs = 60_000;
// Until the hot functions are compiled and every organization has run once.
const defaultWarmUpMs = 6_000;
const defaultDurationMs = 5_000;

/** The real daemon, `flatline run`, in a process and a temporary folder of its own. */
export async function startDaemon({
  config,
  storage = "{ path: flatline.db }",
  prepare,
  readyWithinMs,
}: BenchDaemonOptions): Promise<BenchDaemon> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-bench-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const yaml = `${config}\nserver: { listen: "127.0.0.1:${port}" }\nstorage: ${storage}\nlog: { level: warn }\n`;
  await writeFile(join(folder, "flatline.yaml"), yaml);
  await prepare?.(folder);
  const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
  const nodeOptions = (process.env["BENCH_NODE_OPTIONS"] ?? "").split(" ").filter((option) => option !== "");
  const child = startChild(process.execPath, [...nodeOptions, main, "run", "-c", "flatline.yaml"], { cwd: folder });
  const stop = async (): Promise<void> => {
    await child.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilReady(url, readyWithinMs ?? defaultReadyWithinMs);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    pid: child.pid,
    folder,
    url,
    runs: async () => {
      const text = await (await fetch(`${url}/metrics`)).text();
      const counts: Record<string, number> = {};
      for (const [, outcome = "", count] of text.matchAll(
        /^flatline_check_runs_total\{[^}]*outcome="(\w+)"\} (\d+)$/gm,
      ))
        counts[outcome] = (counts[outcome] ?? 0) + Number(count);
      return counts;
    },
    stop,
  };
}

/** One repetition with a daemon of its own: recorded checks a CPU second. A run without a result is an error. */
export async function measureDaemon({
  quick,
  warmUpMs = defaultWarmUpMs,
  durationMs = defaultDurationMs,
  cpuSeconds: givenCpuSeconds,
  ...options
}: MeasureOptions): Promise<{ checks: number }> {
  const daemon = await startDaemon(options);
  const cpuSecondsNow = givenCpuSeconds ?? (() => cpuSecondsOf(daemon.pid));
  try {
    await sleepMs(quick ? 500 : warmUpMs);
    const before = await daemon.runs();
    const cpuBefore = cpuSecondsNow();
    await sleepMs(quick ? 1_500 : durationMs);
    const cpuSeconds = cpuSecondsNow() - cpuBefore;
    const after = await daemon.runs();
    if ((after["error"] ?? 0) > 0) throw new Error(`${after["error"]} runs gave no result`);
    return { checks: (sum(after) - sum(before)) / cpuSeconds };
  } finally {
    await daemon.stop();
  }
}

export function sleepMs(delayMs: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, delayMs));
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

/** Organizations that are due each second, all at once or spread: with many there is always work, as not all can be done. */
export function everySecond(count: number, jitter = "0s"): string {
  const slugs = Array.from({ length: count }, (_, index) => `  - org-${index}`);
  return [`defaults: { schedule: "* * * * * *", jitter: ${jitter} }`, "organizations:", ...slugs].join("\n");
}

async function untilReady(url: string, readyWithinMs: number): Promise<void> {
  for (const startedAtMs = performance.now(); performance.now() - startedAtMs < readyWithinMs;) {
    const response = await fetch(`${url}/-/ready`).catch(() => null);
    await response?.body?.cancel();
    if (response?.status === 200) return;
    await sleepMs(50);
  }
  throw new Error(`${url} was not ready in time`);
}
