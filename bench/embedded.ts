import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Benchmark, Side } from "./harness/benchmark.ts";
import { blackbox, concurrency } from "./blackbox.ts";
import { everySecond, measureDaemon } from "./daemon.ts";
import { fillStore } from "./events/embedded-store.ts";
import { copyStore } from "./harness/store-files.ts";

const organizations = 5_000;
// Until all have run, their sums are loaded and what a start does in the background is over.
const warmUpMs = 20_000;
// A round takes some milliseconds of processor time, which Linux says in ticks of ten.
const durationMs = 10_000;
const eventsEach = 100;
const quickOrganizations = 100;

/** The real daemon over a store of its own, which it evaluates itself. */
const flatline: Side = {
  name: "flatline, embedded",
  kind: "flatline",
  start: async ({ quick }) => {
    const folder = await mkdtemp(join(tmpdir(), "flatline-bench-"));
    const filled = join(folder, "filled.db");
    const count = quick ? quickOrganizations : organizations;
    await fillStore(filled, count, eventsEach);
    const config = `source: { type: embedded, concurrency: ${concurrency} }\n${everySecond(count)}`;
    const prepare = (daemonFolder: string): Promise<void> => copyStore(filled, join(daemonFolder, "flatline.db"));
    return {
      measure: () => measureDaemon({ config, prepare, quick, warmUpMs, durationMs }),
      stop: () => rm(folder, { recursive: true, force: true }),
    };
  },
};

/** The row of docs/benchmarks.md about stored events. */
export const benchmark: Benchmark = {
  name: "embedded",
  title: "Embedded checks per CPU second: scheduled, counted, evaluated, verdict stored, alert decided, series updated",
  metrics: [{ name: "checks", title: "checks", unit: "per CPU second", better: "more" }],
  sides: [flatline, blackbox("keep-alive")],
  repetitions: 3,
  goals: [
    {
      title: "embedded checks",
      of: { side: "flatline, embedded" },
      by: { side: "blackbox_exporter, keep-alive" },
      bound: "at least",
      goal: 50,
      moonshot: 100,
    },
  ],
};
