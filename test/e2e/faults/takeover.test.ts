import { afterEach, beforeEach, expect, it } from "vitest";

import { secondMs } from "../../../src/base/time.ts";
import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres/postgres.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, startDaemon, type Daemon } from "../../support/program/program.ts";

const slugs = Array.from({ length: 12 }, (_, index) => `org-${index}`);
const takeoverMs = 30 * secondMs;

let database: TestDatabase;
let upstream: ScriptedUpstream;
let sink: HttpSink;
let folder: ProgramFolder;
let daemons: Daemon[];
/** Organizations whose checker is broken. */
let broken: ReadonlySet<string>;

beforeEach(async () => {
  broken = new Set();
  daemons = [];
  database = await createDatabase("empty");
  upstream = await startScriptedUpstream();
  upstream.otherwise((request) => {
    const slug = slugOf(request);
    const severity = broken.has(slug) ? "fail" : "ok";
    return { kind: "answer", body: sampleHealthcheck({ scope: { slug }, severity, ok: severity === "ok" }) };
  });
  // What is sent is often under way when its sender is killed.
  sink = await startHttpSink((response) => void setTimeout(() => response.writeHead(204).end(), 50));
  folder = await makeProgramFolder(`
source: { type: remote, baseUrl: "${upstream.baseUrl}", apiKey: key }
defaults: { schedule: "* * * * * *", alert: { repeatInterval: 0s } }
organizations: [${slugs.join(", ")}]
alerting: { groupWait: 0s, groupInterval: 0s, incident: { within: 0s }, fleet: false }
receivers: [{ name: ops, type: webhook, url: "${sink.url}", timeout: 2s }]
server: { listen: "127.0.0.1:0" }
storage: { url: "${database.url.reveal()}", poolSize: 4 }
`);
  for (let count = 0; count < 2; count++) daemons.push(await startDaemon([], { cwd: folder.path }));
});
afterEach(async () => {
  for (const daemon of daemons) await daemon.kill();
  await folder[Symbol.asyncDispose]();
  await sink.close();
  await upstream.close();
  await database.drop();
});

function slugOf({ body }: { readonly body: string }): string {
  return (JSON.parse(body) as { readonly slug: string }).slug;
}

/** Waits until every organization was asked for since. */
async function allChecked(): Promise<void> {
  const since = upstream.requests.length;
  const isChecked = (slug: string): boolean => upstream.requests.slice(since).some((one) => slugOf(one) === slug);
  await eventually(async () => slugs.every(isChecked), takeoverMs);
}

/** What the receiver was told of each organization, in order: what came twice under one id with the same words is told once. */
function told(): ReadonlyMap<string, readonly string[]> {
  const bodies = new Map<string, string>();
  for (const { headers, body } of sink.requests) {
    const id = String(headers["webhook-id"]);
    expect(body).toBe(bodies.get(id) ?? body);
    bodies.set(id, body);
  }
  const events = new Map<string, string[]>();
  for (const body of bodies.values())
    for (const { slug, event } of (JSON.parse(body) as { alerts: { slug: string; event: string }[] }).alerts)
      events.set(slug, [...(events.get(slug) ?? []), event]);
  return events;
}

const isEach = (events: readonly string[]): boolean =>
  slugs.every((slug) => told().get(slug)?.join() === events.join());

it("another process on the PostgreSQL goes on where one was killed, and nothing is lost or told under a second id", async () => {
  await allChecked();
  broken = new Set(slugs);
  await eventually(async () => sink.requests.length > 0);
  await daemons[0]?.kill();
  await eventually(async () => isEach(["firing"]), takeoverMs);
  daemons[0] = await startDaemon([], { cwd: folder.path });
  await allChecked();
  broken = new Set();
  await eventually(
    async () => told().size === slugs.length && [...told().values()].some((events) => events.length > 1),
  );
  await daemons[1]?.kill();

  await eventually(async () => isEach(["firing", "resolved"]), takeoverMs);
  await allChecked();
  expect(isEach(["firing", "resolved"])).toBe(true);
}, 120_000);
