import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { actor } from "../../../src/contract/actor.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres/postgres.ts";
import { runProgram } from "../../support/program/program.ts";

let folder: DaemonFolder;
beforeEach(async () => {
  folder = await makeDaemonFolder();
});
afterEach(() => folder.close());

const columns = "{ slug: slug, at: at }";

describe("the built program", () => {
  it.each([
    { type: "postgres", url: "postgres://flatline:hush@127.0.0.1:9/none" },
    { type: "clickhouse", url: "http://127.0.0.1:9" },
  ])("has the driver of $type with it, and says that nobody listens", async ({ type, url }) => {
    await folder.configure(
      `source: { type: ${type}, url: "${url}", table: events, columns: ${columns} }\norganizations: [acme]\nstorage: { path: flatline.db }\n`,
    );

    const { stdout, exitCode } = await runProgram(["check", "--json"], { cwd: folder.path });

    expect(JSON.parse(stdout)).toMatchObject([{ slug: "acme", severity: "unknown", error: { reason: "network" } }]);
    expect(stdout).not.toContain("hush");
    expect(exitCode).toBe(3);
  });
});

describe("a daemon over a table in PostgreSQL", () => {
  let database: TestDatabase;
  let owner: Client;
  beforeEach(async () => {
    database = await createDatabase("empty");
    owner = new Client({ connectionString: database.url.reveal() });
    await owner.connect();
    await owner.query(`
      create table deaths (organization text not null, at timestamptz not null);
      create table other_deaths (like deaths);
      create index on deaths (organization, at);
      insert into deaths select 'acme', now() - interval '1 minute' * n from generate_series(1, 30) as n;
      insert into deaths select 'org-' || n, now() - interval '1 minute' from generate_series(1, 40) as n`);
  });
  afterEach(async () => {
    await owner.end();
    await database.drop();
  });

  async function configure(table: string): Promise<void> {
    const organizations = ["acme", ...Array.from({ length: 40 }, (_, index) => `org-${index + 1}`)];
    await writeFile(join(folder.path, "url.txt"), database.url.reveal());
    await folder.configure(
      `source: { type: postgres, urlFile: url.txt, table: ${table}, columns: { slug: organization, at: at } }\n` +
        `defaults: { schedule: "0 0 1 1 *" }\norganizations: [${organizations.join()}]\n` +
        "storage: { path: flatline.db }\nserver: { listen: 127.0.0.1:0, token: a-token-for-tests }\n",
    );
  }

  it("checks all by few queries, reloads to another table, and serves no API v2", async () => {
    await configure("deaths");
    const app = await folder.start();
    const url = app.address()?.url ?? "";
    const get = async (path: string) => (await fetch(`${url}${path}`)).text();
    const severity = 'flatline_check_severity{check="dead-asset-spike",slug="acme",severity="fail"}';
    await expect.poll(() => get("/metrics"), { timeout: 40_000 }).toContain(`${severity} 1`);
    await expect
      .poll(async () => (await get("/metrics")).match(/flatline_check_up\{[^}]*\} 1/g)?.length, { timeout: 40_000 })
      .toBe(41);

    const asked = Number(
      /flatline_source_requests_total\{operation="count_deaths",code="ok"\} (\d+)/.exec(await get("/metrics"))?.[1],
    );
    const apiV2 = await fetch(`${url}/api/v2/organization/reports`, { headers: { "x-api-key": "any" } });
    const events = await fetch(`${url}/api/v1/events`, {
      method: "POST",
      headers: { authorization: "Bearer a-token-for-tests", "content-type": "application/json" },
      body: "[]",
    });
    await configure("other_deaths");
    await app.reload(actor("signal", "config"));
    const run = await fetch(`${url}/api/v1/checks/dead-asset-spike/acme/run`, {
      method: "POST",
      headers: { authorization: "Bearer a-token-for-tests" },
    });

    // 41 checks that were due at once.
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThan(21);
    expect(apiV2.status).toBe(404);
    expect(events.status).toBe(409);
    expect(await run.json()).toMatchObject({ severity: "ok", result: { observed: { currentCount: 0 } } });
    expect(await get("/o/acme")).toContain("postgres");
  });
});
