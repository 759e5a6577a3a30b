import { fileURLToPath } from "node:url";

import type { Benchmark, Side } from "./harness/benchmark.ts";
import { startChild } from "./harness/child.ts";
import { packageVersion } from "./harness/installed.ts";

// Jobs of every second of an hour: ten thousand run 28 of theirs in this time.
const watchMs = 10_000;

function jobs(what: "flatline" | "croner", count: number, quickCount: number): Side {
  return {
    name: `${what}, ${count.toLocaleString("en-US")}`,
    kind: what === "flatline" ? "flatline" : "peer",
    ...(what === "croner" ? { version: () => packageVersion("croner") } : {}),
    start: async ({ quick }) => ({
      measure: async () => {
        const script = fileURLToPath(new URL("schedule-jobs.ts", import.meta.url));
        const args = ["--expose-gc", script, what, String(quick ? quickCount : count), String(quick ? 2_000 : watchMs)];
        const child = startChild(process.execPath, args);
        try {
          return JSON.parse(await child.line()) as Record<string, number>;
        } finally {
          await child.stop();
        }
      },
      stop: async () => undefined,
    }),
  };
}

const fewFlatline = jobs("flatline", 10_000, 4_000);
const manyFlatline = jobs("flatline", 100_000, 4_000);
// A hundred thousand of its jobs are 8 GB, more than Node's heap.
const croner = jobs("croner", 10_000, 4_000);

/** Many organizations, each with a pattern of its own. */
export const benchmark: Benchmark = {
  name: "schedule",
  title: "Organizations with distinct cron patterns, scheduled over the store, against croner's jobs",
  metrics: [
    { name: "bytesPerJob", title: "heap", unit: "bytes a job", better: "less" },
    { name: "residentMiB", title: "resident, whole process", unit: "MiB", better: "less" },
    { name: "createUs", title: "creation", unit: "µs a job", better: "less" },
    { name: "createCpuUs", title: "creation", unit: "CPU µs a job", better: "less" },
    { name: "drift", title: "drift", unit: "ms, median", better: "less" },
  ],
  sides: [fewFlatline, manyFlatline, croner],
  repetitions: 2,
  goals: [
    {
      title: "memory of 10,000",
      of: { side: croner.name, metric: "bytesPerJob" },
      by: { side: fewFlatline.name, metric: "bytesPerJob" },
      bound: "at least",
      goal: 100,
    },
    {
      title: "memory of 100,000, a job",
      of: { side: croner.name, metric: "bytesPerJob" },
      by: { side: manyFlatline.name, metric: "bytesPerJob" },
      bound: "at least",
      goal: 100,
      // 1,000,000 in 200 MB.
      moonshot: 416,
    },
  ],
};
