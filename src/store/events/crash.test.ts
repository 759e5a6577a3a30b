import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";

import { createEventWorld, death, toCsv, type FileEventWorld } from "../../../test/support/store/event-store.ts";
import { createSystemClock } from "../../base/time.ts";
import { openEventDatabase } from "./sqlite/import-file.ts";
import { createEventPosts } from "./sqlite/posts.ts";

const isLong = process.env["FLATLINE_TEST_LONG"] === "1";
const large = isLong ? 120_000 : 50_000;
const importer = fileURLToPath(new URL("../../../test/support/program/import-process.ts", import.meta.url));
const startMs = Date.UTC(2026, 0, 15, 9);
const query = { slug: "org-1", baselineStartMs: startMs - 1, windowStartMs: startMs + 40_000, endMs: startMs + 9e9 };

function rows(count: number, ids: string): string {
  const events = Array.from({ length: count }, (_, index) =>
    death(startMs + ((index * 7_919) % 100_000) * 10, `org-${index % 10}`, {
      assetType: index % 2 === 0 ? "URL" : null,
      id: `${ids}-${(index * 2_654_435_761) % 4_294_967_296}`,
      asset: `asset-${index}`,
    }),
  );
  return toCsv(events);
}

/** Rows of every table of events. */
function rowCounts({ databasePath }: FileEventWorld): Record<string, number> {
  const db = new DatabaseSync(databasePath, { readOnly: true });
  const tables = [
    "events",
    "event_ids",
    "event_minutes",
    "event_hours",
    "event_extents",
    "event_contests",
    "event_imports",
  ];
  const counts = tables.map((table) => [table, Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"])]);
  db.close();
  return Object.fromEntries(counts) as Record<string, number>;
}

function publishedImports({ databasePath }: FileEventWorld): number {
  const db = new DatabaseSync(databasePath, { readOnly: true });
  const found = db.prepare(`SELECT count(*) AS n FROM event_imports WHERE state = 'published'`).get();
  db.close();
  return Number(found?.["n"]);
}

function integrity({ databasePath }: FileEventWorld): unknown {
  const db = new DatabaseSync(databasePath, { readOnly: true });
  const answer = db.prepare("PRAGMA integrity_check").get()?.["integrity_check"];
  db.close();
  return answer;
}

/** Removes the remains of failed imports, as a daemon does at its start; returns their number. */
async function cleanUp({ databasePath }: FileEventWorld): Promise<number> {
  const signal = new AbortController().signal;
  const posts = createEventPosts({
    db: openEventDatabase(databasePath),
    databasePath,
    clock: createSystemClock(),
    signal,
  });
  try {
    return await posts.clean();
  } finally {
    await posts.close();
  }
}

/** Starts an import in a process of its own; `until` resolves when it has said a line that begins so, or has ended. */
function startImport({ databasePath }: FileEventWorld, file: string) {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", importer, databasePath, file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout });
  const ended = once(child, "close");
  return {
    child,
    ended,
    until: async (start: string): Promise<void> => {
      const said = new Promise<void>((resolve) => {
        lines.on("line", (line) => {
          if (line.startsWith(start)) resolve();
        });
      });
      await Promise.race([said, ended]);
    },
  };
}

describe("an import that is killed", () => {
  it("leaves the counts as before, and the next one removes what it left", { timeout: 600_000 }, async () => {
    await using world = await createEventWorld();
    await world.import([await world.write("before.csv", rows(2_000, "before"))]);
    const countsBefore = await world.store.events.counts(query);
    const rowsBefore = rowCounts(world);
    const file = await world.write("large.csv.gz", gzipSync(rows(large, "large")));
    const publishedBefore = publishedImports(world);
    let killed = 0;

    for (let round = 0; round < (isLong ? 60 : 2); round++) {
      const running = startImport(world, file);
      await running.until("writing");
      // From the first slice to the last ones; how far it gets depends on the machine.
      await delay((round % 20) * 60);
      running.child.kill("SIGKILL");
      const [, signal] = (await running.ended) as [number | null, string | null];
      // A machine that is fast enough to publish it before ends the test's loop.
      if (signal !== "SIGKILL" || publishedImports(world) > publishedBefore) break;
      killed++;

      expect(await world.store.events.counts(query)).toEqual(countsBefore);
      expect(await world.store.events.slugs()).toHaveLength(10);
    }
    expect(killed).toBeGreaterThan(0);
    const removed = await cleanUp(world);

    if (publishedImports(world) === publishedBefore) {
      expect(removed).toBeGreaterThan(0);
      expect(rowCounts(world)).toEqual(rowsBefore);
      expect(await world.import([file])).toMatchObject({ stored: large, duplicates: 0 });
    }
    expect(integrity(world)).toBe("ok");
    expect((await readdir(world.folder)).filter((name) => name.includes("-import-"))).toEqual([]);
    expect(await world.import([file])).toMatchObject({ stored: 0, duplicates: large });
  });

  it("does not take an import of a living process for broken", async () => {
    await using world = await createEventWorld();
    const file = await world.write("large.csv.gz", gzipSync(rows(60_000, "large")));
    const running = startImport(world, file);
    await running.until("writing");

    const removed = await cleanUp(world);
    const [code] = (await running.ended) as [number];

    expect([removed, code]).toEqual([0, 0]);
    expect(rowCounts(world)["events"]).toBe(60_000);
  });
});

describe("while another process imports", () => {
  it("a write waits for less than 250 ms, and is counted at once", { timeout: 600_000 }, async () => {
    await using world = await createEventWorld();
    const file = await world.write("large.csv.gz", gzipSync(rows(isLong ? 2_000_000 : 80_000, "large")));
    const running = startImport(world, file);
    await running.until("writing");
    // SQLite's own wait for a lock, as any other program would wait.
    const db = new DatabaseSync(world.databasePath, { timeout: 5_000 });
    const waits: number[] = [];
    const state = { isEnded: false };
    void running.ended.then(() => (state.isEnded = true));

    while (!state.isEnded) {
      const startedAt = performance.now();
      db.exec("BEGIN IMMEDIATE");
      waits.push(performance.now() - startedAt);
      db.exec("INSERT OR REPLACE INTO event_posts VALUES ('k', '', 0, 0, 0, 0)");
      db.exec("COMMIT");
      await world.store.events.add([death(startMs, "posted")]);
      expect(await world.store.events.slugs()).toContain("posted");
      await delay(13);
    }
    db.close();

    expect(waits.length).toBeGreaterThan(5);
    // One in a hundred may have met a machine that gave the importer no processor while it held the lock.
    expect(waits.filter((waitMs) => waitMs >= 250).length).toBeLessThanOrEqual(Math.floor(waits.length / 100));
    expect(rowCounts(world)["event_contests"]).toBe(0);
  });

  it("the log is copied back as it goes", { timeout: 60_000 }, async () => {
    await using world = await createEventWorld();
    await world.import([await world.write("large.csv.gz", gzipSync(rows(100_000, "large")))]);

    // 16 MiB before a copy, plus one slice.
    expect(await world.store.bytes()).toBeLessThan(60 * 1_024 ** 2);
  });
});
