import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";

import { Kysely, PostgresDialect, sql } from "kysely";
import { Client, Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createSystemClock } from "../../src/base/time.ts";
import { currentVersion, migrations } from "../../src/store/engine/migrations/migrations.ts";
import { eventsPathOf } from "../../src/store/engine/location.ts";
import { openStore } from "../../src/store/open.ts";
import { Board } from "../../src/store/runs/board.ts";
import { createHistory } from "../../src/store/runs/history.ts";
import type { Store } from "../../src/store/store.ts";
import { createDatabase } from "../support/postgres/postgres.ts";
import { sampleOf, unpackSample } from "../support/store/samples.ts";
import { isLong } from "../support/tier.ts";

const clock = createSystemClock();
const versions = migrations.map((_migration, index) => index + 1);
// Each takes a second.
const onPostgres = isLong ? versions : [currentVersion];
const endMs = 8_640_000_000_000_000;
const spike = { check: "dead-asset-spike", slug: "acme" } as const;

/** What a store holds, as those who use it read it, by the version that brought it. */
const readings: readonly {
  readonly since: number;
  readonly name: string;
  readonly read: (store: Store) => Promise<unknown>;
}[] = [
  { since: 1, name: "slugs", read: async (store) => (await store.events.slugs()).toSorted() },
  { since: 1, name: "first event", read: (store) => store.events.firstEventAtMs("acme") },
  {
    since: 1,
    name: "deaths",
    read: (store) => store.events.deaths([{ slug: "acme", intervals: [{ afterMs: 0, untilMs: endMs }] }]),
  },
  { since: 1, name: "last event", read: (store) => store.liveness.lastEventAtMs("globex", endMs) },
  {
    since: 1,
    name: "last states",
    read: async (store) =>
      (await boardOf(store))
        .states()
        .map(({ slug, severitySinceMs, lastReport }) => [slug, severitySinceMs, lastReport]),
  },
  {
    since: 1,
    name: "runs",
    read: async (store) => createHistory(store.runs).runs({ ...spike, fromMs: 0, toMs: endMs }),
  },
  {
    since: 1,
    name: "reports",
    read: (store) => store.runs.reports({ ...spike, fromMs: 0, toMs: endMs, limit: 9 }),
  },
  { since: 1, name: "alerts", read: (store) => store.alerts.allLive() },
  {
    since: 1,
    name: "history of alerts",
    read: (store) => store.alertHistory.since({ ...spike, fromMs: 0, limit: 99 }),
  },
  { since: 1, name: "outbox", read: (store) => store.outbox.list() },
  { since: 1, name: "silences", read: (store) => store.silences.endingAfter(0) },
  { since: 1, name: "sent", read: (store) => store.notices.sent() },
  { since: 1, name: "receivers", read: (store) => store.notices.receiverIncidents() },
  { since: 1, name: "incidents", read: (store) => store.incidents.list({ state: "all", limit: 9 }) },
  { since: 1, name: "organizations", read: (store) => store.platform.organizations.slugs() },
  { since: 1, name: "keys", read: (store) => store.platform.keys.list() },
  { since: 1, name: "asset", read: (store) => store.platform.assets.byId(501) },
  { since: 1, name: "platform's reports", read: (store) => store.platform.reports.records([9001], 0) },
  { since: 1, name: "reviews", read: (store) => store.platform.reviews.apiReviewsAfter(1, 0, 9) },
  { since: 1, name: "markers", read: (store) => store.markers.between({ fromMs: 0, toMs: endMs }) },
  { since: 1, name: "failures of the gate", read: (store) => store.gate.failures("acme") },
  { since: 1, name: "an ended alert", read: (store) => store.alerts.find("ended-sample") },
  { since: 1, name: "judgements", read: (store) => store.judgements.of("ended-sample") },
  { since: 1, name: "releases of the gate", read: (store) => store.gate.releases("acme", 9) },
  { since: 1, name: "audit", read: (store) => store.audit.list({ limit: 99 }) },
  { since: 1, name: "deliveries", read: (store) => store.deliveries.last("gone", false) },
];

async function boardOf(store: Store): Promise<Board> {
  const board = new Board();
  board.learn(await store.runs.load());
  return board;
}

type Rows = ReadonlyMap<string, readonly Readonly<Record<string, SQLOutputValue>>[]>;

/** Every row of every table of both files, with the columns that the version knows. */
function readRows(path: string, columnsOf?: Rows): Rows {
  return new Map([...readFileRows(path, columnsOf), ...readFileRows(eventsPathOf(path), columnsOf)]);
}

function readFileRows(path: string, columnsOf?: Rows): Rows {
  const database = new DatabaseSync(path, { readOnly: true });
  const tables = database
    .prepare(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name <> 'schema_version'",
    )
    .all()
    .map(({ name }) => String(name));
  const wanted = tables.filter((table) => columnsOf === undefined || columnsOf.has(table));
  const rows = new Map(
    wanted.map((table) => {
      const names = columnsOf?.get(table)?.[0];
      const columns = names === undefined ? "*" : Object.keys(names).join();
      const order = database.prepare(`select ${columns} from "${table}"`).columns().length > 1 ? "1, 2" : "1";
      return [table, database.prepare(`select ${columns} from "${table}" order by ${order}`).all()] as const;
    }),
  );
  database.close();
  return rows;
}

let folder: string;
let newest: readonly unknown[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-samples-"));
  const store = await openStore({ path: await unpack(currentVersion, "newest"), clock });
  newest = await Promise.all(readings.map(({ read }) => read(store)));
  await store.close();
});
afterAll(() => rm(folder, { recursive: true }));

async function unpack(version: number, as: string): Promise<string> {
  const path = join(folder, `${as}-${version}.db`);
  await unpackSample(version, path);
  return path;
}

/** Whatever the version had must be read as the newest store's is, which is made of the same rows. */
async function expectAllRead(store: Store, version: number): Promise<void> {
  for (const [index, { since, name, read }] of readings.entries()) {
    if (since > version) continue;
    const found = await read(store);
    expect(found, name).toEqual(newest[index]);
    expect(JSON.stringify(found), name).not.toMatch(/^(?:\[\]|null)$/);
  }
}

describe("the samples of stores", () => {
  it.each(versions)("have one of schema version %i; node scripts/store-samples.ts makes what is missing", (version) => {
    expect(sampleOf(version).map((path) => existsSync(path))).toEqual([true, true]);
  });

  it("hold a row in every table", () => {
    const empty = [...readRows(join(folder, `newest-${currentVersion}.db`))].filter(([, rows]) => rows.length === 0);

    expect(empty.map(([table]) => table)).toEqual([]);
  });
});

describe.each(versions)("a store of schema version %i", (version) => {
  it("is brought to this version in SQLite, with every row, and reads as before", async () => {
    const path = await unpack(version, "old");
    const before = readRows(path);

    const store = await openStore({ path, clock });
    await expectAllRead(store, version);
    await store.close();

    const after = readRows(path, before);
    for (const [table, rows] of before) expect(after.get(table), table).toEqual(rows);
  });

  if (!onPostgres.includes(version)) return;
  it("is brought to this version in PostgreSQL, and reads as before", async () => {
    const { url, drop } = await createDatabase("empty");
    try {
      await migrateTo(version, url.reveal());
      await copyRows(readRows(await unpack(version, "rows")), url.reveal());

      const store = await openStore({ url, poolSize: 2, clock });
      try {
        await expectAllRead(store, version);
      } finally {
        await store.close();
      }
    } finally {
      await drop();
    }
  });
});

async function migrateTo(version: number, url: string): Promise<void> {
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: new Pool({ connectionString: url, max: 1 }) }),
  });
  await sql`create table schema_version (version integer primary key, name text not null)`.execute(db);
  for (const [index, { name, up }] of migrations.slice(0, version).entries()) {
    await up(db, "all");
    await sql`insert into schema_version (version, name) values (${index + 1}, ${name})`.execute(db);
  }
  await db.destroy();
}

/** The same rows, in the tables and columns that both engines have. */
async function copyRows(tables: Rows, url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  // Rows come in the order of their tables' names, not of what refers to what.
  await client.query("set session_replication_role = replica");
  const { rows: columns } = await client.query<{ table_name: string; column_name: string }>(
    "select table_name, column_name from information_schema.columns where table_schema = 'public'",
  );
  for (const [table, rows] of tables) {
    const known = columns.filter((column) => column.table_name === table).map((column) => column.column_name);
    if (known.length > 0) await client.query(`delete from "${table}"`);
    for (const row of rows) {
      const names = Object.keys(row).filter((name) => known.includes(name));
      if (names.length === 0) break;
      const places = names.map((_name, index) => `$${index + 1}`).join();
      await client.query(
        `insert into "${table}" (${names.join()}) values (${places})`,
        names.map((name) => row[name]),
      );
    }
  }
  await client.end();
}
