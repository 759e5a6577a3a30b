import type { Benchmark, Side } from "./harness/benchmark.ts";
import { median } from "./harness/measure.ts";
import { flatlineSeries, promClientSeries, type BenchSeries } from "./metrics/series.ts";

const rounds = 7;

/** How long one rendering takes in the process, the changes before it left out. */
function rendered(name: string, load: (organizations: number) => Promise<BenchSeries>): Side {
  return {
    name,
    start: async (quick) => {
      const series = await load(quick ? 200 : 10_000);
      return async () => {
        const times: number[] = [];
        for (let round = 0; round < rounds; round++) {
          series.change();
          const startedAtMs = performance.now();
          await series.render();
          times.push(performance.now() - startedAtMs);
        }
        return { render: median(times) };
      };
    },
  };
}

/** `/metrics` of a large fleet. */
export const benchmark: Benchmark = {
  name: "metrics",
  title:
    "/metrics of 10,000 organizations with results, 290,000 series, a twentieth of which changed since the last scrape",
  metrics: [{ name: "render", title: "one rendering", unit: "ms", better: "less" }],
  sides: [
    rendered("flatline", (organizations) => Promise.resolve(flatlineSeries(organizations))),
    rendered("prom-client", promClientSeries),
  ],
  repetitions: 3,
  goals: [
    {
      title: "`/metrics` of 10,000 organizations, ms",
      metric: "render",
      peer: "prom-client",
      bound: "at least",
      goal: 8,
    },
  ],
};
