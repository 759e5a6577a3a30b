import { Client } from "pg";
import { afterEach, beforeEach, expect, it } from "vitest";

import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres/postgres.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, readText, startDaemon, type Daemon } from "../../support/program/program.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";

const slugs = ["acme", "globex", "initech", "umbrella", "hooli", "wonka"];
const token = "a-token-of-the-tests";

let database: TestDatabase;
let upstream: ScriptedUpstream;
let folder: ProgramFolder;
let replicas: Daemon[];

beforeEach(async () => {
  database = await createDatabase();
  upstream = await startScriptedUpstream();
  upstream.otherwise(({ body }) => {
    const { slug } = JSON.parse(body) as { slug: string };
    return { kind: "answer", body: sampleHealthcheck({ scope: { slug }, severity: "ok", ok: true }) };
  });
  folder = await makeProgramFolder(`
source: { type: remote, baseUrl: "${upstream.baseUrl}", apiKey: key }
defaults: { schedule: "@yearly" }
organizations: [${slugs.join(", ")}]
server: { listen: "127.0.0.1:0", token: ${token} }
storage: { url: "${database.url.reveal()}", poolSize: 3 }
`);
  replicas = [];
  for (let index = 0; index < 2; index++) replicas.push(await startDaemon([], { cwd: folder.path }));
});
afterEach(async () => {
  for (const replica of replicas) await replica.kill();
  await upstream.close();
  await database.drop();
  await folder[Symbol.asyncDispose]();
});

it("is done by the replica that owns the check, whichever is asked, and shown by all", async () => {
  const client = new Client({ connectionString: database.url.reveal() });
  await client.connect();
  await eventually(async () => {
    const { rows } = await client.query("select distinct owner_id from shards where owner_id is not null");
    return rows.length === 2;
  }, 30_000);
  await client.end();
  const asked = upstream.requests.length;

  for (const { url } of replicas) {
    for (const slug of slugs) {
      const response = await fetch(`${url}/api/v1/checks/dead-asset-spike/${slug}/run`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
      });
      expect([response.status, await response.json()]).toMatchObject([200, { slug, severity: "ok" }]);
    }
  }

  expect(upstream.requests.length - asked).toBe(2 * slugs.length);
  const lastRuns = async ({ url }: Daemon): Promise<string[]> =>
    (await readText(`${url}/metrics`)).match(/^flatline_check_last_run_timestamp_seconds\{.*$/gm)?.toSorted() ?? [];
  const [first, second] = await Promise.all(replicas.map(lastRuns));
  expect(first).toHaveLength(slugs.length);
  expect(second).toEqual(first);
});
