import { readFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";
import { parseExposition } from "../../support/exposition-parser.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { eventually, readText, startDaemon, type Daemon } from "../../support/program/program.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";
import { startSmtpSink, type SmtpSink } from "../../support/far-side/smtp-sink.ts";

interface Payload {
  readonly id: string;
  readonly alerts: readonly {
    readonly slug: string;
    readonly result: {
      readonly severity: string;
      readonly findings: readonly unknown[];
      readonly findingsOmitted?: number;
    };
  }[];
}

const mebibyte = 1_024 ** 2;
const organizations = Array.from({ length: 100 }, (_, index) => `org-${String(index).padStart(3, "0")}`);

// From a fixed seed: the same in each run.
const letters = Buffer.alloc(2 * mebibyte);
for (let index = 0, state = 7; index < letters.length; index++) {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  letters[index] = 97 + ((state >>> 16) % 26);
}

/** Text that no compression makes small, the same for the same name. */
function noise(name: string, length: number): string {
  const seed = Buffer.from(name).reduce((sum, byte) => (sum * 31 + byte) >>> 0, 7);
  const start = seed % (letters.length - length);
  return letters.toString("latin1", start, start + length);
}

const finding = (ref: string, message: string) => ({ kind: "dead-asset-spike", ref, severity: "fail", message });

/** Answers of 3 MB, each of which is large in another place. */
const shapes: readonly ((slug: string) => Readonly<Record<string, unknown>>)[] = [
  (slug) => ({ findings: Array.from({ length: 15_000 }, (_, index) => finding(`${slug}-${index}`, noise(slug, 100))) }),
  (slug) => ({ findings: Array.from({ length: 30 }, (_, index) => finding(`${slug}-${index}`, noise(slug, 100_000))) }),
  (slug) => ({
    findings: Array.from({ length: 240 }, (_, index) => ({
      ...finding(noise(`${slug}r${index}`, 4_096), noise(`${slug}m${index}`, 4_096)),
      kind: noise(`${slug}k${index}`, 4_096),
    })),
  }),
  (slug) => ({
    observed: Object.fromEntries(
      Array.from({ length: 30_000 }, (_, index) => [`${noise(slug, 80)}${index}`, index % 2 === 0 ? index : "text"]),
    ),
  }),
  (slug) => ({ title: noise(slug, 1_000_000), suggestedAction: "\u0001".repeat(300_000) }),
  (slug) => ({ more: Array.from({ length: 30 }, (_, index) => noise(`${slug}${index}`, 100_000)) }),
];

let upstream: ScriptedUpstream;
let sink: HttpSink;
let mails: SmtpSink;
let folder: ProgramFolder;
let daemon: Daemon;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  upstream.otherwise(({ body }) => {
    const { slug } = JSON.parse(body) as { slug: string };
    const shape = shapes[organizations.indexOf(slug) % shapes.length];
    return {
      kind: "answer",
      body: sampleHealthcheck({ scope: { slug }, ok: false, severity: "fail", ...shape?.(slug) }),
    };
  });
  sink = await startHttpSink((response) => response.writeHead(202).end("ok"));
  mails = await startSmtpSink("250 ok");
  folder = await makeProgramFolder(`
source: { type: remote, baseUrl: "${upstream.baseUrl}" }
defaults: { schedule: "@yearly" }
organizations: [${organizations.map((slug) => `{ slug: ${slug}, apiKey: key }`).join(", ")}]
alerting: { groupWait: 10s, groupInterval: 1s, fleet: false }
receivers:
  - { name: webhook, type: webhook, url: "${sink.url}/webhook" }
  - { name: again, type: webhook, url: "${sink.url}/again" }
  - { name: own, type: webhook, template: "{{ payload | json }}", url: "${sink.url}/own" }
  - { name: am, type: alertmanager, url: "${sink.url}/am", resendInterval: 5m }
  - { name: slack, type: slack, url: "${sink.url}/slack" }
  - { name: discord, type: discord, url: "${sink.url}/discord" }
  - { name: teams, type: msteams, url: "${sink.url}/teams" }
  - { name: pager, type: pagerduty, routingKey: routing-key, url: "${sink.url}/pager" }
  - { name: mail, type: email, from: a@example.com, to: [b@example.com], url: "${mails.url}" }
  - { name: console, type: log }
server: { listen: "127.0.0.1:0" }
storage: { path: data/flatline.db }
`);
  daemon = await startDaemon([], { cwd: folder.path });
  await eventually(isAllTold, 120_000);
});
afterAll(async () => {
  await daemon.kill();
  await upstream.close();
  await sink.close();
  await mails.close();
  await folder[Symbol.asyncDispose]();
});

/** Every organization was told of, and nothing waits for any receiver. */
async function isAllTold(): Promise<boolean> {
  if (new Set(toldAlerts().map(({ slug }) => slug)).size < organizations.length) return false;
  const families = parseExposition(await readText(`${daemon.url}/metrics`), "text");
  const waiting = families.get("flatline_outbox_pending")?.samples ?? [];
  return mails.mails.length > 0 && waiting.every(({ value }) => value === 0);
}

function toldAlerts(): Payload["alerts"] {
  return bodiesOf("/webhook").flatMap((body) => (JSON.parse(body) as Payload).alerts);
}

function bodiesOf(path: string): string[] {
  return sink.requests.filter((request) => request.path.startsWith(path)).map(({ body }) => body);
}

describe("100 organizations whose answers have 3 MB", () => {
  it("take less than 300 MB of memory at any time", () => {
    const peakKib = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${daemon.pid}/status`, "utf8"))?.[1]);

    expect(peakKib / 1_024).toBeLessThan(300);
  });

  it("take less than 50 MB of the disk", async () => {
    const path = join(folder.path, "data");
    const sizes = await Promise.all((await readdir(path)).map(async (name) => (await stat(join(path, name))).size));

    expect(sizes.reduce((sum, bytes) => sum + bytes, 0) / mebibyte).toBeLessThan(50);
  });

  it.each([
    { receiver: "webhook", path: "/webhook", mostBytes: mebibyte },
    { receiver: "another webhook", path: "/again", mostBytes: mebibyte },
    { receiver: "webhook with a template", path: "/own", mostBytes: mebibyte },
    { receiver: "Alertmanager", path: "/am", mostBytes: mebibyte },
    { receiver: "Slack", path: "/slack", mostBytes: 40_000 },
    { receiver: "Discord", path: "/discord", mostBytes: 24_000 },
    { receiver: "Teams", path: "/teams", mostBytes: 28_000 },
    { receiver: "PagerDuty", path: "/pager", mostBytes: 512_000 },
  ])("are told to $receiver in bodies of at most $mostBytes bytes", ({ path, mostBytes }) => {
    const bodies = bodiesOf(path);

    expect(bodies.length).toBeGreaterThan(0);
    for (const body of bodies) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(mostBytes);
  });

  it("are all told once, in parts with ids of their own, each result saying what is missing", () => {
    const parts = bodiesOf("/webhook").map((body) => JSON.parse(body) as Payload);
    const alerts = toldAlerts();
    const many = alerts.find(({ slug }) => slug === "org-000")?.result;

    expect(parts.length).toBeGreaterThan(1);
    expect(new Set(parts.map(({ id }) => id)).size).toBe(parts.length);
    expect(alerts.map(({ slug }) => slug).toSorted()).toEqual(organizations);
    expect(many?.findings).toHaveLength(100);
    expect(many?.findingsOmitted).toBe(14_900);
    for (const { result } of alerts) expect(result.severity).toBe("fail");
  });

  it("leave nothing refused, and the daemon healthy", async () => {
    const refused = daemon.log().filter(({ msg }) => msg === "notification dead-lettered");

    expect(refused).toEqual([]);
    expect(JSON.parse(await readText(`${daemon.url}/-/healthy`))).toEqual({ status: "ok" });
  });
});
