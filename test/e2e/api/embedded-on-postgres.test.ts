import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createSystemClock, hourMs, minuteMs } from "../../../src/base/time.ts";
import { platformFixture, platformKeys, rejection } from "../../support/far-side/platform-server.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres/postgres.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, runProgram, startDaemon, type Daemon, type ProgramEnd } from "../../support/program/program.ts";

const nowMs = createSystemClock().nowMs();
const at = (agoMs: number): string => new Date(nowMs - agoMs).toISOString();
// Without ids: what two replicas import would count twice.
const preloaded = `at,slug,assetType,count\n${at(minuteMs)},acme,URL,7\n${at(30 * hourMs)},acme,URL,70\n`;

let database: TestDatabase;
let folder: ProgramFolder;
let replicas: readonly Daemon[];

beforeEach(async () => {
  database = await createDatabase("empty");
  folder = await makeProgramFolder(`
source: { type: embedded, preload: [{ events: events.csv }, { fixture: fixture.json }] }
organizations: [acme, globex]
server: { listen: "127.0.0.1:0", token: secret }
storage: { url: "\${STORE_URL}", poolSize: 4 }
`);
  await folder.write("events.csv", preloaded);
  await folder.write("fixture.json", JSON.stringify(platformFixture()));
  replicas = await Promise.all([1, 2, 3].map(() => startDaemon([], options())));
});
afterEach(async () => {
  for (const replica of replicas) await replica.kill();
  await database.drop();
  await folder[Symbol.asyncDispose]();
});

const options = () => ({ cwd: folder.path, env: { STORE_URL: database.url.reveal() } });
const flatline = (...args: readonly string[]): Promise<ProgramEnd> => runProgram(args, options());

async function call(replica: number, method: string, path: string, body?: unknown, key: string = platformKeys.acme) {
  const response = await fetch(`${replicas[replica % 3]?.url ?? ""}${path}`, {
    method,
    headers: { "x-api-key": key, authorization: "Bearer secret", "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

async function observed(replica: number): Promise<unknown> {
  const { json } = await call(replica, "POST", "/api/v2/healthchecks/assets/dead-asset-spike", { slug: "acme" });
  return json["observed"];
}

async function reviewAtOnce(proposals: readonly number[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  const answers = await Promise.all(
    proposals.map((id, index) => {
      const [method, path, { body }] = rejection(id);
      return call(index, method, `/api/v2${path}`, body);
    }),
  );
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe("three daemons with the embedded service on one PostgreSQL", () => {
  it("are one service, whichever of them is asked", { timeout: 120_000 }, async () => {
    expect(await observed(0)).toMatchObject({ currentCount: 7, baselineCount: 70 });

    const events = [1, 2, 3].map((id) => ({ at: at(id * minuteMs), slug: "acme", assetType: "URL", id: `${id}` }));
    const posted = await Promise.all([0, 1, 2].map((replica) => call(replica, "POST", "/api/v1/events", events)));
    expect(posted.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(posted.reduce((sum, { json }) => sum + Number(json["stored"]), 0)).toBe(3);
    for (const replica of [0, 1, 2]) expect(await observed(replica)).toMatchObject({ currentCount: 10 });

    const twenty = Array.from({ length: 20 }, (_, index) => 301 + index);
    expect(await reviewAtOnce(twenty.map(() => 301))).toEqual({ 200: 1, 409: 19 });
    expect(await reviewAtOnce(twenty.slice(1))).toEqual({ 200: 9, 429: 10 });

    const first = await call(1, "GET", "/api/v2/organization/reports?onlyRejected=true&limit=6");
    const rest = await call(
      2,
      "GET",
      `/api/v2/organization/reports?onlyRejected=true&cursor=${String(first.json["cursor"])}`,
    );
    expect([first, rest].map(({ json }) => (json["reports"] as unknown[]).length)).toEqual([6, 4]);
  });

  it("go on beside the commands", { timeout: 120_000 }, async () => {
    await folder.write("more.csv", `at,slug,assetType,count\n${at(2 * minuteMs)},acme,URL,100\n`);

    const imported = await flatline("import", "events", "more.csv");
    const refused = await flatline("import", "events", "more.csv");
    const again = await flatline("import", "events", "--again", "more.csv");
    const checked = await flatline("check", "acme", "--json");
    const made = await flatline("keys", "create", "--organization", "acme");

    expect([imported, refused, again].map(({ exitCode }) => exitCode)).toEqual([0, 65, 0]);
    expect(JSON.parse(checked.stdout)).toMatchObject([{ slug: "acme", result: { observed: { currentCount: 207 } } }]);
    expect(await observed(2)).toMatchObject({ currentCount: 207 });
    await eventually(async () => {
      const { status } = await call(1, "GET", "/api/v2/organization/reports?limit=1", undefined, made.stdout.trim());
      return status === 200;
    });
    for (const { stderr } of [imported, refused, checked]) expect(stderr).not.toMatch(/p(%40|@)ss/);
  });
});
