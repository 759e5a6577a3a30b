import { describe, expect, it } from "vitest";

import { hourMs, minuteMs } from "../base/time.ts";
import { resultReport } from "../../test/support/reports.ts";
import type { AlertNotice } from "../alerting/notify/notification.ts";
import { summaryOf } from "./alert.ts";

const startsAtMs = Date.parse("2026-11-02T08:00:00.000Z");
const report = resultReport({ startedAtMs: startsAtMs, severity: "fail", currentCount: 5_119 });

function notice(changes: Partial<AlertNotice> = {}): AlertNotice {
  return {
    id: `alert-${changes.slug ?? "acme"}`,
    check: "dead-asset-spike",
    slug: "acme",
    kind: "verdict",
    event: "firing",
    status: "firing",
    severity: "fail",
    previousSeverity: "ok",
    reason: "not_ok",
    startsAtMs,
    endsAtMs: null,
    peak: { severity: "fail", currentCount: 5_119, atMs: startsAtMs },
    labels: {},
    url: null,
    result: report.result,
    counts: report.counts,
    error: null,
    ...changes,
  };
}

const ended = {
  event: "resolved",
  status: "resolved",
  reason: "back_to_ok",
  endsAtMs: startsAtMs + 2 * hourMs + 5 * minuteMs,
} as const;
const summary = (...alerts: AlertNotice[]) => summaryOf({ alerts, incident: null, generatedAtMs: startsAtMs });

describe("summaryOf", () => {
  it.each<[string, AlertNotice[], string]>([
    [
      "one that fires says how many where how many were expected",
      [notice()],
      "acme: fail, 5,119 deaths, 10.0 expected (512×)",
    ],
    [
      "a reminder says that it still does",
      [notice({ event: "reminder" })],
      "acme: still fail, 5,119 deaths, 10.0 expected (512×)",
    ],
    [
      "a result without counts says so much",
      [notice({ event: "escalated", counts: null })],
      "acme: worse, now fail, dead-asset-spike",
    ],
    [
      "resolved says that the rate is back, how long it lasted and its peak, not that something was mended",
      [notice(ended)],
      "acme: the rate is back under the threshold, lasted 2 h 5 min, peak fail with 5,119 deaths",
    ],
    [
      "a removed organization is not one that recovered",
      [notice({ ...ended, reason: "organization_removed" })],
      "acme: no longer watched, lasted 2 h 5 min, peak fail with 5,119 deaths",
    ],
    [
      "unknown says why there is no result",
      [notice({ kind: "unknown", event: "unknown", severity: "unknown", error: { reason: "timeout", message: "" } })],
      "acme: dead-asset-spike gives no result (timeout)",
    ],
    [
      "recovered says how long there was none",
      [notice({ ...ended, kind: "unknown", event: "recovered", severity: "unknown" })],
      "acme: dead-asset-spike gives results again after 2 h 5 min",
    ],
    [
      "what fired and ended before it could be sent says both",
      [notice(), notice(ended)],
      "fired meanwhile; acme: the rate is back under the threshold, lasted 2 h 5 min, peak fail with 5,119 deaths",
    ],
  ])("%s", (_rule, alerts, expected) => {
    expect(summary(...alerts)).toBe(expected);
  });

  it("of the review queue says how many wait and for how long", () => {
    const result = { ...report.result, observed: { queued: 3, oldestAgeSeconds: 5 * 3_600 } };
    const alert = notice({ check: "review-queue", result, counts: null, severity: "warn" });

    expect(summary(alert)).toBe("acme: warn, 3 wait for review, the oldest for 5 h");
    expect(summary(notice({ ...ended, check: "review-queue", result }))).toBe(
      "acme: the queue is back under the threshold, lasted 2 h 5 min, peak fail",
    );
  });
});
