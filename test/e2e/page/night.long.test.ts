import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { parse } from "yaml";

import { hourMs, minuteMs } from "../../../src/base/time.ts";
import { alertmanagerTool, startAlertmanager, webhookConfig } from "../../support/alertmanager.ts";
import { axeViolations, startBrowser, signIn } from "../../support/browser.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { freePort } from "../../support/free-port.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, runProgram, startDaemon, type ProgramEnd } from "../../support/program/program.ts";
import { prometheusTool, startPrometheus } from "../../support/prometheus.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const isSkipped = prometheusTool.isMissing || alertmanagerTool.isMissing;
const note = prometheusTool.note || alertmanagerTool.note;
const timeout = 10 * minuteMs;
// For one thing to happen, on a machine that is busy with other things.
const withinMs = 3 * minuteMs;

const token = "the-token-of-who-is-on-call";
const bearer = { authorization: `Bearer ${token}` };
const slugs = Array.from({ length: 2_000 }, (_, index) => `org-${String(index).padStart(4, "0")}`);
const broken = slugs.slice(0, 300);
// One whose takedowns worked, an hour before the checker breaks.
const alone = "org-1999";
const oneOf = broken[7] ?? "";

interface Times {
  /** With the shorter one the deaths lie before the window, as they do an hour later. */
  readonly windowHours: number;
  /** Until all of a fleet fire: 300 commits of a disk that is busy with other things. */
  readonly groupWait: string;
}

function configOf(
  { windowHours, groupWait }: Times,
  port: number,
  urls: Readonly<Record<"chat" | "lead" | "am", string>>,
): string {
  return `
source: { type: embedded }
defaults:
  schedule: "*/5 * * * * *"
  thresholds: { windowHours: ${windowHours} }
  baselineExclude: judged
  receivers: [ops, am, { name: lead, after: 90s }]
organizations: [${slugs.join(", ")}]
alerting:
  groupWait: ${groupWait}
  groupInterval: 5s
  fleet: { minOrganizations: 3, ratio: 0.1 }
  externalUrl: "http://127.0.0.1:${port}"
receivers:
  - { name: ops, type: slack, url: "${urls.chat}/ops" }
  - { name: lead, type: webhook, url: "${urls.lead}/lead" }
  - { name: am, type: alertmanager, url: "${urls.am}" }
server: { listen: "127.0.0.1:${port}", token: ${token}, linkSecret: a-secret-for-the-links }
storage: { path: flatline.db }
`;
}

/** A calm week of everybody: 35 deaths, none of them in the last day. */
function calmWeek(nowMs: number): string {
  const rows = slugs.flatMap((slug) =>
    Array.from({ length: 7 }, (_, day) => `${new Date(nowMs - (day + 1) * 24 * hourMs).toISOString()},${slug},URL,5`),
  );
  return `at,slug,assetType,count\n${rows.join("\n")}\n`;
}

/** Sixty deaths of each, from 110 to 70 minutes ago. */
function breakdown(nowMs: number, of: readonly string[]): string {
  const rows = of.flatMap((slug) =>
    Array.from({ length: 60 }, (_, death) => {
      const at = new Date(nowMs - 110 * minuteMs + death * (40 / 60) * minuteMs).toISOString();
      return `${at},${slug},URL,https://${slug}-${death}.example/signin`;
    }),
  );
  return `at,slug,assetType,asset\n${rows.join("\n")}\n`;
}

interface AuditEntry {
  readonly action: string;
  readonly actor: string;
  readonly slug: string;
}

interface Live {
  readonly fleet: { readonly id: string };
  readonly alerts: readonly { readonly id: string; readonly slug: string }[];
}

interface Sent {
  readonly fleet: { readonly id: string; readonly spiking: number } | null;
  readonly alerts: readonly { readonly slug: string; readonly event: string; readonly reason: string }[];
}
const sentTo = (sink: HttpSink, path: string): Sent[] =>
  sink.requests.filter((request) => request.path === path).map(({ body }) => JSON.parse(body) as Sent);

/** The links of a message for Slack, by their label. */
function linksOf(body: string): Map<string, string> {
  return new Map(
    [...body.matchAll(/<(http[^|>]+)\|([^>]+)>/g)].map(([, link = "", label = ""]) => [
      label,
      link.replaceAll("&amp;", "&"),
    ]),
  );
}

/** The rule of fleets as an operator has it who changed the bound on both sides, as the comment in the rules says. */
async function writeRules(folder: ProgramFolder): Promise<string> {
  const text = await readFile(join(root, "dashboards/rules/flatline.rules.yaml"), "utf8");
  const { groups } = parse(text.replaceAll(">= 0.5", ">= 0.1")) as { groups: { rules: { alert?: string }[] }[] };
  const kept = groups.map((group) => ({
    ...group,
    rules: group.rules.filter(({ alert }) => alert === undefined || alert === "FlatlineFleetSpike"),
  }));
  await folder.write("rules.json", JSON.stringify({ groups: kept }));
  return join(folder.path, "rules.json");
}

const spaced = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

it.skipIf(isSkipped)(
  `a night: the checker breaks for 300 of 2,000, and everything that people and machines do about it${note}`,
  { timeout },
  async () => {
    const startedMs = Date.now();
    await using folder = await makeProgramFolder();
    await using stack = new AsyncDisposableStack();
    const sink = await startHttpSink((response) => response.writeHead(200).end("ok"));
    stack.defer(() => sink.close());
    const alertmanager = stack.use(await startAlertmanager(webhookConfig(`${sink.url}/am`)));
    const port = await freePort();
    const urls = { chat: sink.url, lead: sink.url, am: alertmanager.url };
    const flatline = async (...args: readonly string[]): Promise<ProgramEnd> =>
      runProgram(args, { cwd: folder.path, env: { FLATLINE_TOKEN: token } });
    const read = async <Answer>(path: string): Promise<Answer> => {
      const response = await fetch(`${daemon.url}${path}`, { headers: bearer });
      if (!response.ok) throw new Error(`${response.status} of ${path}: ${await response.text()}`);
      return (await response.json()) as Answer;
    };
    const importEvents = async (name: string, text: string): Promise<void> => {
      await folder.write(name, text);
      const { exitCode, stderr } = await flatline("import", "events", name);
      expect(stderr).not.toContain("error");
      expect(exitCode).toBe(0);
    };

    // The evening: 2,000 calm organizations, scraped by Prometheus.
    await folder.write("flatline.yaml", configOf({ windowHours: 2, groupWait: "1s" }, port, urls));
    await importEvents("calm.csv", calmWeek(startedMs));
    const daemon = stack.use(await startDaemon([], { cwd: folder.path }));
    const target = new URL(daemon.url).host;
    const rules = await writeRules(folder);
    const prometheus = stack.use(
      await startPrometheus({ flatline: target }, [rules], [new URL(alertmanager.url).host]),
    );
    const browser = await startBrowser();
    stack.defer(() => browser.close());
    const open = async (link: string): Promise<Page> => {
      const page = await browser.open(link);
      // Who is signed in sees names of people too.
      await signIn(page, token);
      return page;
    };
    const overview = await open(daemon.url);
    await overview.locator("h1", { hasText: "All 2,000 organizations are ok." }).waitFor({ timeout: withinMs });

    // One spikes alone. The link of its message shows the act, and the button on that page does it.
    await importEvents("alone.csv", breakdown(startedMs, [alone]));
    const chat = () => sink.requests.filter(({ path }) => path === "/ops");
    const message = (index: number) => eventually(() => chat()[index] ?? null, withinMs);
    const first = await message(0);
    expect(first.body).toContain(alone);
    const link = linksOf(first.body).get("Acknowledge") ?? "";
    const linked = await browser.open(link);
    expect(spaced(await linked.locator("h1").innerText())).toBe(`Acknowledge ${alone}?`);
    await linked.locator("button.primary").click();
    await linked.locator("h1", { hasText: "Acknowledged." }).waitFor();
    const own = await open(new URL((await linked.locator("main a").getAttribute("href")) ?? "", daemon.url).href);
    await own.locator(".act .answer", { hasText: "ops" }).waitFor();

    // The checker breaks: one message in place of 300, and one alert of Prometheus at Alertmanager.
    await folder.write("flatline.yaml", configOf({ windowHours: 2, groupWait: "1m" }, port, urls));
    daemon.signal("SIGHUP");
    await daemon.untilLogged("configuration reloaded");
    await importEvents("broken.csv", breakdown(startedMs, broken));
    await overview
      .locator("h1", { hasText: "301 of 2,000 organizations spike at once. Suspect the liveness checker." })
      .waitFor({ timeout: withinMs });
    const fleetMessage = await message(1);
    expect(fleetMessage.body).toContain("301 of 2,000 organizations");
    await eventually(
      async () => (await prometheus.query('ALERTS{alertname="FlatlineFleetSpike", alertstate="firing"}')).length > 0,
      withinMs,
    );
    await eventually(async () => {
      const named = (await alertmanager.firing("active")).filter(({ alertname }) => alertname === "FlatlineFleetSpike");
      // Once by flatline itself, and once by the rule.
      return named.some(({ job }) => job === "flatline") && named.some(({ job }) => job === undefined);
    }, withinMs);
    expect(await prometheus.query("sum(flatline_gate_held)")).toMatchObject([{ value: 301 }]);
    expect(await flatline("gate", oneOf)).toMatchObject({ exitCode: 1, stdout: expect.stringContaining("hold") });

    // Nobody acknowledges: the next one is notified, once, of the same verdict, and not of what was acknowledged.
    const escalated = await eventually(() => {
      const found = sentTo(sink, "/lead");
      return new Set(found.flatMap(({ alerts }) => alerts.map(({ slug }) => slug))).size >= broken.length && found;
    }, withinMs);
    expect(escalated.flatMap(({ alerts }) => alerts.map(({ slug }) => slug)).toSorted()).toEqual(broken);
    expect(new Set(escalated.flatMap(({ alerts }) => alerts.map(({ reason }) => reason)))).toEqual(
      new Set(["escalation"]),
    );
    const { fleet, alerts } = await read<Live>("/api/v1/alerts");
    const alertId = alerts.find(({ slug }) => slug === oneOf)?.id ?? "";
    expect(new Set(escalated.map((one) => one.fleet?.id))).toEqual(new Set([fleet.id]));
    expect(chat()).toHaveLength(2);

    // The link of the fleet's message leads to the list, where nothing is done by a GET.
    const list = await open(linksOf(fleetMessage.body).values().next().value ?? "");
    await list.locator("tr", { hasText: oneOf }).first().waitFor();
    expect(new URL(list.url()).host).toBe(target);

    // All members are judged with one dialog on the page.
    await overview.locator("[data-bulk=judge]", { hasText: "Judge 301…" }).click();
    const dialog = overview.locator("dialog");
    await dialog.getByText("The checker was wrong").click();
    expect(await axeViolations(overview)).toEqual([]);
    await dialog.locator("[name=comment]").fill("resolver of the checker was down");
    await dialog.locator("button.primary", { hasText: "Judge 301 alerts" }).click();
    const judgements = await eventually(async () => {
      const { entries } = await read<{ entries: readonly AuditEntry[] }>("/api/v1/audit?limit=1000");
      const found = entries.filter(({ action }) => action === "judgement");
      return found.length >= 301 && found;
    }, withinMs);
    await dialog.waitFor({ state: "detached" });
    expect(judgements.map(({ slug }) => slug).toSorted()).toEqual([...broken, alone]);
    expect(new Set(judgements.map(({ actor }) => actor))).toEqual(new Set(["token"]));
    // A checker that was wrong is no reason to act on its deaths while the alerts last.
    expect(await flatline("gate", oneOf)).toMatchObject({ exitCode: 1 });

    // An hour passes: the deaths leave the window, the alerts end, the gates open.
    await folder.write("flatline.yaml", configOf({ windowHours: 1, groupWait: "1s" }, port, urls));
    daemon.signal("SIGHUP");
    await eventually(async () => {
      const gates = await prometheus.query("sum(flatline_gate_held)");
      return gates[0]?.value === 0;
    }, withinMs);
    expect(await read(`/api/v1/gate/${oneOf}`)).toMatchObject({ decision: "allow", reason: "released" });
    expect(await flatline("gate", oneOf)).toMatchObject({ exitCode: 0 });
    await overview.locator("h1", { hasText: "All 2,000 organizations are ok." }).waitFor({ timeout: withinMs });
    await eventually(
      async () => (await prometheus.query('ALERTS{alertname="FlatlineFleetSpike", alertstate="firing"}')).length === 0,
      withinMs,
    );

    // The deaths are in the baseline now, and the judged stretch is left out of it.
    const check = await flatline("check", oneOf, "--json");
    expect(check.exitCode).toBe(0);
    const [{ result }] = JSON.parse(check.stdout) as [{ result: Record<string, Record<string, unknown>> }];
    expect(result["observed"]).toMatchObject({ baselineCount: 35, baselineExclusion: "applied" });
    expect(result["threshold"]?.["baselineExcludedHours"]).toBeGreaterThan(0.5);

    // The report of one of them.
    const report = await flatline("alerts", "report", alertId);
    expect(report).toMatchObject({ exitCode: 0 });
    expect(report.stdout).toContain("resolver of the checker was down");
    expect(report.stdout).not.toContain("https://org-0007");

    // The chat got one message when it began and one when it ended; so did nobody more.
    const last = await message(2);
    expect(last.body).toContain("301");
    expect(chat()).toHaveLength(3);
    expect(browser.complaints).toEqual([]);
  },
);
