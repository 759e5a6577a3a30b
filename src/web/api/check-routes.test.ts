import { afterEach, describe, expect, it } from "vitest";

import { errorReport, resultReport } from "../../../test/support/check-reports.ts";
import { basic, bearer, harnessNowMs, checkOf, startWeb, type RunningWeb } from "../../../test/support/web-harness.ts";
import type { AlertView } from "../../alerting/view.ts";
import type { CheckState } from "../read/running.ts";
import { firingAlert } from "../../../test/support/firing-alert.ts";

let web: RunningWeb | null = null;

afterEach(async () => {
  await web?.close(0);
  web = null;
});

async function start(checks: CheckState[], alerts: readonly AlertView[] = []): Promise<RunningWeb> {
  web = await startWeb();
  web.world.checks = checks;
  web.world.alerts = alerts;
  return web;
}

async function read(path: string, headers: Record<string, string> = {}): Promise<unknown> {
  const answer = await fetch(`${web?.url}${path}`, { headers });
  expect(answer.status).toBe(200);
  return answer.json();
}

const view: AlertView = {
  ...firingAlert("a1", harnessNowMs - 600_000),
  severity: "warn",
  peak: { severity: "warn", currentCount: 42, atMs: harnessNowMs },
  onset: {
    atMs: harnessNowMs - 1_200_000,
    marker: { text: "captcha rollout", atMs: harnessNowMs - 3_600_000 },
  },
  reason: "spike",
  isSilenced: false,
  holdsGate: false,
  target: null,
};

describe("GET /api/v1/checks", () => {
  it("shows the last verdict, the alert and the next run", async () => {
    const report = resultReport({ finishedAtMs: harnessNowMs - 60_000 });
    await start([checkOf(report)], [view]);

    const checks = await read("/api/v1/checks");

    const shown = {
      id: "a1",
      kind: "verdict",
      state: "firing",
      severity: "warn",
      startsAt: "2025-12-31T23:50:00.000Z",
      onsetAt: "2025-12-31T23:40:00.000Z",
      marker: { text: "captcha rollout", at: "2025-12-31T23:00:00.000Z" },
      silenced: false,
    };
    expect(checks).toEqual([
      {
        check: "dead-asset-spike",
        slug: "acme",
        severity: "fail",
        severitySince: "2025-12-31T23:59:00.000Z",
        isStale: false,
        lastRunAt: "2025-12-31T23:59:00.000Z",
        lastSuccessAt: "2025-12-31T23:59:00.000Z",
        nextRunAt: "2026-01-01T00:04:00.000Z",
        isRunning: false,
        result: report.result,
        error: null,
        alert: shown,
        alerts: [shown],
      },
    ]);
    expect(await read("/api/v1/checks/dead-asset-spike/acme")).toEqual((checks as object[])[0]);
  });

  it("shows nothing of a verdict before the first run", async () => {
    await start([checkOf(null)]);

    expect(await read("/api/v1/checks/dead-asset-spike/acme")).toMatchObject({
      severity: null,
      lastRunAt: null,
      result: null,
      error: null,
      alert: null,
    });
  });

  it("shows why a run failed, and no result", async () => {
    await start([checkOf(errorReport({ reason: "rate_limited" }))]);

    expect(await read("/api/v1/checks/dead-asset-spike/acme")).toMatchObject({
      severity: "unknown",
      result: null,
      error: { reason: "rate_limited", message: "no complete answer in time" },
    });
  });

  it("shows a stale verdict as after a failed run", async () => {
    await start([checkOf(resultReport({ finishedAtMs: harnessNowMs - 900_001 }))]);

    expect(await read("/api/v1/checks/dead-asset-spike/acme")).toMatchObject({
      severity: "unknown",
      isStale: true,
      result: null,
      lastSuccessAt: expect.any(String),
    });
  });

  it("shows of two live alerts the one that fires first, then the more severe", async () => {
    await start(
      [checkOf(resultReport())],
      [
        { ...view, id: "pending", state: "pending", severity: "fail" },
        { ...view, id: "warn" },
        { ...view, id: "unknown", kind: "unknown", severity: "unknown", isSilenced: true },
      ],
    );

    expect(await read("/api/v1/checks/dead-asset-spike/acme")).toMatchObject({
      alert: { id: "unknown", kind: "unknown", silenced: true },
      alerts: [{ id: "unknown" }, { id: "warn" }, { id: "pending" }],
    });
  });

  it("hides what the findings of the review queue and of sentinels name from who has no token", async () => {
    const finding = { kind: "review-queue", ref: "9001", severity: "fail" as const, message: "waits since yesterday" };
    const report = resultReport({ check: "review-queue", result: { id: "review-queue", findings: [finding] } });
    const ofSentinel = { ...finding, kind: "sentinel.asset", message: "https://a.example is called dead" };
    const sentinels = resultReport({
      check: "sentinel",
      result: { findings: [{ ...finding, kind: "sentinel" }, ofSentinel] },
    });
    await start([checkOf(report), checkOf(resultReport()), checkOf(sentinels)]);
    const findings = async (headers: Record<string, string>): Promise<number[]> =>
      ((await read("/api/v1/checks", headers)) as { result: { findings: unknown[] } }[]).map(
        ({ result }) => result.findings.length,
      );

    expect(await findings({})).toEqual([0, 1, 1]);
    expect(await findings(bearer)).toEqual([1, 1, 2]);
    expect(await findings(basic)).toEqual([1, 1, 2]);
    expect(await read("/api/v1/checks/review-queue/acme")).toMatchObject({ result: { findings: [] } });
    expect(await read("/api/v1/checks/review-queue/acme", bearer)).toMatchObject({ result: { findings: [finding] } });
  });

  it.each(["a b", "ä/ö", "x?y#z", "%2F", "s".repeat(300)])("finds the organization %j", async (slug) => {
    await start([checkOf(resultReport({ slug }))]);

    expect(await read(`/api/v1/checks/dead-asset-spike/${encodeURIComponent(slug)}`)).toMatchObject({ slug });
  });
});

describe("POST /api/v1/checks/{check}/{slug}/run", () => {
  it("answers with the report", async () => {
    const { url, world } = await start([]);
    const report = resultReport({ severity: "warn", finishedAtMs: harnessNowMs });
    world.run = async () => report;

    const answer = await fetch(`${url}/api/v1/checks/dead-asset-spike/acme/run`, { method: "POST", headers: bearer });

    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      check: "dead-asset-spike",
      slug: "acme",
      severity: "warn",
      startedAt: "2025-12-31T23:59:59.980Z",
      finishedAt: "2026-01-01T00:00:00.000Z",
      result: report.result,
      error: null,
    });
  });

  it.each([
    ["dead-asset-spike/nope", 'no check dead-asset-spike is configured for "nope"'],
    ["nope/acme", 'there is no check "nope": dead-asset-spike, '],
  ])("of %s is 404, and says what is wrong", async (target, message) => {
    const { url } = await start([]);

    const answer = await fetch(`${url}/api/v1/checks/${target}/run`, { method: "POST", headers: bearer });

    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: "NOT_FOUND", message: expect.stringContaining(message) });
  });
});
