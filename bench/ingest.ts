import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { createSystemClock } from "../src/base/time.ts";
import { importEvents } from "../src/store/events/import.ts";
import type { Benchmark, RunningSide, RunOptions } from "./harness/benchmark.ts";
import { writeEvents } from "./events/data.ts";
import { ownCpuSeconds } from "./harness/process-cpu.ts";
import { removeStore } from "./harness/store-files.ts";

const fullRows = 1_000_000;
const quickRows = 5_000;
// What a careful script would do: with fsync on, larger transactions bring nothing measurable.
const rowsATransaction = 10_000;

interface Work {
  readonly rows: number;
  readonly csv: string;
  /** A new file for each repetition. */
  readonly databasePath: string;
}

/** A side that stores the same file into a new database each time. */
function side(
  store: (work: Work) => Promise<Readonly<Record<string, number>>>,
  prepare: (work: Work) => void = () => undefined,
): (options: RunOptions) => Promise<RunningSide> {
  return async ({ quick }) => {
    const folder = await mkdtemp(join(tmpdir(), "flatline-bench-ingest-"));
    const rows = quick ? quickRows : fullRows;
    const endMs = Date.UTC(2026, 10, 1);
    const { csv } = await writeEvents({
      folder,
      events: rows,
      organizations: 1_000,
      days: 30,
      endMs,
      seed: 7,
      withIds: true,
    });
    const databasePath = join(folder, "ingest.db");
    prepare({ rows, csv, databasePath });
    return {
      measure: async () => {
        const cpuBefore = ownCpuSeconds();
        const startedAtMs = performance.now();
        const more = await store({ rows, csv, databasePath });
        const tookMs = performance.now() - startedAtMs;
        const cpuSeconds = ownCpuSeconds() - cpuBefore;
        removeStore(databasePath);
        return { rate: rows / (tookMs / 1_000), cpuRate: rows / cpuSeconds, ...more };
      },
      stop: () => rm(folder, { recursive: true, force: true }),
    };
  };
}

async function storeInFlatline({ rows, csv, databasePath }: Work): Promise<Readonly<Record<string, number>>> {
  const { signal } = new AbortController();
  const outcome = await importEvents({
    location: { path: databasePath },
    files: [csv],
    rebaseToMs: null,
    again: false,
    signal,
    clock: createSystemClock(),
  });
  if (outcome.stored !== rows) throw new Error(`${outcome.stored} of ${rows} rows were stored`);
  return {};
}

type BareRow = readonly [number, string, string, string, string];

/** One table, one index, one prepared statement, a transaction for ten thousand rows; no line is checked. */
async function storeBare({ rows, csv, databasePath }: Work): Promise<Readonly<Record<string, number>>> {
  const lines = readFileSync(csv, "latin1").split("\n");
  storeRows(databasePath, rows, (row) => rowOf(lines[row + 1] ?? ""));
  return {};
}

function storeRows(databasePath: string, rows: number, rowAt: (row: number) => BareRow): void {
  const db = new DatabaseSync(databasePath);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536");
  db.exec("CREATE TABLE events (at INTEGER, slug TEXT, asset_type TEXT, asset TEXT, id TEXT)");
  db.exec("CREATE INDEX events_by_slug ON events (slug, at)");
  const insert = db.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?)");
  for (let start = 0; start < rows; start += rowsATransaction) {
    db.exec("BEGIN");
    for (let row = start; row < Math.min(start + rowsATransaction, rows); row++) insert.run(...rowAt(row));
    db.exec("COMMIT");
  }
  const stored = db.prepare("SELECT count(*) AS rows FROM events").get()?.["rows"];
  db.close();
  if (stored !== rows) throw new Error(`${String(stored)} of ${rows} rows were stored`);
}

function rowOf(line: string): BareRow {
  const [at, slug = "", type = "", asset = "", id = ""] = line.split(",");
  return [Number(at), slug, type, asset, id];
}

let parsed: readonly BareRow[] | null = null;

/** The same, from rows that lie ready in memory: what writing alone costs. */
async function storeParsed({ rows, databasePath }: Work): Promise<Readonly<Record<string, number>>> {
  storeRows(databasePath, rows, (row) => parsed?.[row] ?? [0, "", "", "", ""]);
  return {};
}

/** Rows a second from a file into a store on disk. */
export const benchmark: Benchmark = {
  name: "ingest",
  title: "a CSV file of 1,000,000 events with ids over 1,000 organizations into a new database on disk, fsync on",
  metrics: [
    { name: "rate", title: "events", unit: "rows/s", better: "more" },
    { name: "cpuRate", title: "events", unit: "rows per CPU s", better: "more" },
  ],
  sides: [
    { name: "flatline", kind: "flatline", start: side(storeInFlatline) },
    {
      name: "one bare SQLite table with its index",
      kind: "peer",
      version: () => process.versions["sqlite"] ?? "",
      start: side(storeBare),
    },
    {
      name: "the same from rows in memory",
      kind: "peer",
      start: side(storeParsed, ({ rows, csv }) => {
        const lines = readFileSync(csv, "latin1").split("\n");
        parsed = lines.slice(1, rows + 1).map(rowOf);
      }),
    },
  ],
  // As many as fit: each waits for the disk a few hundred times, and no two waits are alike.
  repetitions: 9,
  goals: [
    {
      title: "events stored a second",
      of: { side: "flatline" },
      by: { side: "one bare SQLite table with its index" },
      bound: "at least",
      goal: 0.6,
      moonshot: 0.8,
    },
    {
      title: "the same, where the peer need not read a file",
      of: { side: "flatline" },
      by: { side: "the same from rows in memory" },
      bound: "at least",
      goal: 0.5,
      moonshot: 0.8,
    },
  ],
};
