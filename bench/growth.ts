import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Benchmark, Goal, RunningSide, RunOptions, Side } from "./harness/benchmark.ts";
import { copyStore, storeFiles } from "./harness/store-files.ts";
import { eventDatabase, organizations as historyOrganizations, startFlatline } from "./events/count-sides.ts";
import { startDaemon } from "./daemon.ts";
import { slugOf } from "./events/data.ts";
import { startFleet } from "./growth/fleet.ts";
import { growthPlot } from "./growth/plot.ts";
import { growthMetrics, growthPlots, pointsOf, sideName, type Axis } from "./growth/report.ts";
import { cpuSecondsOf } from "./harness/process-cpu.ts";

const organizations = [1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000] as const;
const events = [1_000_000, 2_000_000, 5_000_000, 10_000_000] as const;
const imagesFolder = new URL("../docs/images/", import.meta.url);

/** Counts over so many events, what storing them took, and what starting with them takes. */
async function startHistory(count: number, { quick }: RunOptions): Promise<RunningSide> {
  const stored = quick ? Math.ceil(count / 500) : count;
  const { path, cost } = await eventDatabase(stored);
  const counts = await startFlatline(stored);
  return {
    measure: async () => {
      const { minute = Number.NaN, odd = Number.NaN, memory = Number.NaN } = await counts.measure();
      return {
        counts: minute,
        countsOdd: odd,
        start: await startCpuSeconds(path),
        sums: memory,
        import: cost.cpuSeconds,
        importRow: (cost.cpuSeconds / stored) * 1e6,
        importPeak: cost.peakMiB,
        database:
          storeFiles(path).reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0) /
          2 ** 20,
      };
    },
    stop: () => counts.stop(),
  };
}

/** Of the real daemon until it is ready, with a copy of the store; nothing is due meanwhile. */
async function startCpuSeconds(path: string): Promise<number> {
  const slugs = Array.from({ length: historyOrganizations }, (_, rank) => slugOf(rank));
  const daemon = await startDaemon({
    config: `source: { type: embedded }\ndefaults: { schedule: "0 0 1 1 *" }\norganizations: [${slugs.join(", ")}]`,
    prepare: (folder) => copyStore(path, join(folder, "flatline.db")),
  });
  const cpuSeconds = cpuSecondsOf(daemon.pid);
  await daemon.stop();
  return cpuSeconds;
}

function side(axis: Axis, size: number): Side {
  const start = axis === "organizations" ? startFleet : startHistory;
  return { name: sideName(axis, size), kind: "flatline", start: (options) => start(size, options) };
}

/** The largest size against the smallest: `most` times as much at most. */
function atMost(title: string, metric: string, axis: Axis, most: number): Goal {
  const sizes: readonly number[] = axis === "organizations" ? organizations : events;
  const [least = 0] = sizes;
  const largest = sizes.at(-1) ?? 0;
  return {
    title: `${title}, ${largest.toLocaleString("en-US")} ÷ ${least.toLocaleString("en-US")} ${axis}`,
    of: { side: sideName(axis, largest), metric },
    by: { side: sideName(axis, least), metric },
    bound: "at most",
    goal: most,
  };
}

// A hundred times the work, and a tenth for trees that are deeper and caches that are too small.
const linearFleet = 110;

/** Whether cost grows as that which causes it, and no faster. */
export const benchmark: Benchmark = {
  name: "growth",
  title: "what grows with organizations (1,000 to 100,000) and with events (1 to 10 million), and what does not",
  metrics: growthMetrics,
  sides: [...organizations.map((size) => side("organizations", size)), ...events.map((size) => side("events", size))],
  goals: [
    atMost("a round of checks", "round", "organizations", linearFleet),
    atMost("/metrics", "scrape", "organizations", linearFleet),
    atMost("creating the schedule", "creation", "organizations", linearFleet),
    atMost("memory", "memory", "organizations", linearFleet),
    atMost("counts", "countsOdd", "events", 2),
    atMost("import, a row", "importRow", "events", 1.2),
    atMost("import, memory", "importPeak", "events", 1.2),
    atMost("start", "start", "events", 1.5),
    atMost("database", "database", "events", 11),
  ],
  // Each size is a point of a line; a busy minute shows as a bend, and another run tells.
  repetitions: 1,
  isolated: true,
  finish: async (result) => {
    mkdirSync(imagesFolder, { recursive: true });
    for (const plot of growthPlots) {
      const lines = plot.lines.map(({ metric, label }) => ({ label, points: pointsOf(result, plot.axis, metric) }));
      // Where sizes failed, the image of before says more than single points.
      if (lines.every(({ points }) => points.length > 1))
        writeFileSync(new URL(plot.file, imagesFolder), growthPlot({ ...plot, lines }));
    }
  },
};
