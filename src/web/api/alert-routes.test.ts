import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { bearer, harnessNowMs, startWeb, type RunningWeb } from "../../../test/support/web-harness.ts";
import { resultReport } from "../../../test/support/reports.ts";
import { actor } from "../../contract/actor.ts";
import { firingAlert } from "../../../test/support/firing-alert.ts";
import type { HealthcheckResult } from "../../contract/healthcheck.ts";
import type { CheckName, ObservedCounts } from "../../contract/report.ts";
import type { AlertDetail, AlertSnapshot } from "../read/alerts.ts";

let web: RunningWeb;

beforeEach(async () => {
  web = await startWeb();
  web.world.live = [firing, pending];
});
afterEach(() => web.close(0));

const firing: AlertSnapshot = {
  state: firingAlert("a1", harnessNowMs - 600_000, {
    firingAtMs: harnessNowMs - 300_000,
    peak: { severity: "fail", currentCount: 42, atMs: harnessNowMs },
    onset: { atMs: harnessNowMs - 1_200_000, marker: { text: "captcha rollout", atMs: harnessNowMs - 3_600_000 } },
    reason: "for_elapsed",
  }),
  silenced: true,
  notifiedAtMs: harnessNowMs - 240_000,
  lastResult: null,
  labels: { team: "trust" },
  url: "https://app.example.com/o/acme",
};
const pending: AlertSnapshot = {
  state: {
    ...firing.state,
    id: "a2",
    check: "review-queue",
    state: "pending",
    severity: "warn",
    firingAtMs: null,
    reason: "for_running",
  },
  silenced: false,
  notifiedAtMs: null,
  lastResult: null,
  labels: {},
  url: null,
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
  notifiedAt: "2025-12-31T23:56:00.000Z",
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

async function list(headers: Record<string, string> = {}): Promise<unknown> {
  const answer = await fetch(`${web.url}/api/v1/alerts`, { headers });
  expect(answer.status).toBe(200);
  return answer.json();
}

function acknowledge(id: string, body?: string, headers: Record<string, string> = {}): Promise<Response> {
  const json = body === undefined ? {} : { "content-type": "application/json" };
  return fetch(`${web.url}/api/v1/alerts/${id}/ack`, {
    method: "POST",
    headers: { ...bearer, ...json, ...headers },
    ...(body === undefined ? {} : { body }),
  });
}

describe("GET /api/v1/alerts", () => {
  it("shows what lives, to anybody", async () => {
    expect(await list()).toEqual({
      alerts: [
        shown,
        expect.objectContaining({ id: "a2", check: "review-queue", state: "pending", firingAt: null, url: null }),
      ],
    });
  });

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
      { currentCount: 40, expectedCount: 0, ratio: null, revivedCount: null, revivedShare: null },
    ],
    [
      "none of what another service means by these names",
      { currentCount: null, expectedCount: null, ratio: null },
      { revivedCount: "many", revivedShare: true },
      { currentCount: null, expectedCount: null, ratio: null, revivedCount: null, revivedShare: null },
    ],
  ])("says of the last run %s", async (_rule, counts, observed, expected) => {
    const report = resultReport({ startedAtMs: harnessNowMs, severity: "fail", currentCount: 40 });
    const lastResult = {
      ...report,
      counts: { ...report.counts, ...counts },
      result: { ...report.result, observed },
    };
    web.world.live = [{ ...firing, lastResult }];

    expect(await list()).toEqual({ alerts: [{ ...shown, ...expected }] });
  });

  it("says who acknowledged to the operator only", async () => {
    const acknowledgement = { atMs: harnessNowMs, by: "kim", note: null, comment: "on it", severity: "fail" } as const;
    web.world.live = [{ ...firing, state: { ...firing.state, acknowledgement } }];

    expect(await list()).toEqual({ alerts: [{ ...shown, acknowledged: true }] });
    expect(await list(bearer)).toMatchObject({
      alerts: [
        {
          acknowledgement: {
            at: "2026-01-01T00:00:00.000Z",
            by: "kim",
            note: null,
            comment: "on it",
            severity: "fail",
          },
        },
      ],
    });
  });
});

describe("GET /api/v1/alerts/{id}", () => {
  const atMs = harnessNowMs - 60_000;
  const ended = (check: CheckName, over: Partial<AlertDetail> = {}): AlertDetail => {
    const report = resultReport({ check, startedAtMs: atMs, severity: "fail" });
    const history = { judgements: [], history: [], comments: [] };
    const worstResult = { result: report.result, atMs };
    return { ...firing, state: { ...firing.state, check }, ...history, endsAtMs: harnessNowMs, worstResult, ...over };
  };
  const read = async (detail: AlertDetail, headers = {}): Promise<unknown> => {
    web.world.details = [detail];
    return (await fetch(`${web.url}/api/v1/alerts/a1`, { headers })).json();
  };

  it.each<[string, AlertDetail, object, unknown]>([
    [
      "that has ended has the result of its worst run",
      ended("dead-asset-spike"),
      {},
      { state: "resolved", result: { severity: "fail", findings: [{}] }, resultAt: "2025-12-31T23:59:00.000Z" },
    ],
    [
      "of which no run is kept has none",
      ended("sentinel", { worstResult: null }),
      {},
      { result: null, resultAt: null },
    ],
    ["of the review queue names no report to everybody", ended("review-queue"), {}, { result: { findings: [] } }],
    ["of the review queue names them to who may read", ended("review-queue"), bearer, { result: { findings: [{}] } }],
  ])("one %s", async (_rule, detail, headers, expected) => {
    expect(await read(detail, headers)).toMatchObject(expected as object);
  });

  it("leaves the result of one that lives to its check", async () => {
    expect(await read(ended("dead-asset-spike", { endsAtMs: null, worstResult: null }))).not.toHaveProperty("result");
  });
});

describe("POST /api/v1/alerts/{id}/ack", () => {
  it.each<[string, string | undefined, { note: string | null; comment: string | null }]>([
    ["who and why", '{"by":"kim","comment":"on it"}', { note: "kim", comment: "on it" }],
    ["neither", "{}", { note: null, comment: null }],
    ["no body", undefined, { note: null, comment: null }],
    ["blanks, which are nothing", '{"by":" ","comment":""}', { note: null, comment: null }],
  ])("takes %s", async (_name, body, expected) => {
    const answer = await acknowledge("a1", body);

    expect(answer.status).toBe(200);
    const { note, comment } = expected;
    const act = { kind: "acknowledge", comment };
    expect(web.world.acts).toEqual([{ id: "a1", act, author: { ...actor("token", "token"), note } }]);
  });

  it.each<[string, string, string | undefined, Record<string, string>, number, string]>([
    ["an unknown key", "a1", '{"comments":"x"}', {}, 400, "BAD_REQUEST"],
    ["another type", "a1", '{"by":7}', {}, 400, "BAD_REQUEST"],
    ["a list", "a1", "[]", {}, 400, "BAD_REQUEST"],
    ["a name that is none", "a1", JSON.stringify({ by: "x".repeat(201) }), {}, 400, "BAD_REQUEST"],
    ["malformed JSON", "a1", "{", {}, 400, "BAD_REQUEST"],
    ["no JSON", "a1", "{}", { "content-type": "text/plain" }, 415, "UNSUPPORTED_MEDIA_TYPE"],
    ["a wrong token", "a1", "{}", { authorization: "Bearer wrong" }, 401, "UNAUTHORIZED"],
  ])("refuses %s", async (_name, id, body, headers, status, code) => {
    const answer = await acknowledge(id, body, headers);

    expect([answer.status, await answer.json()]).toMatchObject([status, { code, message: expect.any(String) }]);
    expect(web.world.acts).toEqual([]);
  });
});
