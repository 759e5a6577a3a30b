import type { Benchmark, Goal } from "./harness/benchmark.ts";
import { isDuckDbInstalled, startDuckDb, startFlatline, startPostgresCounts } from "./counts/sides.ts";

const against = { metric: "time", bound: "at least", goal: 5 } as const satisfies Partial<Goal>;

/** Counts of 1,000 organizations over the events of 30 days. */
export const benchmark: Benchmark = {
  name: "counts",
  title:
    "deaths of 1,000 organizations by asset type, in a window of a day and a baseline of 29 before it, over 10,000,000 events, asked at once",
  metrics: [{ name: "time", title: "counts", unit: "ms", better: "less" }],
  sides: [
    { name: "flatline", start: startFlatline },
    {
      name: "DuckDB",
      missing: () => (isDuckDbInstalled() ? null : "npm install --no-package-lock --prefix bench"),
      start: startDuckDb,
    },
    { name: "PostgreSQL", start: startPostgresCounts },
  ],
  goals: [
    { title: "counts of 1,000 organizations, ms", peer: "DuckDB", ...against },
    { title: "the same", peer: "PostgreSQL", ...against },
  ],
};
