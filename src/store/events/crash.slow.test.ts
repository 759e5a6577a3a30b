import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";

import {
  countsOf,
  createEventWorld,
  death,
  toCsv,
  type FileEventWorld,
} from "../../../test/support/store/event-store.ts";
import { isWriteLocked } from "../../../test/support/store/write-lock.ts";
import { createSystemClock } from "../../base/time.ts";
import { openStore } from "../open.ts";
import { isLong } from "../../../test/support/tier.ts";

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
  const tables = ["events", "event_ids", "event_minutes", "event_hours", "event_imports"];
  const counts = tables.map((table) => [table, Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"])]);
  db.close();
  return Object.fromEntries(counts) as Record<string, number>;
}

function integrity({ databasePath }: FileEventWorld): unknown {
  const db = new DatabaseSync(databasePath, { readOnly: true });
  const answer = db.prepare("PRAGMA integrity_check").get()?.["integrity_check"];
  db.close();
  return answer;
}

function logBytes({ databasePath }: FileEventWorld): number {
  return statSync(`${databasePath}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

async function eventually(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await delay(5);
}

/** Starts an import in a process of its own; `until` resolves when it has said a line that begins so, or has ended. */
function startImport({ location }: FileEventWorld, file: string) {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", importer, location.path, file], {
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
    // A test that fails leaves none behind, whether it runs or is stopped.
    [Symbol.dispose]: () => void child.kill("SIGKILL"),
  };
}

describe("an import that is killed", () => {
  it(
    "leaves the counts and every table as before, and nothing in the way of the next",
    { timeout: 600_000 },
    async () => {
      await using world = await createEventWorld();
      await world.import([await world.write("before.csv", rows(2_000, "before"))]);
      const countsBefore = await countsOf(world.store, query);
      const rowsBefore = rowCounts(world);
      const file = await world.write("large.csv.gz", gzipSync(rows(large, "large")));
      let killed = 0;

      for (let round = 0; round < (isLong ? 60 : 2); round++) {
        using running = startImport(world, file);
        await running.until("writing");
        // How far it gets depends on the machine.
        await delay((round % 20) * 60);
        running.child.kill("SIGKILL");
        const [, signal] = (await running.ended) as [number | null, string | null];
        // A machine that is fast enough to end it before ends the test's loop.
        if (signal !== "SIGKILL" || rowCounts(world)["event_imports"] !== rowsBefore["event_imports"]) break;
        killed++;

        expect(rowCounts(world)).toEqual(rowsBefore);
        expect(await countsOf(world.store, query)).toEqual(countsBefore);
        expect(await world.store.events.slugs()).toHaveLength(10);
      }
      expect(killed).toBeGreaterThan(0);

      expect(integrity(world)).toBe("ok");
      await world.import([file], { again: true });
      expect(rowCounts(world)["events"]).toBe(2_000 + large);
      expect(await world.import([file])).toMatchObject({ stored: 0, duplicates: large });
    },
  );

  it("leaves a log that the next start of a daemon shortens", { timeout: 60_000 }, async () => {
    await using world = await createEventWorld();
    const file = await world.write("large.csv.gz", gzipSync(rows(large, "large")));
    using running = startImport(world, file);
    await running.until("writing");
    await eventually(() => logBytes(world) > 1_024 ** 2);
    running.child.kill("SIGKILL");
    await running.ended;

    await (await openStore({ ...world.location, clock: createSystemClock(), check: true })).close();

    expect(logBytes(world)).toBe(0);
  });
});

describe("while another process imports", () => {
  it(
    "no other write waits, nor a look at the events, and a post is stored after it",
    { timeout: 600_000 },
    async () => {
      await using world = await createEventWorld();
      const file = await world.write("large.csv.gz", gzipSync(rows(isLong ? 300_000 : 80_000, "large")));
      using running = startImport(world, file);
      await running.until("writing");
      const state = { isEnded: false };
      void running.ended.then(() => (state.isEnded = true));
      const seen = new Set([JSON.stringify(await countsOf(world.store, query))]);
      const [before = ""] = seen;
      let stops = 0;

      // An import that stands still keeps its locks: what needed one of them would fail, however fast this machine is.
      while (true) {
        running.child.kill("SIGSTOP");
        if (state.isEnded || !isWriteLocked(world.databasePath)) break;
        await world.store.transaction(({ meta }) => meta.getOrSet(`name-${stops}`, "value"));
        seen.add(JSON.stringify(await countsOf(world.store, query)));
        stops++;
        running.child.kill("SIGCONT");
        await delay(40);
      }
      running.child.kill("SIGCONT");
      await running.ended;
      const after = JSON.stringify(await countsOf(world.store, query));
      await world.store.events.add([death(startMs, "posted")]);

      // A commit is seen a moment before its lock is released.
      expect([...seen].filter((counts) => counts !== before && counts !== after)).toEqual([]);
      expect(after).not.toBe(before);
      expect(stops).toBeGreaterThan(2);
      expect(await world.store.transaction(({ meta }) => meta.getOrSet("name-0", "another"))).toBe("value");
      expect(await world.store.events.slugs()).toContain("posted");
    },
  );

  it("its log is gone at its end", { timeout: 60_000 }, async () => {
    await using world = await createEventWorld();
    await world.import([await world.write("large.csv.gz", gzipSync(rows(100_000, "large")))]);

    expect(logBytes(world)).toBe(0);
  });
});
