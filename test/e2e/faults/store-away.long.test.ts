import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres/postgres.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import {
  eventually,
  readText,
  startDaemon,
  startProgram,
  statusOf,
  type Daemon,
} from "../../support/program/program.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";
import { startTcpProxy, type TcpProxy } from "../../support/far-side/tcp-proxy.ts";

let database: TestDatabase;
let proxy: TcpProxy;
let upstream: ScriptedUpstream;
let folder: ProgramFolder;
let daemon: Daemon;

beforeEach(async () => {
  database = await createDatabase();
  const url = new URL(database.url.reveal());
  proxy = await startTcpProxy(Number(url.port));
  url.port = String(proxy.port);
  upstream = await startScriptedUpstream();
  upstream.otherwise(({ body }) => {
    const { slug } = JSON.parse(body) as { slug: string };
    const severity = slug === "globex" ? "fail" : "ok";
    return { kind: "answer", body: sampleHealthcheck({ scope: { slug }, severity, ok: severity === "ok" }) };
  });
  folder = await makeProgramFolder(`
source: { type: remote, baseUrl: "${upstream.baseUrl}", apiKey: key }
defaults: { schedule: "* * * * * *" }
organizations: [acme, globex]
server: { listen: "127.0.0.1:0" }
storage: { url: "${url.href}", poolSize: 3 }
`);
  daemon = await startDaemon([], { cwd: folder.path });
});
afterEach(async () => {
  await daemon.kill();
  await proxy.close();
  await upstream.close();
  await database.drop();
  await folder[Symbol.asyncDispose]();
});

const status = (path: string): Promise<number> => statusOf(`${daemon.url}${path}`);

async function metric(line: RegExp): Promise<boolean> {
  return line.test(await readText(`${daemon.url}/metrics`));
}

const severityOf = (slug: string, severity: string): RegExp =>
  new RegExp(`^flatline_check_severity\\{check="dead-asset-spike",slug="${slug}",severity="${severity}"\\} 1$`, "m");
const firing = /^flatline_alert_firing\{.*slug="globex".*\} 1$/m;

async function isWell(): Promise<boolean> {
  return (await status("/-/ready")) === 200 && (await metric(severityOf("acme", "ok"))) && (await metric(firing));
}

describe("a PostgreSQL that goes away", () => {
  it("makes the daemon unready, its verdicts unknown, and nobody restart it", { timeout: 120_000 }, async () => {
    await eventually(isWell);

    proxy.refuse();
    const second = startProgram(["run"], { cwd: folder.path });
    await eventually(async () => (await status("/-/ready")) === 503);

    // At first what was known stands: a server that restarts is back in a moment.
    expect(await metric(severityOf("acme", "ok"))).toBe(true);
    await eventually(() => metric(severityOf("acme", "unknown")), 30_000);
    expect(await metric(/^flatline_check_errors_total\{check="dead-asset-spike",reason="store"\} [1-9]/m)).toBe(true);
    expect(await metric(firing)).toBe(true);
    expect(await status("/-/healthy")).toBe(200);
    expect(await status("/api/v1/checks")).toBe(503);

    const { exitCode, stderr } = await second.ended(30_000);
    expect(exitCode).toBe(75);
    expect(stderr).toMatch(/the store 127\.0\.0\.1:\d+\/\w+ is unavailable: /);
    expect(stderr).not.toMatch(/p(%40|@)ss|\n\s+at /);

    proxy.mend();
    await eventually(isWell, 20_000);
    const asked = upstream.requests.length;
    await eventually(() => upstream.requests.length >= asked + 4);
    expect(daemon.stderr()).not.toMatch(/p(%40|@)ss|nhandled|"level":"fatal"/);
    await daemon.untilLogged("store is back");
  });

  it("and swallows what it is sent is noticed as well", { timeout: 120_000 }, async () => {
    await eventually(isWell);

    proxy.swallow();
    await eventually(async () => (await status("/-/ready")) === 503);
    expect(await metric(firing)).toBe(true);
    expect(await status("/-/healthy")).toBe(200);

    proxy.mend();
    await eventually(isWell, 20_000);
  });
});
