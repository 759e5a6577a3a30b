import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { actor } from "../../../src/contract/actor.ts";
import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { parseExposition } from "../../support/exposition-parser.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { eventually, readText, runProgram } from "../../support/program/program.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";

const tenYears = "315360000";
const token = "token-of-the-tests";
const authorization = `Bearer ${token}`;

let folder: DaemonFolder;

beforeEach(async () => {
  folder = await makeDaemonFolder();
});
afterEach(async () => {
  await folder.close();
});

describe("a Retry-After of ten years from the upstream", () => {
  let upstream: ScriptedUpstream;
  beforeEach(async () => {
    upstream = await startScriptedUpstream();
  });
  afterEach(async () => {
    await upstream.close();
  });

  async function failedRuns(url: string): Promise<number> {
    const metrics = parseExposition(await readText(`${url}/metrics`), "text");
    const samples = metrics.get("flatline_check_runs_total")?.samples ?? [];
    return samples.filter(({ labels }) => labels["outcome"] === "error").reduce((sum, { value }) => sum + value, 0);
  }

  it("counts for an hour, outlasts a reload, and ends for all of the key when somebody runs a check", async () => {
    upstream.script({ kind: "answer", status: 429, headers: { "retry-after": tenYears } });
    await folder.configure(`
source: { type: remote, baseUrl: "${upstream.baseUrl}", apiKey: key, concurrency: 1 }
defaults: { schedule: "* * * * * *" }
organizations: [acme, globex]
server: { listen: "127.0.0.1:0", token: ${token} }
storage: { path: flatline.db }
`);
    const app = await folder.start();
    const url = app.address()?.url ?? "";
    const checks = `${url}/api/v1/checks/dead-asset-spike`;
    await eventually(async () => (await failedRuns(url)) >= 2);

    await app.reload(actor("signal", "config"));
    const before = await failedRuns(url);
    await eventually(async () => (await failedRuns(url)) >= before + 4);
    const view = JSON.parse(await readText(`${checks}/globex`)) as { error: { reason: string; message: string } };
    const paused = upstream.requests.length;
    upstream.otherwise(({ body }) => {
      const { slug } = JSON.parse(body) as { slug: string };
      return { kind: "answer", body: sampleHealthcheck({ scope: { slug } }) };
    });
    const run = await fetch(`${checks}/acme/run`, { method: "POST", headers: { authorization } });

    expect(paused).toBe(1);
    expect(view.error.reason).toBe("rate_limited");
    expect(view.error.message).toMatch(/another 3(600|5\d\d) s$/);
    expect(run.status).toBe(200);
    expect(await run.json()).toMatchObject({ slug: "acme", severity: "ok" });
    await eventually(async () => {
      const { severity } = JSON.parse(await readText(`${checks}/globex`)) as { severity: string };
      return severity === "ok";
    });
  });
});

describe("a Retry-After of ten years from a receiver", () => {
  let sink: HttpSink;
  let url: string;
  let reload: () => Promise<void>;

  beforeEach(async () => {
    sink = await startHttpSink((response, _request, index) => {
      response.writeHead(index === 0 ? 429 : 200, index === 0 ? { "retry-after": tenYears } : {}).end();
    });
    await folder.configure(`
source: { type: embedded }
defaults: { schedule: "@yearly" }
organizations: [acme, globex]
alerting: { groupWait: 0s, groupInterval: 0s, fleet: false }
receivers: [{ name: ops, type: webhook, url: "${sink.url}" }]
server: { listen: "127.0.0.1:0", token: ${token} }
storage: { path: flatline.db }
`);
    const app = await folder.start();
    url = app.address()?.url ?? "";
    reload = () => app.reload(actor("signal", "config"));
    await fire("acme");
    await eventually(async () => (await pausedUntil()) !== null);
    await fire("globex");
  });
  afterEach(async () => {
    await sink.close();
  });

  async function fire(slug: string): Promise<void> {
    await folder.addDeaths(slug, { lastHour: 90, perDay: 3 });
    await fetch(`${url}/api/v1/checks/dead-asset-spike/${slug}/run`, { method: "POST", headers: { authorization } });
  }

  async function read<Answer>(path: string): Promise<Answer> {
    return (await (await fetch(`${url}${path}`, { headers: { authorization } })).json()) as Answer;
  }

  async function pausedUntil(): Promise<string | null> {
    const [ops] = await read<{ pausedUntil: string | null }[]>("/api/v1/receivers");
    return ops?.pausedUntil ?? null;
  }

  function slugsSent(): string[] {
    return sink.requests.flatMap(
      ({ body }) => (JSON.parse(body) as { alerts: { slug: string }[] }).alerts[0]?.slug ?? [],
    );
  }

  async function waiting(): Promise<{ id: string; state: string; attempts: number; nextAttemptAt: string }[]> {
    return eventually(async () => {
      const entries =
        await read<{ id: string; state: string; attempts: number; nextAttemptAt: string }[]>("/api/v1/outbox");
      return entries.length === 2 ? entries : null;
    });
  }

  it("counts for an hour, in the API and on the page, keeps what waits, and outlasts a reload", async () => {
    await reload();
    const entries = await waiting();
    const until = await pausedUntil();
    const shown = await (await fetch(`${url}/receivers`, { headers: { authorization } })).text();
    const page = shown.replaceAll(/<[^>]*>/g, "").replaceAll(/\s+/g, " ");

    const aheadMs = Date.parse(until ?? "") - Date.now();
    expect(aheadMs).toBeGreaterThan(3_500_000);
    expect(aheadMs).toBeLessThanOrEqual(3_600_000);
    expect(entries.map(({ state, attempts, nextAttemptAt }) => [state, attempts, nextAttemptAt])).toEqual([
      ["queued", 1, until],
      ["queued", 0, until],
    ]);
    expect(page).toMatch(/ops has 2 waiting, the oldest for [^.]*, and is paused until [^.]*\d\d:\d\d\./);
    expect(page).toContain("Resume with a test");
    expect(slugsSent()).toEqual(["acme"]);
  });

  it("ends with notify test: all that waited goes out", async () => {
    await waiting();
    const test = await runProgram(["notify", "test", "ops"], { cwd: folder.path });

    expect(test).toMatchObject({ exitCode: 0, stdout: "ops: accepted, HTTP 200\n" });
    expect(test.stderr).toBe("ops was paused (Retry-After): the pause is ended\n");
    await eventually(() => slugsSent().length === 4);
    // Two alerts wait for each other only where they share a message.
    expect(slugsSent().slice(0, 2)).toEqual(["acme", "test"]);
    expect(slugsSent().slice(2).toSorted()).toEqual(["acme", "globex"]);
    expect(await pausedUntil()).toBeNull();
  });
});
