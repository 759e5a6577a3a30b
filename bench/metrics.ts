import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Benchmark, Side } from "./harness/benchmark.ts";
import { startChild, startScript } from "./harness/child.ts";
import { freePort } from "../test/support/free-port.ts";
import { sleepMs } from "./daemon.ts";
import {
  benchScrapeMs,
  flatlineSeries,
  promClientSeries,
  seriesOrganizations,
  type BenchSeries,
} from "./harness/metric-series.ts";
import { findProgram, missingProgram, packageVersion } from "./harness/installed.ts";

const rounds = 7;
// The first find cold code on either side.
const scrapes = 6;
const scrapesWithinMs = 120_000;

/** How long one rendering takes in the process, the changes before it left out. */
function rendered(name: string, kind: Side["kind"], load: (quick: boolean) => Promise<BenchSeries>): Side {
  return {
    name,
    kind,
    ...(kind === "peer" ? { version: () => packageVersion("prom-client") } : {}),
    start: async ({ quick }) => {
      const series = await load(quick);
      return {
        measure: async () => {
          const times: number[] = [];
          for (let round = 0; round < rounds; round++) {
            series.change();
            const startedAtMs = performance.now();
            await series.render("text", "identity");
            times.push(performance.now() - startedAtMs);
          }
          return { render: times.toSorted((left, right) => left - right)[Math.floor(rounds / 2)] ?? Number.NaN };
        },
        stop: async () => undefined,
      };
    },
  };
}

/** What a real Prometheus says that a scrape took: answer, way, decompression, parsing and storing. */
function scraped(what: "flatline" | "prom-client", kind: Side["kind"]): Side {
  return {
    name: `${what}, scraped`,
    kind,
    ...(kind === "peer" ? { version: () => packageVersion("prom-client") } : {}),
    missing: () => missingProgram("prometheus", "prometheus"),
    start: async ({ quick }) => {
      const server = startScript("metrics-server.ts", [what, quick ? "quick" : "full"]);
      const target = `127.0.0.1:${await server.line()}`;
      return {
        measure: async () => ({ scrape: (await scrapeSeconds(target, quick ? 1 : scrapes)) * 1_000 }),
        stop: () => server.stop(),
      };
    },
  };
}

async function scrapeSeconds(target: string, count: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-bench-"));
  const port = await freePort();
  const interval = `${benchScrapeMs}ms`;
  const job = `{ job_name: bench, scrape_interval: ${interval}, scrape_timeout: ${interval}, static_configs: [{ targets: ["${target}"] }] }`;
  await writeFile(join(folder, "prometheus.yml"), `scrape_configs: [${job}]\n`);
  const prometheus = startChild(
    findProgram("prometheus") ?? "prometheus",
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=error",
    ],
    { stderr: "ignore" },
  );
  try {
    for (const startedAtMs = performance.now(); performance.now() - startedAtMs < scrapesWithinMs;) {
      await sleepMs(500);
      const good = await query(port, 'sum_over_time(up{job="bench"}[5m])');
      if (good !== null && good >= count)
        return (await query(port, 'quantile_over_time(0.5, scrape_duration_seconds{job="bench"}[5m])')) ?? Number.NaN;
    }
    throw new Error(`Prometheus could not scrape ${target}`);
  } finally {
    await prometheus.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function query(port: number, text: string): Promise<number | null> {
  const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(text)}`;
  const answer = await fetch(url).catch(() => null);
  if (answer?.ok !== true) return null;
  const { data } = (await answer.json()) as { data: { result: { value: [number, string] }[] } };
  const [first] = data.result;
  return first === undefined ? null : Number(first.value[1]);
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
    rendered("flatline", "flatline", async (quick) => flatlineSeries(seriesOrganizations(quick))),
    rendered("prom-client", "peer", promClientSeries),
    scraped("flatline", "flatline"),
    scraped("prom-client", "peer"),
  ],
  repetitions: 3,
  goals: [
    {
      title: "one rendering",
      of: { side: "prom-client", metric: "render" },
      by: { side: "flatline", metric: "render" },
      bound: "at least",
      goal: 20,
      moonshot: 40,
    },
    {
      title: "scraped by Prometheus",
      of: { side: "prom-client, scraped", metric: "scrape" },
      by: { side: "flatline, scraped", metric: "scrape" },
      bound: "at least",
      goal: 2.5,
      moonshot: 3.5,
    },
  ],
};
