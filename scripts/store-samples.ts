// Writes test/fixtures/stores: a small SQLite store of each schema version, as a daemon leaves it, for the test that migrates
// them. A version that has its sample keeps it: what was written once is what somebody may still have. The first ones are made
// of what a daemon did; each later one is the newest of them, migrated, with rows for its new tables (`additions`), so that all
// hold the same.
// --list tells of tables in which nothing is.
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";

import { Kysely, sql } from "kysely";

import { createSystemClock, dayMs, hourMs, minuteMs } from "../src/base/time.ts";
import { currentVersion, migrations } from "../src/store/engine/migrations/migrations.ts";
import { openStore } from "../src/store/open.ts";
import type { Store } from "../src/store/store.ts";
import { eventsPathOf } from "../src/store/engine/location.ts";
import { createSqliteDialect } from "../src/store/engine/sqlite-driver.ts";
import { runCli } from "../test/support/program/cli-run.ts";
import { createTestApp } from "../test/support/program/test-app.ts";

const clock = createSystemClock();
const folder = fileURLToPath(new URL("../test/fixtures/stores/", import.meta.url));
const token = "a-token-of-the-samples";
const longestWaitMs = 60_000;

const configuration = `
source: { type: embedded }
defaults: { schedule: "*/2 * * * * *", reviewQueue: { enabled: true, schedule: "*/2 * * * * *" } }
organizations: [acme, globex]
discover: [{ name: crm, file: crm.json }]
alerting: { groupWait: 0s, groupInterval: 0s, fleet: false }
receivers:
  - { name: console, type: log }
  - { name: gone, type: webhook, url: "http://127.0.0.1:9/hook" }
server: { listen: 127.0.0.1:0, token: ${token} }
storage: { path: flatline.db }
`;
const fixture = `
organizations: [{ slug: acme, name: Acme, brands: [{ id: 7, name: Acme Pay }] }, { slug: globex }]
keys: [{ key: sample-key, role: customer, organizations: [acme] }]
assets: [{ id: 501, type: URL, content: "https://acme-login.example" }, { id: 502, type: URL, content: "https://acme-pay.example" }]
legitimacyRules: [{ name: popular, enabled: true, domains: [example.org] }]
reports:
  - id: 9001
    organization: acme
    createdAt: 2026-11-01T10:00:00.000Z
    status: TODO
    source: API
    country: US
    reporter: { kind: human, name: Kim, organization: null }
    proposals:
      - { id: 301, assetId: 501, decision: null, decidedBy: null, queue: queued, resolved: false }
      - { id: 302, assetId: 502, decision: null, decidedBy: null, queue: queued, resolved: false }
    scans: [{ id: 1, assetId: 501, status: DONE, at: 2026-11-01T10:01:00.000Z }]
`;

/**
 * What fills tables that came after the first version, in the order of their versions; run on a store that has all rows
 * before, and has been brought to the current version.
 */
const additions: readonly ((store: Store) => Promise<void>)[] = [];

await mkdir(folder, { recursive: true });
const versions = migrations.map((_migration, index) => index + 1).filter((version) => !existsSync(fileOf(version)));
if (versions.length > 0 || process.argv.includes("--list")) {
  const work = await mkdtemp(join(tmpdir(), "flatline-samples-"));
  try {
    const filled = await (existsSync(fileOf(1)) ? continueNewest(work) : fillStore(work));
    if (process.argv.includes("--list")) listEmpty(filled);
    for (const version of versions) {
      await writeSample(version, "state", filled, work);
      await writeSample(version, "events", eventsPathOf(filled), work);
    }
  } finally {
    await rm(work, { recursive: true });
  }
}

function fileOf(version: number, part: "state" | "events" = "state"): string {
  const path = join(folder, `sqlite-${String(version).padStart(4, "0")}.db`);
  return `${part === "state" ? path : eventsPathOf(path)}.gz`;
}

/** The newest sample that there is, brought to the current version. */
async function continueNewest(work: string): Promise<string> {
  const newest = migrations.findLastIndex((_migration, index) => existsSync(fileOf(index + 1))) + 1;
  const path = join(work, "flatline.db");
  await writeFile(path, gunzipSync(await readFile(fileOf(newest))));
  await writeFile(eventsPathOf(path), gunzipSync(await readFile(fileOf(newest, "events"))));
  const store = await openStore({ path, clock });
  for (const add of additions) await add(store);
  await store.close();
  return path;
}

/** A store of the current version in which a daemon has done all it does. */
async function fillStore(work: string): Promise<string> {
  const nowMs = clock.nowMs();
  const at = (agoMs: number): string => new Date(nowMs - agoMs).toISOString();
  await writeFile(join(work, "flatline.yaml"), configuration);
  await writeFile(join(work, "fixture.yaml"), fixture);
  await writeFile(join(work, "crm.json"), '["initech"]');
  const deaths = Array.from(
    { length: 40 },
    (_, index) => `${at(index * minuteMs)},acme,URL,asset-${index},id-${index}`,
  );
  const before = Array.from({ length: 12 }, (_, index) => `${at(dayMs * (index + 1) + hourMs)},acme,,old-${index},`);
  await writeFile(join(work, "events.csv"), `at,slug,assetType,asset,id\n${[...deaths, ...before].join("\n")}\n`);
  await run(work, "import", "events", "events.csv");
  await run(work, "import", "fixture", "fixture.yaml");
  const app = await createTestApp(work, { clock });
  await app.start();
  try {
    const url = app.address()?.url ?? "";
    const post = async (path: string, body: unknown, headers: Record<string, string> = {}): Promise<void> => {
      const response = await fetch(`${url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}`, ...headers },
        body: JSON.stringify(body),
      });
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    };
    const posted = { at: nowMs - minuteMs, slug: "globex", assetType: "EMAIL", asset: "a@example.org", id: "posted-1" };
    await post("/api/v1/events", [{ ...posted, attributes: { country: "DE" } }], { "idempotency-key": "sample" });
    await post("/api/v1/silences", { slug: "globex", endsAt: at(-dayMs), comment: "a sample" });
    await post("/api/v1/markers", { text: "a sample" });
    const review = ["--asset-id", "501", "--decision", "REJECT", "--reject-reason", "decayed", "--note", "a sample"];
    await run(work, "proposals", "review", "301", "--slug", "acme", "--yes", ...review);
    await untilTold(join(work, "flatline.db"));
  } finally {
    await app.stop();
  }
  await addWhatTakesDays(join(work, "flatline.db"));
  return join(work, "flatline.db");
}

/** What a daemon of a minute has not: hours of history. */
async function addWhatTakesDays(path: string): Promise<void> {
  const database = new DatabaseSync(path);
  database.exec(`
    insert into receiver_pauses values ('gone', 1);
    insert into alert_notified values ('an-alert', 'a-receiver', 1);
    insert into receiver_messages values ('a-receiver', 1, 'C042', '1700000000.0001');
    insert into act_notices (slug, at_ms, body) values ('globex', 1, '[]');
    insert into outside_acts values ('pagerduty', 'an-event', 'an-alert', 1, 1);
    insert into sessions values ('00', 'ops', 'a-proof', 'dana', 1, 1, 1);
    insert into gate_releases (slug, at_ms, how, released_by, comment)
      select 'acme', at_ms, 'released', 'kim', 'a sample' from markers`);
  database.close();
  const events = new DatabaseSync(eventsPathOf(path));
  events.exec("insert into event_pruned_slugs select slug_id from event_slugs where slug = 'globex'");
  events.close();
  const store = await openStore({ path, clock });
  const [firing] = (await store.alerts.allLive()).filter(({ state }) => state === "firing");
  if (firing === undefined) throw new Error("nothing fires");
  const { check, slug } = firing;
  const ended = { ...firing, id: "ended-sample", reason: "back_to_ok" };
  await store.alerts.end(ended, { atMs: clock.nowMs(), isByRun: true });
  const said = { alertId: ended.id, check, slug, atMs: clock.nowMs(), comment: "a sample", by: "token", note: "kim" };
  await store.judgements.append({ ...said, verdict: "checker" });
  const { check: _check, comment: text, ...comment } = said;
  await store.comments.append({ ...comment, text, act: "judgement" });
  const look = { incidentNumber: firing.incident?.number ?? 1, number: 1, startedAtMs: clock.nowMs() };
  await store.looks.claim({ ...look, leaseUntilMs: look.startedAtMs, isByHand: false });
  const asset = { slug, asset: "https://login.example", assetType: "URL", role: "sample" } as const;
  await store.looks.addAnswers(look, [{ ...asset, answer: "answers", detail: "a sample" }]);
  await store.runs.request({ check: "dead-asset-spike", slug: "acme" }, clock.nowMs());
  await store.close();
}

async function run(cwd: string, ...args: string[]): Promise<void> {
  const { exitCode, stderr } = await runCli(args, { cwd });
  if (exitCode !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
}

/** Until receivers have been told, one has refused, and the past is drawn. */
async function untilTold(path: string): Promise<void> {
  const database = new DatabaseSync(path, { readOnly: true });
  const isThere = (query: string): boolean => database.prepare(query).get() !== undefined;
  const wanted = [
    "select 1 from outbox where last_error is not null",
    "select 1 from alert_sent where is_ended = 0",
    "select 1 from incidents",
    "select 1 from runs",
    "select 1 from hours",
    "select 1 from checks where check_name = 'review-queue'",
  ];
  try {
    for (let waitedMs = 0; wanted.some((query) => !isThere(query)); waitedMs += 100) {
      if (waitedMs > longestWaitMs) throw new Error(`never: ${wanted.filter((query) => !isThere(query)).join("; ")}`);
      await clock.sleep(100);
    }
  } finally {
    database.close();
  }
}

/** A store of an older version: its own tables, with what of the filled one's rows they have columns for. */
async function writeSample(version: number, part: "state" | "events", filled: string, work: string): Promise<void> {
  const path = join(work, `version-${version}-${part}.db`);
  await writeFile(path, "");
  const dialect = createSqliteDialect({ path, clock });
  const db = new Kysely<unknown>({ dialect });
  await sql`create table schema_version (version integer primary key, name text not null)`.execute(db);
  for (const [index, { name, up }] of migrations.slice(0, version).entries()) {
    await up(db, part);
    await sql`insert into schema_version (version, name) values (${index + 1}, ${name})`.execute(db);
  }
  await dialect.close();
  const database = new DatabaseSync(path);
  database.exec("pragma foreign_keys = off");
  database.prepare("attach ? as filled").run(filled);
  for (const table of tablesOf(database)) {
    if (table === "schema_version") continue;
    const columns = columnsOf(database, "main", table).filter((name) =>
      columnsOf(database, "filled", table).includes(name),
    );
    database.exec(`delete from main."${table}"`);
    if (columns.length > 0)
      database.exec(`insert into main."${table}" (${columns.join()}) select ${columns.join()} from filled."${table}"`);
  }
  const { user_version } = database.prepare("pragma filled.user_version").get() ?? {};
  database.exec(`pragma user_version = ${Number(user_version)}`);
  database.exec("detach filled; pragma journal_mode = delete; vacuum");
  database.close();
  const packed = gzipSync(await readFile(path), { level: 9 });
  await writeFile(fileOf(version, part), packed);
  console.log(`${fileOf(version, part)}: ${packed.length} bytes`);
}

function listEmpty(path: string): void {
  const empty = [path, eventsPathOf(path)].flatMap((file) => {
    const database = new DatabaseSync(file, { readOnly: true });
    const found = tablesOf(database).filter(
      (table) => database.prepare(`select 1 from "${table}"`).get() === undefined,
    );
    database.close();
    return found;
  });
  console.log(`schema version ${currentVersion}, nothing in: ${empty.join(", ")}`);
}

function tablesOf(database: DatabaseSync): string[] {
  const rows = database
    .prepare("select name from main.sqlite_schema where type = 'table' and name not like 'sqlite_%'")
    .all();
  return rows.map(({ name }) => String(name));
}

function columnsOf(database: DatabaseSync, schema: string, table: string): string[] {
  return database
    .prepare("select name from pragma_table_info(?, ?)")
    .all(table, schema)
    .map(({ name }) => String(name));
}
