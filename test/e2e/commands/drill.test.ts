import { readdir } from "node:fs/promises";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { runCli, type CliOutcome } from "../../support/program/cli-run.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { startHttpSink, type HttpSink, type ReceivedRequest } from "../../support/far-side/http-sink.ts";

interface Payload {
  readonly status: string;
  readonly summary: string;
  readonly alerts: readonly {
    readonly id: string;
    readonly slug: string;
    readonly isDrill: boolean;
    readonly event: string;
    readonly sample: readonly { readonly asset: string }[];
  }[];
}

interface Report {
  readonly slug: string;
  readonly isPassed: boolean;
  readonly tookMs: number;
  readonly steps: readonly {
    readonly step: string;
    readonly receiver: string | null;
    readonly tookMs: number;
    readonly isOk: boolean;
    readonly detail: string;
  }[];
}

let folder: DaemonFolder;
let sinks: HttpSink[];

beforeEach(async () => {
  folder = await makeDaemonFolder();
  sinks = [];
});
afterEach(async () => {
  for (const sink of sinks) await sink.close();
  await folder.close();
});

/** A receiver of which the status of each answer is known; 0: it never answers. */
async function sink(...statuses: number[]): Promise<HttpSink> {
  const started = await startHttpSink((response, _request, index) => {
    const status = statuses[Math.min(index, statuses.length - 1)] ?? 200;
    if (status > 0) response.writeHead(status).end();
  });
  sinks.push(started);
  return started;
}

async function configure(...receivers: string[]): Promise<void> {
  await folder.configure(`
source: { type: embedded }
organizations: [acme]
alerting: { groupWait: 1h, groupInterval: 1d, externalUrl: "https://flatline.example" }
receivers:
${receivers.map((receiver) => `  - { ${receiver} }`).join("\n")}
silences: [{ slug: "*", startsAt: 2020-01-01T00:00:00Z, endsAt: 2090-01-01T00:00:00Z, comment: always }]
storage: { path: flatline.db }
`);
}

function drill(...args: string[]): Promise<CliOutcome> {
  return runCli(["drill", ...args], { cwd: folder.path });
}

const payloadOf = ({ body }: ReceivedRequest): Payload => JSON.parse(body) as Payload;

describe("flatline drill", () => {
  it("sends a regression and its end through the real receivers, and says how long each step took", async () => {
    const [ops, chat] = [await sink(200), await sink(200)];
    await configure(
      `name: ops, type: webhook, url: "${ops.url}", minSeverity: fail, match: { slug: acme }, rateLimit: 1/h`,
      `name: chat, type: slack, url: "${chat.url}/services/secret-of-the-chat"`,
    );

    const { exitCode, stdout, stderr } = await drill("--json");

    expect([exitCode, stderr]).toEqual([0, ""]);
    const report = JSON.parse(stdout) as Report;
    expect(report).toMatchObject({ slug: "flatline-drill", isPassed: true });
    expect(report.steps.map(({ step, receiver, detail }) => [step, receiver, detail])).toEqual([
      ["store a regression", null, "done"],
      ["evaluate", null, "fail: 120 deaths where 4 were expected"],
      ["change the alert", null, "firing"],
      ["form notifications", null, "2 for 2 receivers"],
      ["deliver firing", "ops", "accepted, HTTP 200"],
      ["deliver firing", "chat", "accepted, HTTP 200"],
      ["ask the gate", null, "hold: fail_firing"],
      ["judge the alert", null, "checker"],
      ["store its end", null, "done"],
      ["evaluate", null, "ok: 4 deaths where 4 were expected"],
      ["change the alert", null, "resolved"],
      ["form notifications", null, "2 for 2 receivers"],
      ["deliver resolved", "ops", "accepted, HTTP 200"],
      ["deliver resolved", "chat", "accepted, HTTP 200"],
      ["ask the gate", null, "allow: released"],
      [
        "expect tomorrow",
        null,
        "4 deaths with the incident left out of the baseline (baselineExclude: judged), 20.6 with it",
      ],
    ]);
    for (const { tookMs, isOk } of report.steps)
      expect([tookMs >= 0 && tookMs <= report.tookMs, isOk]).toEqual([true, true]);
    const sent = ops.requests.map(payloadOf);
    expect(
      sent.map(({ status, alerts }) => [status, alerts.map(({ event, slug, isDrill }) => [event, slug, isDrill])]),
    ).toEqual([
      ["firing", [["firing", "flatline-drill", true]]],
      ["resolved", [["resolved", "flatline-drill", true]]],
    ]);
    expect(sent[0]?.summary).toMatch(/^\[DRILL\] /);
    expect(sent[0]?.alerts[0]?.sample.length).toBe(10);
    expect(sent[0]?.alerts[0]?.sample[0]?.asset).toMatch(
      /^https:\/\/drill-\d+\.example\/login$|^drill-\d+@drill\.example$/,
    );
    expect(chat.requests[0]?.body).toMatch(/hxxps:\/\/drill-\d+\[\.\]example|drill-\d+\[at\]drill/);
    expect(sent[0]?.alerts[0]?.id).toBe(sent[1]?.alerts[0]?.id);
    expect(chat.requests.map(({ body }) => body.includes("DRILL"))).toEqual([true, true]);
    expect(stdout).not.toContain("secret-of-the-chat");
  });

  it("goes by the configured gate, and notifies nobody of its own judgement", async () => {
    const ops = await sink(200);
    await folder.configure(`
source: { type: embedded }
defaults: { gate: { releaseOn: [acknowledged] } }
organizations: [acme]
receivers: [{ name: ops, type: webhook, url: "${ops.url}", sendActs: true }]
storage: { path: flatline.db }
`);

    const { exitCode, stdout } = await drill();

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^ask the gate +[\d,]+ ms +ok +hold: fail_latched$/m);
    expect(ops.requests.map((request) => payloadOf(request).alerts[0]?.event)).toEqual(["firing", "resolved"]);
  });

  it("leaves nothing behind: no store where the daemon's would be", async () => {
    const ops = await sink(200);
    await configure(`name: ops, type: webhook, url: "${ops.url}"`);

    await drill();

    expect(await readdir(folder.path)).toEqual(["flatline.yaml"]);
  });

  it("prints a table, and writes to the log what is for the log", async () => {
    await configure("name: console, type: log");

    const { exitCode, stdout, stderr } = await drill();

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^STEP +RECEIVER +TOOK +OUTCOME\n/);
    expect(stdout).toMatch(/^deliver firing +console +\d+ ms +ok +accepted, logged$/m);
    expect(stdout).toMatch(/\nthe drill passed \(\d[\d,]* ms\)\n$/);
    const lines = stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { msg: string; isDrill: boolean });
    expect(lines.map(({ msg, isDrill }) => [msg, isDrill])).toEqual([
      ["alert firing", true],
      ["alert resolved", true],
    ]);
  });

  it("tries again what may pass, as the daemon does", async () => {
    const ops = await sink(503, 200);
    await configure(`name: ops, type: webhook, url: "${ops.url}"`);

    const { exitCode, stdout } = await drill();

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^deliver firing +ops +[\d,]+ ms +ok +accepted, HTTP 200 \(attempt 2\)$/m);
    expect(new Set(ops.requests.slice(0, 2).map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  });

  it("fails for a receiver that refuses, and for one that does not answer in time; the others get both", async () => {
    const [good, bad, slow] = [await sink(200), await sink(400), await sink(0)];
    await configure(
      `name: good, type: webhook, url: "${good.url}"`,
      `name: bad, type: webhook, url: "${bad.url}/token-of-the-bad-one"`,
      `name: slow, type: webhook, url: "${slow.url}"`,
    );

    const { exitCode, stdout } = await drill("--timeout", "500ms");

    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^deliver firing +bad .* fail +not accepted, HTTP 400/m);
    expect(stdout).toMatch(/^deliver firing +slow .* fail +not accepted, no answer yet$/m);
    expect(stdout).toMatch(/^deliver resolved +slow .* fail +not accepted, no answer yet$/m);
    expect(stdout).toMatch(/\nthe drill failed: an alert would not have reached everybody/);
    expect(stdout).not.toContain("token-of-the-bad-one");
    expect(good.requests.map((request) => payloadOf(request).status)).toEqual(["firing", "resolved"]);
  });

  it("keeps the end from who does not want it", async () => {
    const ops = await sink(200);
    await configure(`name: ops, type: webhook, url: "${ops.url}", sendResolved: false`);

    const { exitCode, stdout } = await drill();

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^deliver resolved +ops +0 ms +ok +not sent: its sendResolved is false$/m);
    expect(ops.requests.length).toBe(1);
  });

  it("goes to the named receivers only", async () => {
    const [ops, chat] = [await sink(200), await sink(200)];
    await configure(`name: ops, type: webhook, url: "${ops.url}"`, `name: chat, type: slack, url: "${chat.url}"`);

    const { exitCode } = await drill("--receiver", "chat");

    expect([exitCode, ops.requests.length, chat.requests.length]).toEqual([0, 0, 2]);
  });

  it.each<[string, string[], string[], number, string]>([
    [
      "a receiver that is not there",
      ["name: ops, type: log"],
      ["--receiver", "opps"],
      64,
      'no receiver has the name "opps"; did you mean "ops"?',
    ],
    ["no receiver at all", [], [], 64, "a drill needs a receiver"],
    ["a timeout that is none", ["name: ops, type: log"], ["--timeout", "0s"], 64, "such as 30s"],
  ])("refuses %s", async (_name, receivers, args, code, said) => {
    if (receivers.length > 0) await configure(...receivers);
    else await folder.configure("source: { type: embedded }\norganizations: [acme]\n");

    const { exitCode, stdout, stderr } = await drill(...args);

    expect([exitCode, stdout]).toEqual([code, ""]);
    expect(stderr).toContain(said);
  });

  it("stops at a signal, and says what that leaves open", async () => {
    const slow = await sink(0);
    await configure(`name: slow, type: webhook, url: "${slow.url}"`);
    const stopping = new AbortController();
    const running = runCli(["drill"], { cwd: folder.path, signal: stopping.signal });
    while (slow.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));

    stopping.abort();
    const { exitCode, stderr } = await running;

    expect(exitCode).toBe(69);
    expect(stderr).toContain(
      "the drill was stopped: receivers may have been notified of its start, but not of its end",
    );
  });
});
