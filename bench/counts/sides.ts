import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createSystemClock, dayMs, minuteMs } from "../../src/base/time.ts";
import { importEvents } from "../../src/store/events/import.ts";
import { openStore } from "../../src/store/open.ts";
import type { Readings } from "../harness/benchmark.ts";
import { median } from "../harness/measure.ts";
import { startPostgres } from "../postgres.ts";
import { tempFolder } from "../processes.ts";
import { days, organizations, slugOf, writeEvents } from "./events.ts";

const windowMs = dayMs;
/** Of the newest event; an odd minute of the hour. */
const endMs = Date.UTC(2026, 10, 1, 12, 37);
// An instant within a minute: what it cuts has to be counted one by one.
const oddMs = 12_345;

/** Deaths of all organizations in the window and in the baseline before it, together all 30 days, until an instant. */
type Count = (nowMs: number) => Promise<{ readonly current: number; readonly baseline: number }>;

type Start = (events: number, releases: AsyncDisposableStack) => Promise<() => Promise<Readings>>;

/** flatline's own store. It is asked as the daemon asks for organizations that are due together. */
export const startFlatline: Start = async (events, releases) => {
  const path = join(await tempFolder(releases), "flatline.db");
  const clock = createSystemClock();
  const { csv } = await eventFiles(events);
  const { signal } = new AbortController();
  await importEvents({ location: { path }, files: [csv], rebaseToMs: null, again: false, signal, clock });
  const store = await openStore({ path, clock });
  releases.defer(() => store.close());
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
  // Nothing is in memory yet: this one is answered by SQLite.
  const cold = await timed(() => count(endMs));
  await store.events.sums?.loaded();
  await check(events, count);
  // That reached further back.
  await store.events.sums?.loaded();
  return async () => ({ ...(await measured(count, 25)), cold });
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

/** The package of bench/package.json; its types are not there when it isn't. */
export const duckDbPackage: string = "@duckdb/node-api";

/** DuckDB over a file, with numbers for names: as fast as it gets. */
export const startDuckDb: Start = async (events, releases) => {
  const { DuckDBInstance } = (await import(duckDbPackage)) as DuckDb;
  const instance = await DuckDBInstance.create(join(await tempFolder(releases), "duckdb.db"));
  releases.defer(() => instance.closeSync());
  const connection = await instance.connect();
  releases.defer(() => connection.closeSync());
  const { numbers } = await eventFiles(events);
  await connection.run("CREATE TABLE events (at_ms BIGINT, slug_id INTEGER, type_id UTINYINT)");
  await connection.run(`COPY events FROM '${numbers}' (HEADER false)`);
  await connection.run("CHECKPOINT");
  const count: Count = async (nowMs) => totalsOf((await connection.runAndReadAll(groupBy(nowMs, "INTEGER"))).getRows());
  await check(events, count);
  return () => measured(count, 5);
};

/** PostgreSQL with an index that covers the question, vacuumed, so that the table itself is never read. */
export const startPostgresCounts: Start = async (events, releases) => {
  const { client } = await startPostgres(releases);
  const { numbers } = await eventFiles(events);
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
  await check(events, count);
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

/** Milliseconds for all organizations once, at a whole minute and within one; another instant each time. */
async function measured(count: Count, times: number): Promise<Readings> {
  const whole: number[] = [];
  const odd: number[] = [];
  for (let turn = 0; turn < times; turn++) {
    const nowMs = endMs - turn * 7 * minuteMs;
    whole.push(await timed(() => count(nowMs)));
    odd.push(await timed(() => count(nowMs - oddMs)));
  }
  return { minute: median(whole), odd: median(odd) };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await work();
  return performance.now() - startedAtMs;
}

const agreed = new Map<string, string>();

/** Every side has to come to the same numbers, or the comparison is of nothing. */
async function check(events: number, count: Count): Promise<void> {
  for (const nowMs of [endMs, endMs - oddMs, endMs - 3 * dayMs - oddMs]) {
    const key = `${events} ${nowMs}`;
    const totals = JSON.stringify(await count(nowMs));
    const expected = agreed.get(key) ?? totals;
    agreed.set(key, totals);
    if (totals !== expected) throw new Error(`counts differ at ${nowMs}: ${totals}, not ${expected}`);
  }
}

const written = new Map<number, ReturnType<typeof writeEvents>>();

/** The files of the events, written once a run: ten million take a minute. */
function eventFiles(events: number): ReturnType<typeof writeEvents> {
  const known = written.get(events);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), "flatline-bench-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  // PostgreSQL's user reads them.
  chmodSync(folder, 0o755);
  const files = writeEvents({ folder, events, endMs, withIds: false });
  written.set(events, files);
  return files;
}
