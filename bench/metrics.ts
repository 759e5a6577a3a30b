import { debianTool } from "../test/support/debian-tool.ts";
import { eventually } from "../test/support/program/program.ts";
import { startPrometheus } from "../test/support/prometheus.ts";
import type { Benchmark, Side } from "./harness/benchmark.ts";
import { median } from "./harness/measure.ts";
import {
  benchScrapeMs,
  flatlineSeries,
  promClientSeries,
  seriesOrganizations,
  type BenchSeries,
} from "./metrics/series.ts";
import { packageVersion, startScript } from "./processes.ts";

const rounds = 7;
// The first find cold code on either side.
const scrapes = 6;
const scrapesWithinMs = 120_000;
const version = (): string => packageVersion("prom-client") ?? "";

/** How long one rendering takes in the process, the changes before it left out. */
function rendered(name: string, load: (quick: boolean) => Promise<BenchSeries>): Side {
  return {
    name,
    ...(name === "flatline" ? {} : { version }),
    start: async (quick) => {
      const series = await load(quick);
      return async () => {
        const times: number[] = [];
        for (let round = 0; round < rounds; round++) {
          series.change();
          const startedAtMs = performance.now();
          await series.render("text", "identity");
          times.push(performance.now() - startedAtMs);
        }
        return { render: median(times) };
      };
    },
  };
}

/** What a real Prometheus says that a scrape took: answer, way, decompression, parsing and storing. */
function scraped(what: "flatline" | "prom-client"): Side {
  return {
    name: `${what}, scraped`,
    ...(what === "flatline" ? {} : { version }),
    missing: () => (debianTool("prometheus", "prometheus").isMissing ? "apt-get install prometheus" : null),
    start: async (quick, releases) => {
      const server = await startScript("metrics/server.ts", [what, quick ? "quick" : "full"], releases);
      const interval = `${benchScrapeMs}ms`;
      const targets = [`127.0.0.1:${server.line}`];
      const job = { scrape_interval: interval, scrape_timeout: interval, static_configs: [{ targets }] };
      return async () => {
        await using prometheus = await startPrometheus({ bench: job });
        const query = async (expr: string): Promise<number> => (await prometheus.query(expr))[0]?.value ?? 0;
        const wanted = quick ? 1 : scrapes;
        await eventually(async () => (await query('sum_over_time(up{job="bench"}[5m])')) >= wanted, scrapesWithinMs);
        return { scrape: 1_000 * (await query('quantile_over_time(0.5, scrape_duration_seconds{job="bench"}[5m])')) };
      };
    },
  };
}

/** `/metrics` of a large fleet. */
export const benchmark: Benchmark = {
  name: "metrics",
  title:
    "/metrics of 10,000 organizations with results, 300,000 series, a twentieth of which changed since the last scrape",
  metrics: [
    { name: "render", title: "one rendering", unit: "ms", better: "less" },
    { name: "scrape", title: "scrape_duration_seconds", unit: "ms", better: "less" },
  ],
  sides: [
    rendered("flatline", async (quick) => flatlineSeries(seriesOrganizations(quick))),
    rendered("prom-client", promClientSeries),
    scraped("flatline"),
    scraped("prom-client"),
  ],
  repetitions: 3,
  goals: [
    {
      title: "`/metrics` of 10,000 organizations, ms",
      metric: "render",
      side: "flatline",
      peer: "prom-client",
      bound: "at least",
      goal: 20,
      moonshot: 40,
    },
    {
      title: "the same, scraped by Prometheus, ms",
      metric: "scrape",
      side: "flatline, scraped",
      peer: "prom-client, scraped",
      bound: "at least",
      goal: 2.5,
      moonshot: 3.5,
    },
  ],
};
