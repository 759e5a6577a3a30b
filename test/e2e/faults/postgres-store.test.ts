import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { App } from "../../../src/daemon/app.ts";
import { createLogger } from "../../../src/base/logger.ts";
import { freePort } from "../../support/free-port.ts";
import { createSystemClock } from "../../../src/base/time.ts";
import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";
import { runCli } from "../../support/program/cli-run.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres/postgres.ts";
import { eventually, readText } from "../../support/program/program.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";
import { createTestApp } from "../../support/program/test-app.ts";

const slugs = ["acme", "globex", "initech", "umbrella", "wonka"];

let folder: string;
let database: TestDatabase;
let upstream: ScriptedUpstream;
let sink: HttpSink;
let sinkStatus: number;
let apps: App[];
let log: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-postgres-store-"));
  database = await createDatabase("empty");
  upstream = await startScriptedUpstream();
  upstream.otherwise(({ body }) => {
    const { slug } = JSON.parse(body) as { slug: string };
    const severity = slug === "acme" ? "fail" : "ok";
    return { kind: "answer", body: sampleHealthcheck({ scope: { slug }, severity, ok: severity === "ok" }) };
  });
  sinkStatus = 204;
  sink = await startHttpSink((response) => response.writeHead(sinkStatus).end());
  apps = [];
  log = "";
  await writeFile(
    join(folder, "flatline.yaml"),
    `
source: { type: remote, baseUrl: "${upstream.baseUrl}", apiKey: key }
defaults: { schedule: "* * * * * *" }
organizations: [${slugs.join(", ")}]
alerting: { groupWait: 0s, fleet: false }
receivers: [{ name: ops, type: webhook, url: "${sink.url}" }]
server: { listen: "127.0.0.1:${await freePort()}", token: token-of-the-tests }
storage: { url: "\${STORE_URL}", poolSize: 4 }
`,
  );
});
afterEach(async () => {
  for (const app of apps) await app.stop();
  await sink.close();
  await upstream.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

const env = (): Record<string, string> => ({ STORE_URL: database.url.reveal() });

async function startFlatline(): Promise<string> {
  const app = await createTestApp(folder, {
    env: env(),
    clock: createSystemClock(),
    random: Math.random,
    logger: createLogger({ level: "debug", format: "json", pretty: () => "" }, (line) => void (log += line)),
  });
  await app.start();
  apps.push(app);
  return app.address()?.url ?? "";
}

describe("a store in PostgreSQL", () => {
  it("is seen by the commands, which keep its address to themselves", async () => {
    sinkStatus = 503;
    const url = await startFlatline();
    await eventually(async () => sink.requests.length > 0);

    const listed = await runCli(["outbox", "list", "--json"], { cwd: folder, env: env() });
    const shown = await runCli(["config", "show"], { cwd: folder, env: env() });

    const entries = JSON.parse(listed.stdout) as readonly { readonly id: string; readonly receiver: string }[];
    expect(entries).toMatchObject([{ receiver: "ops" }]);
    expect(entries[0]?.id).toBe(sink.requests[0]?.headers["webhook-id"]);
    expect(shown.stdout).toContain('url: "***"');
    for (const text of [shown.stdout, listed.stdout, await readText(`${url}/metrics`), log]) {
      expect(text).not.toMatch(/p(%40|@)ss/);
    }
  }, 60_000);

  it("is missed by a command with its name and the reason", async () => {
    const gone = new URL(database.url.reveal());
    gone.pathname = "/nowhere";

    const outcome = await runCli(["outbox", "list"], { cwd: folder, env: { STORE_URL: gone.href } });

    expect(outcome).toMatchObject({ exitCode: 74, stdout: "" });
    expect(outcome.stderr).toMatch(
      /the store 127\.0\.0\.1:\d+\/nowhere cannot be used: database "nowhere" does not exist/,
    );
    expect(outcome.stderr).not.toMatch(/p(%40|@)ss/);
  });
});
