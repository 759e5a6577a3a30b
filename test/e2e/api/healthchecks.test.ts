import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createSystemClock, hourMs } from "../../../src/base/time.ts";
import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";
import { startSlackDouble, type SlackDouble } from "../../support/far-side/slack-double.ts";
import { parseExposition, seriesValue, type ParsedFamily } from "../../support/exposition-parser.ts";
import { useDaemonFolder } from "../../support/program/daemon.ts";
import { eventually, promtool, readText, runProgram, startDaemon, type Daemon } from "../../support/program/program.ts";

const clock = createSystemClock();
const name = "greenhouse-tomato-ripeness";
const headers = { authorization: "Bearer test-token" };

// Nothing in flatline knows this healthcheck; its keys are called like those of a spike, and mean something else.
const ripeness = {
  id: "tomato-ripeness",
  title: "Ripeness of tomatoes",
  category: "organization",
  ok: false,
  severity: "fail",
  observed: { currentCount: 61, expectedCount: 12, variety: "roma", isIrrigated: false },
  threshold: { failAbove: 50 },
  findings: [
    { kind: "ripe", ref: "row 7", severity: "fail", message: "61 tomatoes are overripe: see https://rows.example/7" },
    { kind: "ripe", ref: "row 8", severity: "warn", message: "12 more tomorrow" },
  ],
  suggestedAction: "Pick row 7 first",
};

const folder = useDaemonFolder();
let upstream: ScriptedUpstream;
let slack: SlackDouble;
let daemon: Daemon;
let answer: object = ripeness;

const configure = (): Promise<void> =>
  folder.configure(`
source: { type: remote, baseUrl: "${upstream.baseUrl}", apiKey: some-long-key, retries: 0 }
defaults:
  schedule: "0 0 1 1 *"
  healthchecks:
    - { path: greenhouse/tomato-ripeness, parameters: { warnAbove: 10, variety: roma, isRaw: false } }
    - { path: greenhouse/heating, alert: { unknownAfter: 1 } }
organizations:
  - acme
  - { slug: calm, healthchecks: [{ path: greenhouse/tomato-ripeness, enabled: false }] }
alerting: { groupWait: 0s }
receivers:
  - { name: slack, type: slack, url: "${slack.webhookUrl}", match: { check: "greenhouse-*" } }
silences: [{ slug: calm, check: greenhouse-heating, startsAt: 2026-01-01T00:00:00Z, endsAt: 2126-01-01T00:00:00Z }]
server: { listen: "127.0.0.1:0", token: test-token }
`);

interface CheckView {
  readonly check: string;
  readonly slug: string;
  readonly severity: string | null;
  readonly result: { readonly findings: readonly unknown[] } | null;
  readonly error: { readonly reason: string; readonly message: string } | null;
}

const viewOf = async (check: string, slug: string, as = {}): Promise<CheckView> =>
  (await (await fetch(`${daemon.url}/api/v1/checks/${check}/${slug}`, { headers: as })).json()) as CheckView;
const metricsNow = async (): Promise<Map<string, ParsedFamily>> =>
  parseExposition(await readText(`${daemon.url}/metrics`));
const textOf = (markup: string): string => markup.replaceAll(/<[^>]+>/g, " ").replaceAll(/[\s\u00a0]+/g, " ");
const pageOf = async (path: string, as = {}): Promise<string> =>
  textOf(await (await fetch(daemon.url + path, { headers: as })).text());
const check = (...args: string[]): ReturnType<typeof runProgram> =>
  runProgram(["check", ...args], { cwd: folder.path });

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  upstream.otherwise(({ path, body }) => {
    const { slug } = JSON.parse(body) as { slug: string };
    if (path.endsWith("/heating")) return { kind: "answer", status: 404, body: { message: "no", code: "NOT_FOUND" } };
    const more = path.endsWith("/tomato-ripeness") ? answer : {};
    return { kind: "answer", body: sampleHealthcheck({ scope: { slug }, ...more }) };
  });
  slack = await startSlackDouble("unused", () => clock.nowMs());
  await configure();
  daemon = await startDaemon([], { cwd: folder.path });
  await eventually(async () => {
    const checks = JSON.parse(await readText(`${daemon.url}/api/v1/checks`)) as CheckView[];
    return checks.length === 5 && checks.every(({ severity }) => severity !== null);
  });
});
afterAll(async () => {
  await daemon?.kill();
  await slack?.close();
  await upstream?.close();
});

describe("a healthcheck that nothing in flatline knows", () => {
  it("reaches Slack with its findings, its values and its advice", async () => {
    await eventually(async () => slack.ofWebhook.length >= 2);
    const messages = slack.ofWebhook.map(({ states }) => states.flatMap(({ lines }) => lines).join("\n"));
    const message = messages.find((text) => text.includes(name)) ?? "";

    expect(message).toContain("greenhouse-tomato-ripeness of acme");
    expect(message).toContain("61 tomatoes are overripe: see hxxps://rows[.]example/7");
    expect(message).toContain("row 8: 12 more tomorrow");
    expect(message).toContain("Pick row 7 first");
    expect(message).toMatch(/variety.{1,4}roma/);
    expect(message).not.toMatch(/deaths?\b/);
  });

  it("is in the metrics, and counts no deaths", async () => {
    const families = await metricsNow();
    const labels = { check: name, slug: "acme" };

    expect(seriesValue(families, "flatline_check_severity", { ...labels, severity: "fail" })).toBe(1);
    expect(seriesValue(families, "flatline_check_observed", { ...labels, key: "currentCount" })).toBe(61);
    expect(seriesValue(families, "flatline_check_observed", { ...labels, key: "isIrrigated" })).toBe(0);
    expect(seriesValue(families, "flatline_check_findings", { ...labels, severity: "warn" })).toBe(1);
    expect(seriesValue(families, "flatline_alert_firing", { ...labels, severity: "fail" })).toBe(1);
    expect(seriesValue(families, "flatline_incidents_open", { family: name, severity: "fail", state: "active" })).toBe(
      1,
    );
    expect(seriesValue(families, "flatline_check_deaths", labels)).toBeNull();
    expect(seriesValue(families, "flatline_gate_held", { slug: "acme" })).toBe(0);
    expect(seriesValue(families, "flatline_source_requests_total", { operation: "healthcheck", code: "200" })).toBe(1);
    if (promtool.skipReason === null) expect(promtool.complaints(await readText(`${daemon.url}/metrics`))).toBe("");
  });

  it("is on the page of its organization and has an incident; what it found needs the right to read", async () => {
    const open = await pageOf("/o/acme");
    const closed = await pageOf("/o/acme", headers);

    for (const text of [open, closed]) {
      expect(text).toContain("Ripeness of tomatoes");
      expect(text).toMatch(/currentCount 61.*variety roma/);
    }
    expect(closed).toContain("61 tomatoes are overripe");
    expect(closed).toContain("Do this first: Pick row 7 first");
    expect(await pageOf("/o/calm")).not.toContain("tomato");
    expect(await pageOf("/incidents")).toContain(`The check ${name} of acme is not ok`);
    const { incidents } = JSON.parse(await readText(`${daemon.url}/api/v1/incidents?family=${name}`)) as {
      incidents: { number: number }[];
    };
    expect(incidents).toHaveLength(1);
    const number = incidents[0]?.number ?? 0;
    const addresses = ["/", "/o/acme", "/incidents", `/incidents/${number}`, "/api/v1/checks", "/api/v1/alerts"];
    addresses.push("/api/v1/status", `/api/v1/incidents/${number}`, `/api/v1/checks/${name}/acme`, "/metrics");
    for (const address of addresses) {
      const answer = await fetch(daemon.url + address);
      expect.soft([address, (await answer.text()).includes("overripe")]).toEqual([address, false]);
    }
    expect((await viewOf(name, "acme", headers)).result?.findings).toHaveLength(2);
    expect((await viewOf(name, "acme")).result?.findings).toHaveLength(0);
  });

  it("runs by `check --check`, and alone", async () => {
    const before = upstream.requests.length;
    const { exitCode, stdout } = await check("acme", "--check", name);

    expect([exitCode, upstream.requests.length - before]).toEqual([2, 1]);
    expect(stdout).toMatch(/^fail +acme .*61 tomatoes are overripe: see hxxps:\/\/rows\[\.\]example\/7/m);
    const unknown = await check("--check", "greenhouse-tomato");
    expect(unknown.exitCode).toBe(64);
    expect(unknown.stderr).toContain(
      'no check "greenhouse-tomato" is configured: dead-asset-spike, greenhouse-tomato-ripeness, greenhouse-heating',
    );
    expect((await check("calm", "--check", name)).stderr).toContain(
      "is configured there: dead-asset-spike, greenhouse-heating",
    );
  });
});

describe("a healthcheck that the platform does not have", () => {
  it("is unknown, and says what to mend", async () => {
    const { severity, error } = await viewOf("greenhouse-heating", "acme");

    expect([severity, error?.reason]).toEqual(["unknown", "not_found"]);
    expect(error?.message).toContain("the platform has no healthcheck at this path: check path in healthchecks");
    const families = await metricsNow();
    const counted = { check: "greenhouse-heating", reason: "not_found" };
    expect(seriesValue(families, "flatline_check_errors_total", counted)).toBe(2);
    expect(seriesValue(families, "flatline_check_errors_total", { check: "regret", reason: "not_found" })).toBeNull();
  });
});

it("can be silenced by its name, through the API and on the page", async () => {
  const silence = (check: string): Promise<Response> =>
    fetch(`${daemon.url}/api/v1/silences`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({
        slug: "acme",
        check,
        endsAt: new Date(Date.now() + hourMs).toISOString(),
        comment: "harvest",
      }),
    });

  expect([(await silence(name)).status, (await silence("greenhouse")).status]).toEqual([201, 400]);
  expect(await pageOf("/silences/new", headers)).toContain(`greenhouse-heating`);
});
