import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { dayMs, hourMs, minuteMs } from "../../../src/base/time.ts";
import { runCli, type CliOutcome } from "../../support/program/cli-run.ts";
import { freePort } from "../../support/free-port.ts";
import { death } from "../../support/store/event-store.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

const bearer = { authorization: "Bearer a-token-of-the-tests", "content-type": "application/json" };

let folder: DaemonFolder;
let url: string;
let alertId: string;

beforeAll(async () => {
  folder = await makeDaemonFolder();
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  await folder.configure(`
source: { type: embedded }
defaults:
  schedule: "@yearly"
  thresholds: { failMultiplier: 6 }
organizations:
  - acme
  - { slug: initech, sentinel: { assets: [login] } }
  - { slug: hooli, baselineExclude: judged }
  - { slug: globex, baseline: median, thresholds: { minSpikeCount: 5 } }
  - { slug: umbrella, baseline: median, count: assets, thresholds: { minSpikeCount: 5 } }
alerting: { groupWait: 0s, fleet: false }
server: { listen: "127.0.0.1:${port}", token: a-token-of-the-tests }
storage: { path: flatline.db }
`);
  await folder.addDeaths("acme", { lastHour: 90, perDay: 3 });
  await folder.addDeaths("globex", { lastHour: 3, perDay: 3 });
  // One asset that dies each hour of five days.
  const flaps = Array.from({ length: 120 }, (_, hour) =>
    death(Date.now() - hour * hourMs - minuteMs, "umbrella", { asset: "flaps" }),
  );
  await folder.withStore(({ events }) => events.add(flaps));
  await folder.start();
  alertId = await eventually(async () => {
    const { alerts } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as {
      alerts: { id: string; slug: string }[];
    };
    return alerts.find(({ slug }) => slug === "acme")?.id ?? null;
  });
});
afterAll(() => folder.close());

const flatline = (...args: string[]): Promise<CliOutcome> => runCli(args, { cwd: folder.path, env: {} });

interface Counts {
  readonly severity: string;
  readonly currentCount: number;
  readonly baselineCount: number;
  readonly days: readonly number[];
}

interface Verdict {
  readonly match: string;
  readonly note: string | null;
  readonly version: string | null;
  readonly baseline: string;
  readonly count: string;
  readonly stored: Counts;
  readonly asKnownThen: Counts;
  readonly asKnownNow: Counts;
  readonly settings: readonly { readonly name: string; readonly setIn: string; readonly valueNow: number | null }[];
}

async function verdictOf(id: string): Promise<Verdict> {
  const { stdout } = await flatline("explain", id, "--json");
  return (JSON.parse(stdout) as { verdict: Verdict }).verdict;
}

async function post(path: string, body: object = {}): Promise<void> {
  const answer = await fetch(`${url}/api/v1/${path}`, { method: "POST", headers: bearer, body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
}

const spikeAlert = {
  id: "past",
  check: "dead-asset-spike",
  slug: "hooli",
  kind: "verdict",
  state: "firing",
  severity: "fail",
  firingAtMs: null,
  okSinceMs: null,
  unknownRuns: 0,
  acknowledgement: null,
  reason: "not_ok",
} as const;

const now = (): string => new Date().toISOString();

describe("flatline explain", () => {
  it("recomputes a verdict: window, counts, thresholds with their lines, version", async () => {
    const verdict = await verdictOf(`acme@${now()}`);

    expect(verdict).toMatchObject({ match: "same", note: null, baseline: "mean", version: "0.0.0" });
    expect(verdict.stored).toMatchObject({ severity: "fail", currentCount: 90, baselineCount: 21 });
    expect(verdict.asKnownNow).toEqual(verdict.asKnownThen);
    expect(verdict.settings.map(({ name, setIn }) => [name, setIn])).toEqual([
      ["windowHours", "default"],
      ["baselineDays", "default"],
      ["warnMultiplier", "default"],
      ["failMultiplier", "flatline.yaml:5"],
      ["minSpikeCount", "default"],
      ["baseline", "default"],
      ["count", "default"],
    ]);
  });

  it("recomputes every decision of an alert", async () => {
    const { exitCode, stdout } = await flatline("explain", alertId);

    expect(exitCode).toBe(0);
    expect(stdout).toContain(`alert ${alertId}: dead-asset-spike of acme`);
    expect(stdout).toMatch(/firing +fail +not_ok +same +acme@/);
    expect(stdout).toContain("the same: what was known then gives what was stored");
  });

  it("says of another check's alert that it can't be recomputed", async () => {
    const event = { at: Date.now(), slug: "initech", asset: "login" };
    await fetch(`${url}/api/v1/events`, { method: "POST", headers: bearer, body: JSON.stringify([event]) });
    const run = { method: "POST", headers: { authorization: bearer.authorization } };
    await fetch(`${url}/api/v1/checks/sentinel/initech/run`, run);
    const { alert } = (await (await fetch(`${url}/api/v1/checks/sentinel/initech`)).json()) as {
      alert: { id: string };
    };

    const { exitCode, stdout } = await flatline("explain", alert.id);

    expect(exitCode).toBe(0);
    expect(stdout).toContain("It can't be recomputed: of sentinel the decisions are kept, not what each run saw.");
  });

  it("tells what was known then from what is known now", async () => {
    const at = now();
    const late = { at: new Date(Date.now() - 2 * hourMs).toISOString(), slug: "globex", count: 40 };
    const posted = await fetch(`${url}/api/v1/events`, {
      method: "POST",
      headers: bearer,
      body: JSON.stringify([late]),
    });
    expect(posted.status).toBe(200);

    const verdict = await verdictOf(`globex@${at}`);

    expect(verdict).toMatchObject({ match: "same", baseline: "median" });
    expect(verdict.asKnownThen).toMatchObject({ severity: "ok", currentCount: 3 });
    expect(verdict.asKnownNow).toMatchObject({ severity: "fail", currentCount: 43 });
    // The seventh begins before the first event.
    expect(verdict.asKnownNow.days).toHaveLength(6);
  });

  it("counts assets where the verdict did", async () => {
    const at = now();
    const late = { at: new Date(Date.now() - 2 * hourMs).toISOString(), slug: "umbrella" };
    await post("events", [
      ...Array.from({ length: 40 }, () => ({ ...late, asset: "flaps" })),
      { ...late, asset: "a" },
      { ...late, asset: "b", count: 9 },
      { ...late, count: 7 },
    ]);

    const verdict = await verdictOf(`umbrella@${at}`);
    const { stdout } = await flatline("explain", `umbrella@${at}`);

    expect(verdict).toMatchObject({ match: "same", baseline: "median", count: "assets" });
    expect(verdict.stored).toMatchObject({ severity: "ok", currentCount: 1, baselineCount: 4 });
    expect(verdict.asKnownThen).toMatchObject({ severity: "ok", currentCount: 1, days: [1, 1, 1] });
    expect(verdict.asKnownNow).toMatchObject({ severity: "fail", currentCount: 10, days: [1, 1, 1] });
    expect(stdout).toMatch(/^count +assets +flatline\.yaml:11 *$/m);
  });

  it("shows the judgements, the revivals and the stretches left out that stood at a run, not the later ones", async () => {
    const nowMs = Date.now();
    const of = (index: number, atMs: number) => ({ at: atMs, slug: "hooli", asset: `h${index}`, assetType: "URL" });
    const incident = Array.from({ length: 70 }, (_, index) => of(index, nowMs - 3 * dayMs + index * minuteMs));
    const spike = Array.from({ length: 30 }, (_, index) => of(100 + index, nowMs - hourMs));
    await post("events", [...incident, ...spike]);
    const run = async (): Promise<string> => {
      await post("checks/dead-asset-spike/hooli/run");
      return now();
    };
    const judge = (verdict: string) =>
      flatline("alerts", "judge", "past", verdict, "--comment", "captcha https://a.b/");
    await folder.withStore(async ({ alerts }) => {
      const at = { startsAtMs: nowMs - 3 * dayMs + hourMs, onset: { atMs: nowMs - 3 * dayMs, marker: null } };
      const past = { ...spikeAlert, ...at, peak: { severity: "fail", currentCount: 70, atMs: at.startsAtMs } } as const;
      await alerts.save(past);
      await alerts.end(past, { atMs: nowMs - 2 * dayMs, isByRun: true, baselineExclusion: null });
    });

    const before = await run();
    await judge("checker");
    await post(
      "events",
      [100, 101, 102].map((index) => ({ ...of(index, nowMs - minuteMs), status: "DETECTED_AS_ALIVE" })),
    );
    const judged = await run();
    await judge("real");
    const after = await run();

    expect(await verdictOf(`hooli@${before}`)).toMatchObject({
      match: "same",
      judgements: [],
      exclusion: "none",
      excluded: [],
      stored: { baselineCount: 70, revivedCount: 0 },
      asKnownThen: { baselineCount: 70, revivedCount: 0 },
      asKnownNow: { baselineCount: 70, revivedCount: 3 },
    });
    const stretch = {
      from: new Date(nowMs - 3 * dayMs).toISOString(),
      to: new Date(nowMs - 2 * dayMs).toISOString(),
    };
    expect(await verdictOf(`hooli@${judged}`)).toMatchObject({
      match: "same",
      judgements: [{ alertId: "past", verdict: "checker", comment: "captcha https://a.b/", ...stretch }],
      exclusion: "applied",
      excluded: [stretch],
      stored: { baselineCount: 0, revivedCount: 3 },
      asKnownThen: { baselineCount: 0, revivedCount: 3 },
    });
    expect(await verdictOf(`hooli@${after}`)).toMatchObject({
      match: "same",
      judgements: [{ alertId: "past", verdict: "real" }],
      exclusion: "none",
      excluded: [],
      stored: { baselineCount: 70 },
    });
    const { stdout } = await flatline("explain", `hooli@${judged}`);
    expect(stdout).toMatch(new RegExp(`^left out +\\[${stretch.from}, ${stretch.to}\\)$`, "m"));
    expect(stdout).toMatch(/^checker +\[\S+ \S+\) {2}\S+ by token {2}past {3}captcha hxxps:\/\/a\[\.\]b\/$/m);
  });

  it("finds out when its events are gone, with exit code 1", async () => {
    await folder.withStore(async (store) => {
      while ((await store.events.prune({ beforeMs: Date.now() - 2 * dayMs, maxRows: 1_000 })).hasMore);
    });

    const { exitCode, stdout } = await flatline("explain", `acme@${now()}`, "--json");

    expect(exitCode).toBe(1);
    expect((JSON.parse(stdout) as { verdict: Verdict }).verdict).toMatchObject({
      match: "different",
      stored: { baselineCount: 21 },
    });
  });

  it.each([
    ["an id that is none", "acme", 64, "no alert acme is kept"],
    ["a time that is none", "acme@yesterday", 64, "is no id"],
    ["the id of no alert", "0196f0a2-7c53-7c53-8a51-0b7e3f1c2d4e", 64, "no alert 0196f0a2-7c53-7c53-8a51-0b7e3f1c2d4e"],
    ["a time before the first verdict", `acme@${Date.UTC(2020, 0, 1) + minuteMs}`, 64, "is kept: the first is of 20"],
    [
      "an organization without verdicts",
      "acmee@2026-01-15T12:00:00Z",
      64,
      'is kept: it has none; did you mean "acme"?',
    ],
  ])("says what is wrong with %s", async (_what, id, exitCode, message) => {
    const outcome = await flatline("explain", id);

    expect(outcome.exitCode).toBe(exitCode);
    expect(outcome.stderr).toContain(message);
  });
});
