import { inspect } from "node:util";

import { Client } from "pg";
import { afterEach, describe, expect, it } from "vitest";

import { resultReport } from "../../test/support/check-reports.ts";
import { pointsOf, createRunProcess } from "../../test/support/program/run-process.ts";
import { createDatabase } from "../../test/support/postgres/postgres.ts";
import { Secret } from "../base/secret.ts";
import { createSystemClock } from "../base/time.ts";
import { currentVersion } from "./engine/migrations/migrations.ts";
import { openStore } from "./open.ts";
import { createPostgresPool } from "./engine/postgres-pool.ts";
import type { Store } from "./store.ts";

const clock = createSystemClock();
const check = "dead-asset-spike";
const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function database(content: "migrated" | "empty" = "migrated"): Promise<Secret> {
  const { url, drop } = await createDatabase(content);
  cleanUps.push(drop);
  return url;
}

async function openToRead(url: Secret, poolSize = 4): Promise<Store> {
  const store = await openStore({ url, poolSize, clock });
  cleanUps.push(() => store.close());
  return store;
}

async function open(url: Secret, poolSize?: number): Promise<Store> {
  const store = await openToRead(url, poolSize);
  await store.takeWriter();
  return store;
}

/** Somebody else's connection to the same database. */
async function connect(url: Secret): Promise<Client> {
  const client = new Client({ connectionString: url.reveal() });
  client.on("error", () => undefined);
  await client.connect();
  cleanUps.push(() => client.end());
  return client;
}

async function ask(url: Secret, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url.reveal() });
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(text);
  await client.end();
  return rows.flatMap((row) => Object.values(row));
}

function changed(url: Secret, change: (url: URL) => void): Secret {
  const copy = new URL(url.reveal());
  change(copy);
  return new Secret(copy.href);
}

const failureOf = (opening: Promise<unknown>): Promise<unknown> =>
  opening.then(
    () => null,
    (error: unknown) => error,
  );

describe("opening a store in PostgreSQL", () => {
  it("makes its tables once, however many processes begin at the same time", async () => {
    const url = await database("empty");

    const stores = await Promise.all(Array.from({ length: 3 }, () => openToRead(url)));

    expect(await ask(url, "select count(*)::int, max(version) from schema_version")).toEqual([
      currentVersion,
      currentVersion,
    ]);
    expect(await Promise.all(stores.map(({ meta }) => meta.get("name")))).toEqual(Array(3).fill(null));
  });

  it("keeps to the first schema of the search_path", async () => {
    const url = await database("empty");
    await ask(url, "create schema monitoring");

    const store = await open(
      changed(url, ({ searchParams }) => searchParams.set("options", "-c search_path=monitoring")),
    );
    await store.meta.getOrSet("name", "value");

    expect(await ask(url, "select value from monitoring.meta")).toEqual(["value"]);
    expect(await ask(url, "select count(*)::int from pg_tables where schemaname = 'public'")).toEqual([0]);
    expect(await store.bytes()).toBeGreaterThan(0);
  });

  it("refuses the version of a newer flatline", async () => {
    const url = await database("empty");
    await (await open(url)).close();
    await ask(url, `insert into schema_version values (${currentVersion + 1}, 'later')`);

    await expect(open(url)).rejects.toMatchObject({
      code: "store_newer",
      message: expect.stringContaining(`has schema version ${currentVersion + 1}, this flatline supports up to`),
    });
  });

  it("refuses a schema with tables of another program, and leaves it as it was", async () => {
    const url = await database("empty");
    await ask(url, "create table alerts (x int)");

    await expect(open(url)).rejects.toMatchObject({
      code: "store_unusable",
      message: expect.stringMatching(/"alerts" already exists; it contains tables of another program/),
    });
    expect(await ask(url, "select tablename from pg_tables where schemaname = 'public'")).toEqual(["alerts"]);
  });

  it("refuses the schema_version of another program", async () => {
    const url = await database("empty");
    await ask(url, "create table schema_version (version text, installed_on date)");
    await ask(url, "insert into schema_version values ('1.9', now())");

    await expect(open(url)).rejects.toMatchObject({
      code: "store_unusable",
      message: expect.stringMatching(/schema_version belongs to another program/),
    });
    expect(await ask(url, "select count(*)::int from pg_tables where schemaname = 'public'")).toEqual([1]);
  });

  it.each([
    ["a wrong password", (url: URL) => (url.password = "hush"), /password/],
    ["no such database", (url: URL) => (url.pathname = "/nowhere"), /database "nowhere" does not exist/],
    [
      "a TLS that the server has not",
      (url: URL) => url.searchParams.set("sslmode", "verify-full"),
      /does not support SSL/,
    ],
    [
      "a schema that is not there",
      (url: URL) => url.searchParams.set("options", "-c search_path=nowhere"),
      /no schema has been selected/,
    ],
  ])("refuses %s, without a word of the password", async (_rule, change, says) => {
    const given = await database("empty");
    const url = changed(given, change);
    const { password, host } = new URL(url.reveal());

    const error = await failureOf(openStore({ url, clock }));

    expect(error).toMatchObject({ code: "store_unusable", message: expect.stringMatching(says) });
    const shown = inspect(error, { depth: 9, showHidden: true });
    expect(shown).toContain(host);
    expect(shown).not.toContain(`:${password}`);
    expect(shown).not.toContain(decodeURIComponent(password));
  });

  it("gives up in a while when nobody listens", async () => {
    const url = changed(await database("empty"), (one) => (one.port = "1"));
    const pool = createPostgresPool({ url, firstConnectionWithinMs: 200 });
    const startedMs = clock.monotonicMs();

    const error = await failureOf(pool.connect());

    expect(error).toMatchObject({ code: "store_busy", message: expect.stringMatching(/:1\/.*ECONNREFUSED/) });
    expect(clock.monotonicMs() - startedMs).toBeGreaterThan(100);
    await pool.end();
  });
});

describe("a store in PostgreSQL", () => {
  it("opens no more connections than storage.poolSize, and one that keeps the writer's row", async () => {
    const url = await database();
    const store = await open(url, 3);
    const count = `select count(*)::int from pg_stat_activity where datname = current_database()
      and application_name = 'flatline'`;

    const asked = Array.from({ length: 60 }, (_, index) => store.meta.getOrSet(`name ${index}`, "value"));
    const [most] = await ask(url, count);
    await Promise.all(asked);

    expect(most).toBeLessThanOrEqual(4);
    expect(await ask(url, count)).toEqual([4]);
  });

  it("keeps what JavaScript and SQLite keep: numbers beyond 32 bits, fractions, bytes, NUL as a mark", async () => {
    const store = await open(await database());
    const counts = { currentCount: 12_345_678_901, baselineCount: 0.1, expectedCount: 1e-7, ratio: null };
    const report = resultReport({ counts, result: { title: "a\0b" } });

    const own = await createRunProcess(store, clock);
    await own.record(report);
    await store.meta.getOrSet("a\0b", "c\0d");

    const all = { check, slug: report.slug, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER } as const;
    expect(await pointsOf(own.history, all)).toMatchObject([
      { atMs: report.finishedAtMs, currentCount: 12_345_678_901, expectedCount: 1e-7 },
    ]);
    expect(await own.history.reports({ ...all, limit: 9 })).toEqual([report]);
    expect(await store.meta.get("a\0b")).toBe("c\u{FFFD}d");
  });

  it("goes on when its connections are cut, and tells the transaction that was under way", async () => {
    const url = await database();
    const store = await open(url);
    await store.meta.getOrSet("name", "value");
    const cut = (): Promise<unknown> =>
      ask(
        url,
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'flatline'`,
      );

    const working = store.transaction(async (parts) => {
      await parts.meta.getOrSet("other", "value");
      await cut();
      return parts.meta.getOrSet("third", "value");
    });

    await expect(working).rejects.toMatchObject({ code: "store_busy" });
    expect(await store.meta.get("name")).toBe("value");
    expect(await store.meta.get("other")).toBeNull();
  });

  it("waits only so long for a lock that somebody else holds", async () => {
    const url = await database();
    // Five seconds, where the URL says nothing else.
    const store = await open(changed(url, ({ searchParams }) => searchParams.set("lock_timeout", "100")));
    const other = await connect(url);
    await other.query("begin; lock table meta");

    await expect(store.meta.get("name")).rejects.toMatchObject({
      code: "store_busy",
      message: expect.stringContaining("due to lock timeout"),
    });
    await other.query("rollback");
    expect(await store.meta.get("name")).toBeNull();
  });
});
