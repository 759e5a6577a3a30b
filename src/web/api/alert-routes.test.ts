import { beforeEach, describe, expect, it } from "vitest";

import { firingAlert } from "../../../test/support/firing-alert.ts";
import { resultReport } from "../../../test/support/reports.ts";
import { bearer, checkOf, harnessNowMs, useWebs, type RunningWeb } from "../../../test/support/web-harness.ts";
import type { AlertView } from "../../alerting/view.ts";
import type { HealthcheckResult } from "../../contract/healthcheck.ts";
import type { CheckName, ObservedCounts } from "../../contract/report.ts";

const start = useWebs();
let web: RunningWeb;

beforeEach(async () => {
  web = await start();
  web.world.checks = [];
  web.world.alerts = [firing];
});
const target = { labels: { team: "trust" }, url: "https://app.example.com/o/acme" } as unknown as AlertView["target"];
const firing: AlertView = {
  ...firingAlert("a1", harnessNowMs - 600_000),
  firingAtMs: harnessNowMs - 300_000,
  peak: { severity: "fail", currentCount: 42, atMs: harnessNowMs },
  onset: { atMs: harnessNowMs - 1_200_000, marker: { text: "captcha rollout", atMs: harnessNowMs - 3_600_000 } },
  reason: "for_elapsed",
  isSilenced: true,
  holdsGate: true,
  target,
};
const shown = {
  id: "a1",
  check: "dead-asset-spike",
  slug: "acme",
  kind: "verdict",
  state: "firing",
  severity: "fail",
  startsAt: "2025-12-31T23:50:00.000Z",
  beganAt: "2025-12-31T23:40:00.000Z",
  detectedAt: "2025-12-31T23:50:00.000Z",
  notifiedAt: null,
  firingAt: "2025-12-31T23:55:00.000Z",
  incidentId: null,
  incidentNumber: null,
  onsetAt: "2025-12-31T23:40:00.000Z",
  marker: { text: "captcha rollout", at: "2025-12-31T23:00:00.000Z" },
  silenced: true,
  acknowledged: false,
  judgement: null,
  peak: { severity: "fail", currentCount: 42, at: "2026-01-01T00:00:00.000Z" },
  currentCount: null,
  expectedCount: null,
  ratio: null,
  revivedCount: null,
  revivedShare: null,
  reason: "for_elapsed",
  labels: { team: "trust" },
  url: "https://app.example.com/o/acme",
};

async function read(path = "", headers: Record<string, string> = {}): Promise<unknown> {
  const answer = await fetch(`${web.url}/api/v1/alerts${path}`, { headers });
  expect(answer.status).toBe(200);
  return answer.json();
}

describe("GET /api/v1/alerts", () => {
  it.each<[string, Partial<ObservedCounts>, HealthcheckResult["observed"], object]>([
    [
      "its ratio and its undone deaths",
      {},
      { revivedCount: 24, revivedShare: 0.6 },
      { currentCount: 40, expectedCount: 10, ratio: 4, revivedCount: 24, revivedShare: 0.6 },
    ],
    [
      "no ratio where none was expected, and no undone deaths where it named none",
      { expectedCount: 0, ratio: null },
      {},
      { currentCount: 40, expectedCount: 0 },
    ],
    [
      "none of what another service means by these names",
      { currentCount: null, expectedCount: null, ratio: null },
      { revivedCount: "many", revivedShare: true },
      {},
    ],
  ])("says of the last run %s, to anybody", async (_rule, counts, observed, expected) => {
    const report = resultReport({ startedAtMs: harnessNowMs, severity: "fail", currentCount: 40 });
    const own = { ...report, counts: { ...report.counts, ...counts }, result: { ...report.result, observed } };
    web.world.checks = [checkOf(own)];

    expect(await read()).toEqual({ alerts: [{ ...shown, ...expected }] });
  });

  it("says who acknowledged to the operator only", async () => {
    const acknowledgement = { atMs: harnessNowMs, by: "kim", note: null, comment: "on it", severity: "fail" } as const;
    web.world.alerts = [{ ...firing, acknowledgement }];

    expect(await read()).toEqual({ alerts: [{ ...shown, acknowledged: true }] });
    const { atMs: _atMs, ...said } = acknowledgement;
    expect(await read("", bearer)).toMatchObject({
      alerts: [{ acknowledgement: { at: "2026-01-01T00:00:00.000Z", ...said } }],
    });
  });
});

describe("GET /api/v1/alerts/{id}", () => {
  it.each<[string, CheckName, boolean, Record<string, string>, unknown]>([
    [
      "that has ended has the result of its worst run",
      "dead-asset-spike",
      true,
      {},
      { state: "resolved", result: { severity: "fail", findings: [{}] }, resultAt: "2025-12-31T23:59:00.000Z" },
    ],
    ["of which no run is kept has none", "sentinel", false, {}, { result: null, resultAt: null }],
    ["of the review queue names no report to everybody", "review-queue", true, {}, { result: { findings: [] } }],
    ["of the review queue names them to who may read", "review-queue", true, bearer, { result: { findings: [{}] } }],
  ])("one %s", async (_rule, check, isKept, headers, expected) => {
    const end = { atMs: harnessNowMs, isByRun: true };
    web.world.alerts = [{ ...firing, check, end }];
    web.world.reports = isKept ? [resultReport({ check, startedAtMs: harnessNowMs - 60_000, severity: "fail" })] : [];

    expect(await read("/a1", headers)).toMatchObject(expected as object);
  });

  it("leaves the result of one that lives to its check", async () => {
    expect(await read("/a1")).not.toHaveProperty("result");
  });
});

describe("POST /api/v1/alerts/{id}/ack", () => {
  // e2e/api/silences-and-alerts tests the effects of accepted requests.
  it.each<[string, string | undefined, number]>([
    ["who and why", '{"by":"kim","comment":"on it"}', 404],
    ["neither", "{}", 404],
    ["no body", undefined, 404],
    ["blanks, which are nothing", '{"by":" ","comment":""}', 404],
    ["no unknown key", '{"comments":"x"}', 400],
    ["no other type", '{"by":7}', 400],
    ["no name that is none", JSON.stringify({ by: "x".repeat(201) }), 400],
  ])("takes %s", async (_name, body, status) => {
    const json = body === undefined ? {} : { "content-type": "application/json" };
    const answer = await fetch(`${web.url}/api/v1/alerts/unknown/ack`, {
      method: "POST",
      headers: { ...bearer, ...json },
      ...(body === undefined ? {} : { body }),
    });

    expect([answer.status, await answer.json()]).toMatchObject([status, { message: expect.any(String) }]);
  });
});
