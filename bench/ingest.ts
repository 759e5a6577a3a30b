import { readFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { createSystemClock } from "../src/base/time.ts";
import { importEvents } from "../src/store/events/import.ts";
import { storeTarget } from "../src/store/events/imports.ts";
import { openStore } from "../src/store/open.ts";
import { writeEvents } from "./counts/events.ts";
import type { Benchmark, Side } from "./harness/benchmark.ts";
import { tempFolder } from "./processes.ts";

// What a careful script would do: with fsync on, larger transactions bring nothing measurable.
const rowsATransaction = 10_000;

/** A side that stores the same file into a new database each time, and returns how many rows are in it. */
function side(name: string, store: (csv: string, path: string) => Promise<number>): Side {
  return {
    name,
    start: async (quick, releases) => {
      const folder = await tempFolder(releases);
      const rows = quick ? 5_000 : 1_000_000;
      const { csv } = await writeEvents({ folder, events: rows, endMs: Date.UTC(2026, 10, 1), withIds: true });
      return async () => {
        await using databases = await mkdtempDisposable(join(tmpdir(), "flatline-bench-"));
        const startedAtMs = performance.now();
        const stored = await store(csv, join(databases.path, "ingest.db"));
        const seconds = (performance.now() - startedAtMs) / 1_000;
        if (stored !== rows) throw new Error(`${stored} of ${rows} rows were stored`);
        return { rate: rows / seconds };
      };
    },
  };
}

const flatline = side("flatline", async (csv, path) => {
  const { signal } = new AbortController();
  const clock = createSystemClock();
  const store = await openStore({ path, clock });
  try {
    const target = storeTarget(store, clock);
    return (await importEvents({ target, files: [csv], rebaseTo: null, signal })).stored;
  } finally {
    await store.close();
  }
});

/**
 * One table with unique ids, one index, one prepared statement, ten thousand rows a transaction; no line is checked.
 */
const bare = side("one bare SQLite table with ids", async (csv, path) => {
  using db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536");
  db.exec("CREATE TABLE events (at INTEGER, slug TEXT, asset_type TEXT, asset TEXT, id TEXT)");
  db.exec("CREATE INDEX events_by_slug ON events (slug, at)");
  db.exec("CREATE UNIQUE INDEX events_by_id ON events (slug, id)");
  const insert = db.prepare("INSERT OR IGNORE INTO events VALUES (?, ?, ?, ?, ?)");
  const lines = readFileSync(csv, "latin1").trimEnd().split("\n");
  for (let start = 1; start < lines.length; start += rowsATransaction) {
    db.exec("BEGIN");
    for (const line of lines.slice(start, start + rowsATransaction)) {
      const [at, slug = "", type = "", asset = "", id = ""] = line.split(",");
      insert.run(Number(at), slug, type, asset, id);
    }
    db.exec("COMMIT");
  }
  return Promise.resolve(Number(db.prepare("SELECT count(*) AS rows FROM events").get()?.["rows"]));
});

/** Rows a second from a file into a store on disk. */
export const benchmark: Benchmark = {
  name: "ingest",
  title: "a CSV file of 1,000,000 events with ids over 1,000 organizations into a new database on disk, fsync on",
  metrics: [{ name: "rate", title: "events", unit: "rows/s", better: "more" }],
  sides: [flatline, bare],
  // As many as fit: each waits for the disk a few hundred times, and no two waits are alike.
  repetitions: 9,
  goals: [{ title: "imported events a second", metric: "rate", peer: bare.name, bound: "at least", goal: 0.4 }],
};
