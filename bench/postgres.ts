import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";

import pg from "pg";

import { freePort } from "../test/support/free-port.ts";
import { createPostgres } from "../test/support/postgres/process.ts";
import type { Benchmark, Side } from "./harness/benchmark.ts";
import { everySecond, measureChecks, tempFolder } from "./processes.ts";
import { startUpstream } from "./remote/blackbox.ts";

// More than can be checked each second; and so few, each at a time of its own, that two hardly ever end at once.
const busyOrganizations = 10_000;
const fewOrganizations = 500;
// The server's time is spread over many processes, of each of which only whole ticks count.
const durationMs = 15_000;
const warmUpMs = 6_000;
const login = { user: "postgres", password: "bench" };

/** A PostgreSQL with its default durability; `pid` is the postmaster, the parent of all of its processes. */
export async function startPostgres(releases: AsyncDisposableStack) {
  const folder = await tempFolder(releases);
  // As root the server runs as another user, who must get there.
  await chmod(folder, 0o755);
  const port = await freePort();
  const settings = { shared_buffers: "1GB", work_mem: "256MB", max_wal_size: "4GB" };
  const server = await createPostgres({ folder, port, ...login, settings });
  await server.start();
  releases.defer(() => server.stop());
  const client = new pg.Client({ host: "127.0.0.1", port, database: "postgres", ...login });
  await client.connect();
  releases.defer(() => client.end());
  const pid = Number((await readFile(join(folder, "data/postmaster.pid"), "utf8")).split("\n")[0]);
  return { client, port, pid };
}

/** The real daemon with a remote source and its store in a PostgreSQL that does nothing else. */
function flatline(name: string, organizations: number, jitter: string): Side {
  return {
    name,
    start: async (quick, releases) => {
      const { client, port, pid } = await startPostgres(releases);
      const { source } = await startUpstream(releases);
      const config = `${source}\n${everySecond(quick ? 20 : organizations, jitter)}`;
      const storage = `{ url: "postgres://postgres:bench@127.0.0.1:${port}/flatline?sslmode=disable" }`;
      return async () => {
        await client.query("drop database if exists flatline");
        await client.query("create database flatline");
        const { checks = Number.NaN } = await measureChecks({ config, storage, quick, warmUpMs, durationMs, pid });
        return { cpu: 1e6 / checks };
      };
    },
  };
}

const busy = flatline("always busy, on PostgreSQL", busyOrganizations, "0s");
const spread = flatline("500 checks a second, spread, on PostgreSQL", fewOrganizations, "1s");

/** The rows of docs/comparison.md about a store in PostgreSQL. */
export const benchmark: Benchmark = {
  name: "postgres",
  title: "Processor time of PostgreSQL per recorded check: all processes of the server, every commit on the disk",
  metrics: [{ name: "cpu", title: "processor time of the server per check", unit: "µs", better: "less" }],
  sides: [busy, spread],
  repetitions: 3,
  goals: [
    {
      title: "PostgreSQL's processor time per check, always busy, µs",
      metric: "cpu",
      side: busy.name,
      bound: "at most",
      goal: 30,
    },
    { title: "the same, 500 spread checks a second, µs", metric: "cpu", side: spread.name, bound: "at most", goal: 30 },
  ],
};
