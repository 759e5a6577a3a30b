import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createSystemClock, dayMs, minuteMs } from "../../src/base/time.ts";
import { openStore } from "../../src/store/open.ts";
import type { RunningSide } from "../harness/benchmark.ts";
import { cachedFolder } from "../harness/cache.ts";
import { startScript } from "../harness/child.ts";
import { slugOf, writeEvents, type EventFiles } from "./data.ts";
import type { ImportCost } from "./import.ts";
import { median } from "../harness/harness.ts";
import { startPostgres } from "../harness/local-postgres.ts";
import { importPeer } from "../harness/installed.ts";
import { eventsPathOf } from "../../src/store/engine/location.ts";
import { removeStore } from "../harness/store-files.ts";

export const organizations = 1_000;
const days = 30;
const windowMs = dayMs;
/** Of the newest event; an odd minute of the hour. */
const endMs = Date.UTC(2026, 10, 1, 12, 37);
// An instant within a minute: what it cuts has to be counted one by one.
const oddMs = 12_345;

/** The window and the baseline before it: together all 30 days. */
interface Instants {
  readonly baselineStartMs: number;
  readonly windowStartMs: number;
  readonly nowMs: number;
}

/** Deaths of all organizations in the window and in the baseline; to see that everybody counts the same. */
interface Totals {
  readonly current: number;
  readonly baseline: number;
}

type Count = (instants: Instants) => Promise<Totals>;

function instantsAt(nowMs: number): Instants {
  return { baselineStartMs: nowMs - days * dayMs, windowStartMs: nowMs - windowMs, nowMs };
}

/** flatline's own store with so many events, built when it is not in the cache. */
export async function eventDatabase(events: number): Promise<{ readonly path: string; readonly cost: ImportCost }> {
  const folder = dataFolder(events);
  const path = join(folder, "flatline.db");
  const costFile = join(folder, "import.json");
  if (!existsSync(path)) {
    const { csv } = await eventFiles(events);
    const building = `${path}.new`;
    const child = startScript("events/import.ts", [csv, building]);
    try {
      writeFileSync(costFile, await child.line());
    } finally {
      await child.stop();
    }
    await moveDatabase(building, path);
  }
  return { path, cost: JSON.parse(readFileSync(costFile, "utf8")) as ImportCost };
}

/** flatline's own store. It is asked as the daemon asks for organizations that are due together. */
export async function startFlatline(events: number): Promise<RunningSide> {
  const { path } = await eventDatabase(events);
  const clock = createSystemClock();
  const store = await openStore({ path, clock });
  const count: Count = async ({ baselineStartMs, windowStartMs, nowMs }) => {
    const intervals = [
      { afterMs: windowStartMs, untilMs: nowMs },
      { afterMs: baselineStartMs, untilMs: windowStartMs },
    ];
    const queries = Array.from({ length: organizations }, (_, rank) => ({ slug: slugOf(rank), intervals }));
    let current = 0;
    let baseline = 0;
    for (const types of await store.events.deaths(queries)) {
      for (const { deaths } of types) {
        current += deaths[0] ?? 0;
        baseline += deaths[1] ?? 0;
      }
    }
    return { current, baseline };
  };
  // Nothing is in memory yet: these two are answered by SQLite.
  const coldMs = await timed(() => count(instantsAt(endMs)));
  const coldOddMs = await timed(() => count(instantsAt(endMs - oddMs)));
  const buildMs = await timed(async () => store.events.sums?.loaded());
  await check(events, count);
  // That reached further back.
  await store.events.sums?.loaded();
  return {
    measure: async () => ({
      ...(await measured(count, 25)),
      cold: coldMs,
      coldOdd: coldOddMs,
      build: buildMs / 1_000,
      memory: (store.events.sums?.size().bytes ?? 0) / 1_024 ** 2,
    }),
    stop: () => store.close(),
  };
}

interface DuckDb {
  readonly DuckDBInstance: { create(path: string): Promise<DuckDbInstance> };
}

interface DuckDbInstance {
  connect(): Promise<{
    run(sql: string): Promise<unknown>;
    runAndReadAll(sql: string): Promise<{ getRows(): readonly (readonly (number | bigint)[])[] }>;
    closeSync(): void;
  }>;
  closeSync(): void;
}

/** DuckDB over a file, with numbers for names: as fast as it gets. */
export async function startDuckDb(events: number): Promise<RunningSide> {
  const { DuckDBInstance } = await importPeer<DuckDb>("@duckdb/node-api");
  const path = join(dataFolder(events), "duckdb.db");
  const isNew = !existsSync(path);
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  if (isNew) {
    const { numbers } = await eventFiles(events);
    await connection.run("CREATE TABLE events (at_ms BIGINT, slug_id INTEGER, type_id UTINYINT)");
    await connection.run(`COPY events FROM '${numbers}' (HEADER false)`);
    await connection.run("CHECKPOINT");
  }
  const count: Count = async (instants) => {
    const reader = await connection.runAndReadAll(groupBy(instants, "INTEGER"));
    return totalsOf(reader.getRows());
  };
  await check(events, count);
  return {
    measure: () => measured(count, 5),
    stop: async () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** PostgreSQL with an index that covers the question, vacuumed, so that the table itself is never read. */
export async function startPostgresCounts(events: number): Promise<RunningSide> {
  const folder = dataFolder(events);
  const server = await startPostgres(folder);
  const { client } = server;
  const { rows } = await client.query<{ there: boolean }>("SELECT to_regclass('events_covering') IS NOT NULL AS there");
  if (rows[0]?.there !== true) {
    const { numbers } = await eventFiles(events);
    await client.query("DROP TABLE IF EXISTS events");
    await client.query(
      "CREATE TABLE events (at_ms BIGINT NOT NULL, slug_id INTEGER NOT NULL, type_id SMALLINT NOT NULL)",
    );
    await client.query(`COPY events FROM '${numbers}' (FORMAT csv)`);
    await client.query("CREATE INDEX events_covering ON events (slug_id, at_ms) INCLUDE (type_id)");
    await client.query("VACUUM ANALYZE events");
  }
  const count: Count = async (instants) => {
    const answer = await client.query({ text: groupBy(instants, "BIGINT"), rowMode: "array" });
    return totalsOf(answer.rows as readonly (readonly (number | string)[])[]);
  };
  await check(events, count);
  return { measure: () => measured(count, 1), stop: () => server.stop() };
}

function groupBy({ baselineStartMs, windowStartMs, nowMs }: Instants, type: string): string {
  return `SELECT slug_id, type_id,
      CAST(count(*) FILTER (WHERE at_ms > ${windowStartMs}) AS ${type}),
      CAST(count(*) FILTER (WHERE at_ms <= ${windowStartMs}) AS ${type})
    FROM events WHERE at_ms > ${baselineStartMs} AND at_ms <= ${nowMs} GROUP BY slug_id, type_id`;
}

function totalsOf(rows: readonly (readonly (number | bigint | string)[])[]): Totals {
  let current = 0;
  let baseline = 0;
  for (const [, , inWindow, before] of rows) {
    current += Number(inWindow);
    baseline += Number(before);
  }
  return { current, baseline };
}

/** Milliseconds for all organizations once, at a whole minute and within one; another instant each time. */
async function measured(count: Count, times: number): Promise<Record<string, number>> {
  const whole: number[] = [];
  const odd: number[] = [];
  for (let turn = 0; turn < times; turn++) {
    const nowMs = endMs - turn * 7 * minuteMs;
    whole.push(await timed(() => count(instantsAt(nowMs))));
    odd.push(await timed(() => count(instantsAt(nowMs - oddMs))));
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
    const totals = JSON.stringify(await count(instantsAt(nowMs)));
    const expected = agreed.get(key) ?? totals;
    agreed.set(key, totals);
    if (totals !== expected) throw new Error(`counts differ at ${nowMs}: ${totals}, not ${expected}`);
  }
}

/** The files of the events, made once a run where they are needed. */
async function eventFiles(events: number): Promise<EventFiles> {
  const folder = dataFolder(events);
  const files = { csv: join(folder, "events.csv"), numbers: join(folder, "numbers.csv") };
  const done = join(folder, "events.done");
  if (existsSync(done)) return files;
  await writeEvents({ folder, events, organizations, days, endMs, seed: 7, withIds: false });
  writeFileSync(done, "");
  return files;
}

/** Building ten million events takes minutes. */
function dataFolder(events: number): string {
  return cachedFolder(`counts-${events}`);
}

async function moveDatabase(from: string, to: string): Promise<void> {
  // Opened and closed once more, so that nothing is left in the log.
  await (await openStore({ path: from, clock: createSystemClock() })).close();
  renameSync(eventsPathOf(from), eventsPathOf(to));
  renameSync(from, to);
  removeStore(from);
}
