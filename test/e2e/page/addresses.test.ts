import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { freePort } from "../../support/free-port.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";
import { listAlerts } from "../../support/program/daemon.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, runProgram, startDaemon, type Daemon } from "../../support/program/program.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";

// Each text of others has an address of its own, so that a page shows which one it left whole.
const address = (of: string): string => `https://${of}.evil.example/login`;
const broken = (of: string): string => `hxxps://${of}[.]evil[.]example/login`;
const text = (of: string): string => `See ${address(of)}, now.`;
const wholeOnes = (shown: string): readonly string[] => shown.match(/https?:\/\/[a-z]+\.evil\S*/g) ?? [];
const token = "let-me-in";
const bearer = { authorization: `Bearer ${token}` };

let upstream: ScriptedUpstream;
let receiver: HttpSink;
let folder: ProgramFolder;
let daemon: Daemon;
let alertId: string;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  upstream.otherwise(({ body }) => {
    const { slug } = JSON.parse(body) as { slug: string };
    if (slug === "globex") return { kind: "answer", status: 500, body: { message: text("error"), code: "X" } };
    const findings = [{ kind: "spike", ref: address("ref"), severity: "fail", message: text("finding") }];
    const observed = { currentCount: 90, expectedCount: 3, likelyCause: "checker", likelyCauseReason: text("reason") };
    const found = { id: "recently-dead-assets", severity: "fail", ok: false, title: text("title") };
    const more = { ...found, scope: { slug }, findings, observed, suggestedAction: text("advice") };
    return { kind: "answer", body: sampleHealthcheck(more) };
  });
  receiver = await startHttpSink((response) => response.writeHead(400).end(text("refusal")));
  folder = await makeProgramFolder(
    JSON.stringify({
      source: { type: "remote", baseUrl: upstream.baseUrl, apiKey: "key", retries: 0 },
      defaults: { schedule: "@yearly", alert: { unknownAfter: 1 } },
      organizations: ["acme", "globex"],
      alerting: { groupWait: "0s", fleet: false },
      receivers: [{ name: "ops", type: "webhook", url: `${receiver.url}/hook` }],
      server: { listen: `127.0.0.1:${await freePort()}`, token },
      storage: { path: "flatline.db" },
    }),
  );
  daemon = await startDaemon([], { cwd: folder.path });
  const alerts = await eventually(async () => {
    const found = await listAlerts(daemon.url, token);
    return found.filter(({ state }) => state === "firing").length === 2 && found;
  });
  alertId = alerts.find(({ slug }) => slug === "acme")?.id ?? "";
  for (const [path, body] of [
    ["/api/v1/markers", { text: text("marker") }],
    [`/api/v1/alerts/${alertId}/comments`, { comment: text("comment") }],
  ] as const) {
    const headers = { ...bearer, "content-type": "application/json" };
    const { status } = await fetch(`${daemon.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    expect(status).toBe(201);
  }
  await eventually(async () => (await page("/receivers")).includes("HTTP 400"));
});
afterAll(async () => {
  await daemon.kill();
  await upstream.close();
  await receiver.close();
  await folder[Symbol.asyncDispose]();
});

async function page(path: string): Promise<string> {
  const answer = await fetch(`${daemon.url}${path}`, { headers: bearer });
  expect(answer.status).toBe(200);
  return answer.text();
}

describe("addresses in what others say are broken", () => {
  it.each([
    ["the incident's page", () => page("/incidents/1"), ["marker", "comment"]],
    ["the incident's report", () => page("/api/v1/incidents/1/report"), ["comment"]],
    ["the list of incidents", () => page("/incidents"), []],
    ["the organization's page", () => page("/o/acme"), ["finding", "advice", "marker"]],
    ["the page of one without a result", () => page("/o/globex"), ["error", "marker"]],
    ["the overview", () => page("/"), []],
    ["the page of receivers", () => page("/receivers"), ["refusal"]],
  ])("on %s", async (_where, read, of) => {
    const shown = await read();

    expect(wholeOnes(shown)).toEqual([]);
    for (const one of of) expect(shown).toContain(broken(one));
  });

  it.each([
    ["check", ["finding", "error"]],
    ["incidents show 1", ["comment"]],
    ["incidents list", []],
    ["outbox list", ["refusal"]],
    ["marker list", ["marker"]],
    ["notify test ops", ["refusal"]],
    ["status", ["refusal"]],
  ])("by `%s`", async (command, of) => {
    const { stdout } = await runProgram(command.split(" "), { cwd: folder.path });

    expect(wholeOnes(stdout)).toEqual([]);
    for (const one of of) expect(stdout).toContain(broken(one));
  });
});
