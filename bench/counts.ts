import type { Benchmark, Goal } from "./harness/benchmark.ts";
import { duckDbPackage, startDuckDb, startFlatline, startPostgresCounts } from "./counts/sides.ts";
import { packageVersion, versionOf } from "./processes.ts";

const many = "10M events";
const sizeOf = (quick: boolean, full: number): number => (quick ? full / 500 : full);
const flatline = `flatline, ${many}`;
const against = { metric: "minute", side: flatline, bound: "at least", goal: 10, moonshot: 1_000 } as const;
const growth: Omit<Goal, "title" | "metric"> = {
  side: flatline,
  peer: "flatline, 1M events",
  bound: "at most",
  goal: 1.5,
};

/** Counts of 1,000 organizations over the events of 30 days. */
export const benchmark: Benchmark = {
  name: "counts",
  title:
    "deaths of 1,000 organizations by asset type, in a window of a day and a baseline of 29 before it, asked at once",
  metrics: [
    { name: "minute", title: "now a whole minute", unit: "ms", better: "less" },
    { name: "odd", title: "now within a minute", unit: "ms", better: "less" },
    { name: "cold", title: "from SQL, before the sums are there", unit: "ms", better: "less" },
  ],
  sides: [
    { name: flatline, start: (quick, releases) => startFlatline(sizeOf(quick, 10_000_000), releases) },
    { name: "flatline, 1M events", start: (quick, releases) => startFlatline(sizeOf(quick, 1_000_000), releases) },
    {
      name: `DuckDB, ${many}`,
      missing: () => (packageVersion(duckDbPackage) === null ? "npm install --no-package-lock --prefix bench" : null),
      version: () => packageVersion(duckDbPackage) ?? "",
      start: (quick, releases) => startDuckDb(sizeOf(quick, 10_000_000), releases),
    },
    {
      name: `PostgreSQL, ${many}`,
      version: () => versionOf("psql"),
      start: (quick, releases) => startPostgresCounts(sizeOf(quick, 10_000_000), releases),
    },
  ],
  goals: [
    { title: "counts of 1,000 organizations, ms", peer: `DuckDB, ${many}`, ...against },
    { title: "the same", peer: `PostgreSQL, ${many}`, ...against },
    { title: "the same, with a tenth of the events", metric: "minute", ...growth },
    { title: "the same at an instant within a minute", metric: "odd", ...growth },
  ],
};
