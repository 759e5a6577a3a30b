import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { resultReport } from "../../../test/support/check-reports.ts";
import { shortened, withinBudget } from "./budget.ts";
import { composeNotification } from "./compose.ts";
import type { AlertNotice, Notification } from "./notification.ts";
import { testNotification } from "./test-notification.ts";

const nowMs = Date.UTC(2026, 0, 15);
const common = { receiver: "ops", recipient: null, externalUrl: null };
const [sample] = testNotification({ id: "test", ...common, nowMs }).alerts;

function noticeOf(slug: string, letters: number): AlertNotice {
  if (sample === undefined) throw new Error("no sample");
  const { result } = resultReport({ slug, result: { suggestedAction: "x".repeat(letters) } });
  return { ...sample, id: slug, slug, result };
}

function compose(alerts: readonly AlertNotice[]): Notification {
  const id = alerts.map((alert) => alert.id).join();
  return composeNotification({ id, ...common, generatedAtMs: nowMs, fleet: null, shown: null, alerts });
}

const bytesOf = ({ alerts }: Notification): number => Buffer.byteLength(JSON.stringify(alerts));

describe("withinBudget", () => {
  it("leaves a group that fits as it is", () => {
    const alerts = [noticeOf("acme", 10), noticeOf("globex", 10)];

    expect(withinBudget(alerts, compose, { maxBytes: bytesOf(compose(alerts)), bytesOf })).toEqual([compose(alerts)]);
  });

  it("splits a larger one into parts that fit and have all alerts in their order", () => {
    const letters = fc.array(fc.nat(20_000), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(letters, fc.integer({ min: 3_000, max: 60_000 }), (lengths, maxBytes) => {
        const alerts = lengths.map((length, index) => noticeOf(`org-${index}`, length));

        const parts = withinBudget(alerts, compose, { maxBytes, bytesOf });

        expect(parts.flatMap((part) => part.alerts.map(({ id }) => id))).toEqual(alerts.map(({ id }) => id));
        for (const part of parts) expect(bytesOf(part)).toBeLessThanOrEqual(maxBytes);
        for (const {
          alerts: [only, ...others],
        } of parts)
          if (others.length > 0) expect(only?.result?.isTruncated).toBeUndefined();
      }),
      { numRuns: 50 },
    );
  });

  it("shortens an alert that is too large by itself, and says so", () => {
    const [part, ...others] = withinBudget([noticeOf("acme", 9_000)], compose, { maxBytes: 3_000, bytesOf });

    expect(others).toEqual([]);
    expect(part?.alerts).toMatchObject([
      {
        slug: "acme",
        severity: "warn",
        result: { severity: "fail", findings: [], findingsOmitted: 1, isTruncated: true },
      },
    ]);
    expect(part?.alerts[0]?.result?.observed).toMatchObject({ currentCount: 42 });
  });

  it("is one notification without a budget, shortened when it is large", () => {
    const few = Array.from({ length: 20 }, (_, index) => noticeOf(`org-${index}`, 4_000));
    const many = Array.from({ length: 200 }, (_, index) => noticeOf(`org-${index}`, 4_000));
    const [whole] = withinBudget(few, compose, null);
    const [short] = withinBudget(many, compose, null);

    expect(whole?.alerts).toEqual(few);
    expect(short).toEqual(shortened(compose(many)));
    expect(short?.alerts.map(({ id }) => id)).toEqual(many.map(({ id }) => id));
  });
});
