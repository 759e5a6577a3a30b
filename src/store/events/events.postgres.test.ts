import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { Kysely, PostgresDialect } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { death, toCsv, createWorldOn, type EventWorld } from "../../../test/support/store/event-store.ts";
import { createDatabase, type TestDatabase } from "../../../test/support/postgres/postgres.ts";
import { createSystemClock, hourMs } from "../../base/time.ts";
import { createEventStore, type LivenessEvent } from "./events.ts";
import { openStore } from "../open.ts";
import { createPostgresPool } from "../engine/postgres-pool.ts";
import type { PlainTables } from "../schema.ts";
import type { Store } from "../store.ts";
import { isLong } from "../../../test/support/tier.ts";

// What only a PostgreSQL that several processes share can get wrong; the rest is in the suites of both engines.

const importer = fileURLToPath(new URL("../../../test/support/program/import-process.ts", import.meta.url));
const startMs = Date.UTC(2026, 0, 15, 9);
const clock = createSystemClock();

let database: TestDatabase;
let stores: Store[];
let world: EventWorld;

beforeEach(async () => {
  database = await createDatabase();
  stores = [];
  world = await createWorldOn({
    makePlace: async () => ({ location: { url: database.url }, open: () => openReplica(), remove: () => closeAll() }),
  });
});
afterEach(() => world[Symbol.asyncDispose]());

async function openReplica(): Promise<Store> {
  const store = await openStore({ url: database.url, poolSize: 4, clock });
  stores.push(store);
  return store;
}

async function closeAll(): Promise<void> {
  for (const store of stores) await store.close();
  await database.drop();
}

async function total(slug: string): Promise<number> {
  const [byType = []] = await world.store.events.deaths([
    { slug, intervals: [{ afterMs: startMs - hourMs, untilMs: startMs + 9_000 * hourMs }] },
  ]);
  return byType.reduce((sum, { deaths: [count = 0] }) => sum + count, 0);
}

function rows(count: number, more: Partial<LivenessEvent> = {}): LivenessEvent[] {
  return Array.from({ length: count }, (_, index) =>
    death(startMs + ((index * 7_919) % 100_000) * 10, `org-${index % 3}`, { id: `id-${index}`, ...more }),
  );
}

describe("an import that is killed", () => {
  it("leaves nothing, and the next one stores all of it", { timeout: 110_000 }, async () => {
    const file = await world.write("large.csv", toCsv(rows(30_000)));
    await world.store.events.add([death(startMs, "before")]);
    let killed = 0;

    for (let round = 0; round < (isLong ? 20 : 1); round++) {
      const child = spawn(
        process.execPath,
        ["--disable-warning=ExperimentalWarning", importer, database.url.reveal(), file],
        { stdio: ["ignore", "pipe", "inherit"] },
      );
      const ended = once(child, "close") as Promise<[number | null, string | null]>;
      const lines = createInterface({ input: child.stdout });
      const writing = new Promise<void>((resolve) => {
        lines.on("line", (line) => {
          if (line.startsWith("writing")) resolve();
        });
      });
      await Promise.race([writing, ended]);
      await delay((round % 10) * 20);
      child.kill("SIGKILL");
      const [, signal] = await ended;
      // A machine that is fast enough to end it before ends the test's loop.
      if (signal !== "SIGKILL") break;
      killed++;

      expect(await world.store.events.slugs()).toEqual(["before"]);
    }

    expect(killed).toBeGreaterThan(0);
    expect(await world.import([file])).toMatchObject({ stored: 30_000, duplicates: 0 });
    expect(await total("org-0")).toBe(10_000);
  });
});

it("an import that waits for ids of another transaction stops when its signal aborts", async () => {
  const file = await world.write("1.csv", toCsv(rows(10)));
  // The names are known: else the import would wait for those.
  await world.store.events.add(rows(3, { id: null }));
  const stop = new AbortController();
  const holding = Promise.withResolvers<undefined>();
  const held = Promise.withResolvers<undefined>();
  const other = world.store.transaction(async ({ events }) => {
    await events.add(rows(1));
    held.resolve(undefined);
    await holding.promise;
  });
  await held.promise;

  const importing = world.import([file], { signal: stop.signal }).catch((error: unknown) => error);
  while (!(await isWaiting())) await delay(5);
  stop.abort();

  expect(await importing).toMatchObject({ code: "unavailable" });
  holding.resolve(undefined);
  await other;
  expect(await world.import([file])).toMatchObject({ stored: 9, duplicates: 1 });
});

/** Whether a statement of this database waits for another transaction. */
async function isWaiting(): Promise<boolean> {
  const pool = createPostgresPool({ url: database.url, poolSize: 1 });
  const client = await pool.connect();
  try {
    const { rows: found } = await client.query<{ n: number }>(
      "select 1 as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      [],
    );
    return found.length > 0;
  } finally {
    client.release();
    await pool.end();
  }
}

it("deaths of a thousand organizations are asked for by one statement", async () => {
  await world.store.events.add(rows(90));
  const asked: string[] = [];
  const db = new Kysely<PlainTables>({
    dialect: new PostgresDialect({ pool: createPostgresPool({ url: database.url, poolSize: 1 }) }),
    log: ({ query }) => {
      asked.push(query.sql);
    },
  });
  const intervals = [
    { afterMs: startMs - hourMs, untilMs: startMs + hourMs },
    { afterMs: startMs + hourMs, untilMs: startMs },
  ];
  const queries = Array.from({ length: 1_000 }, (_, index) => ({ slug: `org-${index}`, intervals }));

  const deaths = await createEventStore(db).deaths(queries);

  expect(asked).toHaveLength(1);
  expect(deaths.slice(0, 3)).toEqual([0, 1, 2].map(() => [{ assetType: null, deaths: [30, 0] }]));
  expect(deaths.slice(3).flat()).toEqual([]);
  await db.destroy();
});
