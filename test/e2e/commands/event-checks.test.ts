import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createSystemClock, hourMs } from "../../../src/base/time.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, readText, runProgram, startDaemon, type Daemon } from "../../support/program/program.ts";

const bearer = { authorization: "Bearer token-of-the-tests" };
const clock = createSystemClock();

let sink: HttpSink;
let folder: ProgramFolder;
let daemon: Daemon;

beforeEach(async () => {
  sink = await startHttpSink((response) => response.end("ok"));
  folder = await makeProgramFolder(`
source: { type: embedded }
defaults: { schedule: "@yearly", sentinel: { schedule: "@yearly" }, eventFlow: { schedule: "@yearly", maxSilence: 2h } }
organizations:
  - { slug: acme, sentinel: { assets: ["https://login.acme.example"] } }
  - { slug: globex, eventFlow: { enabled: true } }
  - { slug: initech, whenNoEvents: ok, eventFlow: { enabled: true } }
alerting: { groupWait: 0s, groupInterval: 0s, fleet: false }
receivers: [{ name: ops, type: webhook, url: "${sink.url}" }]
server: { listen: "127.0.0.1:0", token: token-of-the-tests }
storage: { path: flatline.db }
`);
  daemon = await startDaemon([], { cwd: folder.path });
});
afterEach(async () => {
  await daemon.kill();
  await sink.close();
  await folder[Symbol.asyncDispose]();
});

async function post(events: readonly object[]): Promise<void> {
  const response = await fetch(`${daemon.url}/api/v1/events`, {
    method: "POST",
    headers: { ...bearer, "content-type": "application/json" },
    body: JSON.stringify(events),
  });
  expect(response.status).toBe(200);
}

async function run(check: string, slug: string): Promise<{ severity: string; error: { reason: string } | null }> {
  const response = await fetch(`${daemon.url}/api/v1/checks/${check}/${slug}/run`, { method: "POST", headers: bearer });
  expect(response.status).toBe(200);
  return (await response.json()) as Awaited<ReturnType<typeof run>>;
}

interface Told {
  readonly alerts: readonly { readonly check: string; readonly severity: string; readonly event: string }[];
  readonly summary: string;
}

const told = (): Told[] => sink.requests.map(({ body }) => JSON.parse(body) as Told);

describe("the checks over single events", () => {
  it("a sentinel that is called dead is a fail that is told at once, and its life again the end of it", async () => {
    const asset = "https://login.acme.example";
    await post([{ at: new Date(clock.nowMs() - hourMs).toISOString(), slug: "acme", asset }]);

    expect((await run("sentinel", "acme")).severity).toBe("fail");
    expect((await run("dead-asset-spike", "acme")).severity).toBe("ok");
    await eventually(() => told().some(({ alerts }) => alerts[0]?.check === "sentinel"));
    expect(told().at(-1)).toMatchObject({ alerts: [{ check: "sentinel", severity: "fail", event: "firing" }] });
    expect(told().at(-1)?.summary).toContain("1 of 1 assets that are known to be alive is called dead");

    await post([{ at: new Date(clock.nowMs()).toISOString(), slug: "acme", asset, status: "DETECTED_AS_ALIVE" }]);
    expect((await run("sentinel", "acme")).severity).toBe("ok");
    await eventually(() => told().some(({ alerts }) => alerts[0]?.event === "resolved"));
  });

  it("a silent stream is unknown, never ok: in the report, the metrics and on the command line", async () => {
    await post([{ at: new Date(clock.nowMs() - 3 * hourMs).toISOString(), slug: "globex", status: "SEEN" }]);
    expect(await run("dead-asset-spike", "globex")).toMatchObject({
      severity: "unknown",
      error: { reason: "stream_silent" },
    });
    expect((await run("event-flow", "globex")).severity).toBe("fail");
    const metrics = await readText(`${daemon.url}/metrics`);
    expect(metrics).toContain('flatline_check_severity{check="dead-asset-spike",slug="globex",severity="unknown"} 1');
    expect(metrics).toMatch(/flatline_check_errors_total\{check="dead-asset-spike",reason="stream_silent"\} [1-9]/);
    const checked = await runProgram(["check", "globex", "--json"], { cwd: folder.path });
    expect(JSON.parse(checked.stdout)).toMatchObject([
      { check: "dead-asset-spike", severity: "unknown", result: null, error: { reason: "stream_silent" } },
      { check: "event-flow", severity: "fail", error: null },
    ]);

    await post([{ at: new Date(clock.nowMs() - hourMs).toISOString(), slug: "globex", status: "SEEN" }]);

    expect((await run("dead-asset-spike", "globex")).severity).toBe("ok");
    expect((await run("event-flow", "globex")).severity).toBe("ok");
  });
});
