import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { dayMs, hourMs, minuteMs } from "../src/base/time.ts";
import type { Benchmark, Side } from "./harness/benchmark.ts";
import { startScript } from "./harness/child.ts";
import { fillStore, type Fleet } from "./history/fleet.ts";

const retentionHours = (90 * dayMs) / hourMs;
// What is written before the second hour ends is written once: the board, the checks, the first reports.
const settledHours = 2;
const gigabyte = 1e9;

/** Fills a store of `fleet`; `measure` gets its path and the size after each hour. */
function side(
  name: string,
  { source, organizations, everyMs, hours, isLastHourOpen }: Omit<Fleet, "path">,
  measure: (path: string, sizes: readonly number[]) => Promise<Readonly<Record<string, number>>>,
): Side {
  return {
    name,
    kind: "flatline",
    start: async ({ quick }) => {
      const folder = await mkdtemp(join(tmpdir(), "flatline-bench-history-"));
      const path = join(folder, "flatline.db");
      const fleet = quick ? { organizations: 20, hours: settledHours + 1 } : { organizations, hours };
      const sizes = await fillStore({ path, source, everyMs, isLastHourOpen, ...fleet });
      return {
        measure: () => measure(path, sizes),
        stop: () => rm(folder, { recursive: true, force: true }),
      };
    },
  };
}

/** The size after 90 days in gigabytes: what is written once, and the growth of an hour as often as there are hours. */
async function stateAfterRetention(_path: string, sizes: readonly number[]): Promise<Readonly<Record<string, number>>> {
  const settled = sizes[settledHours - 1] ?? 0;
  const anHour = ((sizes.at(-1) ?? 0) - settled) / (sizes.length - settledHours);
  return { stateGb: (settled + anHour * (retentionHours - settledHours)) / gigabyte };
}

/** A process that opens the store and reads the board, as a daemon does at its start. */
async function boardBack(path: string): Promise<Readonly<Record<string, number>>> {
  const child = startScript("history/board.ts", [path]);
  try {
    return JSON.parse(await child.line()) as Record<string, number>;
  } finally {
    await child.stop();
  }
}

const eachMinute = { organizations: 1_000, everyMs: minuteMs, hours: 26, isLastHourOpen: false } as const;
const embedded = side("embedded, 1,000 each minute", { ...eachMinute, source: "embedded" }, stateAfterRetention);
const remote = side("remote, 1,000 each minute", { ...eachMinute, source: "remote" }, stateAfterRetention);
const board = side(
  "remote, 10,000 each 5 minutes",
  { source: "remote", organizations: 10_000, everyMs: 5 * minuteMs, hours: 3, isLastHourOpen: true },
  boardBack,
);

/** What the run journal and its history take on disk, and how soon the board is back. */
export const benchmark: Benchmark = {
  name: "history",
  title: "The state on disk after 90 days, and the board after a start",
  metrics: [
    { name: "stateGb", title: "state after 90 days", unit: "GB", better: "less" },
    { name: "boardMs", title: "board back after the store's opening", unit: "ms", better: "less" },
  ],
  sides: [embedded, remote, board],
  repetitions: 3,
  goals: [
    {
      title: "state of 90 days, embedded",
      of: { side: embedded.name, metric: "stateGb" },
      bound: "at most",
      goal: 0.15,
    },
    { title: "state of 90 days, remote", of: { side: remote.name, metric: "stateGb" }, bound: "at most", goal: 0.4 },
    { title: "board of 10,000 back", of: { side: board.name, metric: "boardMs" }, bound: "at most", goal: 100 },
  ],
};
