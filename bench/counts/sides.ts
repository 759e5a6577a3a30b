import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createSystemClock, dayMs, minuteMs } from "../../src/base/time.ts";
import { importEvents } from "../../src/store/events/import.ts";
import { storeTarget } from "../../src/store/events/imports.ts";
import { openStore } from "../../src/store/open.ts";
import type { Readings, Side } from "../harness/benchmark.ts";
import { median } from "../harness/measure.ts";
import { startPostgres } from "../postgres.ts";
import { tempFolder } from "../processes.ts";
import { days, organizations, slugOf, writeEvents } from "./events.ts";

const windowMs = dayMs;
/** Of the newest event; an odd minute of the hour. */
const endMs = Date.UTC(2026, 10, 1, 12, 37);
// What an instant within a minute cuts has to be counted one by one.
const oddMs = 12_345;

/** Deaths of all organizations in the window and in the baseline before it, together all 30 days, until an instant. */
type Count = (nowMs: number) => Promise<{ readonly current: number; readonly baseline: number }>;

/** flatline's own store. It is asked as the daemon asks for organizations that are due together. */
export const startFlatline: Side["start"] = async (quick, releases) => {
  const path = join(await tempFolder(releases), "flatline.db");
  const clock = createSystemClock();
  const { csv } = await eventFiles(quick);
  const { signal } = new AbortController();
  const store = await openStore({ path, clock });
  releases.defer(() => store.close());
  await importEvents({ target: storeTarget(store, clock), files: [csv], rebaseTo: null, signal });
  const count: Count = async (nowMs) => {
    const windowStartMs = nowMs - windowMs;
    const intervals = [
      { afterMs: windowStartMs, untilMs: nowMs },
      { afterMs: nowMs - days * dayMs, untilMs: windowStartMs },
    ];
    const queries = Array.from({ length: organizations }, (_, rank) => ({ slug: slugOf(rank), intervals }));
    const deaths = (await store.events.deaths(queries)).flatMap((types) => types.map((type) => type.deaths));
    const sum = (at: number): number => deaths.reduce((total, one) => total + (one[at] ?? 0), 0);
    return { current: sum(0), baseline: sum(1) };
  };
  await check(count);
  // What was asked for is in memory from now on.
  await store.events.cache?.loaded();
  return () => measured(count, 25);
};

interface DuckDb {
  readonly DuckDBInstance: {
    create(path: string): Promise<{
      connect(): Promise<{
        run(sql: string): Promise<unknown>;
        runAndReadAll(sql: string): Promise<{ getRows(): readonly (readonly (number | bigint)[])[] }>;
        closeSync(): void;
      }>;
      closeSync(): void;
    }>;
  };
}

// Of bench/package.json; its types are not there when it isn't.
const duckDbPackage: string = "@duckdb/node-api";

export function isDuckDbInstalled(): boolean {
  return (createRequire(import.meta.url).resolve.paths(duckDbPackage) ?? []).some((folder) =>
    existsSync(join(folder, duckDbPackage)),
  );
}

/** DuckDB over a file, with numbers for names: as fast as it gets. */
export const startDuckDb: Side["start"] = async (quick, releases) => {
  const { DuckDBInstance } = (await import(duckDbPackage)) as DuckDb;
  const instance = await DuckDBInstance.create(join(await tempFolder(releases), "duckdb.db"));
  releases.defer(() => instance.closeSync());
  const connection = await instance.connect();
  releases.defer(() => connection.closeSync());
  const { numbers } = await eventFiles(quick);
  await connection.run("CREATE TABLE events (at_ms BIGINT, slug_id INTEGER, type_id UTINYINT)");
  await connection.run(`COPY events FROM '${numbers}' (HEADER false)`);
  await connection.run("CHECKPOINT");
  const count: Count = async (nowMs) => totalsOf((await connection.runAndReadAll(groupBy(nowMs, "INTEGER"))).getRows());
  await check(count);
  return () => measured(count, 5);
};

/** PostgreSQL with an index that covers the question, vacuumed, so that the table itself is never read. */
export const startPostgresCounts: Side["start"] = async (quick, releases) => {
  const { client } = await startPostgres(releases);
  const { numbers } = await eventFiles(quick);
  await client.query(
    "CREATE TABLE events (at_ms BIGINT NOT NULL, slug_id INTEGER NOT NULL, type_id SMALLINT NOT NULL)",
  );
  await client.query(`COPY events FROM '${numbers}' (FORMAT csv)`);
  await client.query("CREATE INDEX events_covering ON events (slug_id, at_ms) INCLUDE (type_id)");
  await client.query("VACUUM ANALYZE events");
  const count: Count = async (nowMs) => {
    const answer = await client.query({ text: groupBy(nowMs, "BIGINT"), rowMode: "array" });
    return totalsOf(answer.rows as readonly (readonly string[])[]);
  };
  await check(count);
  return () => measured(count, 1);
};

function groupBy(nowMs: number, type: string): string {
  const windowStartMs = nowMs - windowMs;
  return `SELECT slug_id, type_id,
      CAST(count(*) FILTER (WHERE at_ms > ${windowStartMs}) AS ${type}),
      CAST(count(*) FILTER (WHERE at_ms <= ${windowStartMs}) AS ${type})
    FROM events WHERE at_ms > ${nowMs - days * dayMs} AND at_ms <= ${nowMs} GROUP BY slug_id, type_id`;
}

function totalsOf(rows: readonly (readonly (number | bigint | string)[])[]) {
  const sum = (column: number): number => rows.reduce((total, row) => total + Number(row[column]), 0);
  return { current: sum(2), baseline: sum(3) };
}

/** Milliseconds for all organizations once, at another whole minute each time. */
async function measured(count: Count, turns: number): Promise<Readings> {
  const times: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const startedAtMs = performance.now();
    await count(endMs - turn * 7 * minuteMs);
    times.push(performance.now() - startedAtMs);
  }
  return { time: median(times) };
}

let agreed: string | null = null;

/** Every side has to come to the same numbers, also within a minute, or the comparison is of nothing. */
async function check(count: Count): Promise<void> {
  const totals = JSON.stringify([await count(endMs), await count(endMs - 3 * dayMs - oddMs)]);
  agreed ??= totals;
  if (totals !== agreed) throw new Error(`counts differ: ${totals}, not ${agreed}`);
}

/** The files of the events, written once: ten million take a minute. */
let files: ReturnType<typeof writeEvents> | null = null;

function eventFiles(quick: boolean): ReturnType<typeof writeEvents> {
  if (files !== null) return files;
  const folder = mkdtempSync(join(tmpdir(), "flatline-bench-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  // PostgreSQL's user reads them.
  chmodSync(folder, 0o755);
  files = writeEvents({ folder, events: quick ? 20_000 : 10_000_000, endMs, withIds: false });
  return files;
}
