import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { servedHealthcheckSchema } from "../../contract/healthcheck-schemas.ts";
import { evaluateReviewQueue, queuedReport, type QueuedReport } from "./review-queue.ts";

const nowMs = Date.parse("2026-11-02T12:00:00.000Z");
const hour = 3_600_000;
const thresholds = { warnAfterMs: 4 * hour, failAfterMs: 24 * hour };

function aged(ref: string, ageMs: number | null): QueuedReport {
  return { ref, title: null, createdAtMs: ageMs === null ? null : nowMs - ageMs };
}

function evaluate(reports: readonly QueuedReport[], atMs = nowMs): ReturnType<typeof evaluateReviewQueue> {
  return evaluateReviewQueue({ slug: "acme", nowMs: atMs, thresholds, reports, appUrl: "https://app.example/o/acme" });
}

describe("the review queue", () => {
  it.each([
    { rule: "an empty queue is ok", ages: [], severity: "ok", oldest: null },
    { rule: "below warnAfter is ok", ages: [4 * hour - 1, 60_000], severity: "ok", oldest: 14_399 },
    { rule: "at warnAfter it warns", ages: [60_000, 4 * hour], severity: "warn", oldest: 14_400 },
    { rule: "below failAfter it warns", ages: [24 * hour - 1], severity: "warn", oldest: 86_399 },
    { rule: "at failAfter it fails", ages: [5 * hour, 24 * hour, 0], severity: "fail", oldest: 86_400 },
    { rule: "no readable creation time is ok", ages: [null, null], severity: "ok", oldest: null },
    { rule: "one readable creation time decides", ages: [null, 30 * hour], severity: "fail", oldest: 108_000 },
    { rule: "a creation time in the future is of age zero", ages: [-hour], severity: "ok", oldest: 0 },
  ])("$rule", ({ ages, severity, oldest }) => {
    const result = evaluate(ages.map((ageMs, index) => aged(String(index), ageMs)));

    const told = { id: "review-queue", category: "reviewing", generatedAt: "2026-11-02T12:00:00.000Z" };
    const common = { scope: { slug: "acme" }, appUrl: "https://app.example/o/acme" };
    expect(servedHealthcheckSchema.parse(result)).toMatchObject({
      ...told,
      ...common,
      severity,
      ok: severity === "ok",
    });
    expect(result.observed).toEqual({ queued: ages.length, oldestAgeSeconds: oldest });
    expect(result.threshold).toEqual({ warnAfterSeconds: 14_400, failAfterSeconds: 86_400 });
    expect(result.findings.length === 0).toBe(severity === "ok");
    expect(result.suggestedAction === null).toBe(severity === "ok");
  });

  it("names the late reports, oldest first, each with the severity of its own age", () => {
    const titled = { ref: "9003", title: "Login page", createdAtMs: nowMs - 5 * hour };

    const result = evaluate([titled, aged("9001", 26 * hour), aged("9002", hour), aged("9004", null)]);

    expect(result.findings.map(({ kind, ref, severity, message }) => [kind, ref, severity, message])).toEqual([
      ["review-queue", "acme", "fail", "4 reports in the review queue, 2 for at least 4h; the oldest has waited 1d 2h"],
      ["review-queue.report", "9001", "fail", "report 9001 has waited 1d 2h for review"],
      ["review-queue.report", "9003", "warn", "report 9003 (Login page) has waited 5h for review"],
    ]);
  });

  it("names ten at most", () => {
    const reports = Array.from({ length: 500 }, (_, index) => aged(String(index), 5 * hour));

    const { findings } = evaluate(reports);

    expect(findings).toHaveLength(11);
    expect(findings[0]?.message).toContain("500 for at least 4h, 10 of them named here");
  });

  it("keeps the beginning of a long title and id", () => {
    expect(queuedReport({ id: "i".repeat(9_999), title: "ä".repeat(9_999) })).toMatchObject({
      ref: `${"i".repeat(63)}…`,
      title: `${"ä".repeat(79)}…`,
    });
  });

  it.each([
    { what: "an instant in UTC", createdAt: "2026-11-01T10:00:00.000Z", is: Date.UTC(2026, 10, 1, 10) },
    { what: "an instant with an offset", createdAt: "2026-11-01T10:00:00+02:00", is: Date.UTC(2026, 10, 1, 8) },
    { what: "a date", createdAt: "2026-11-01", is: Date.UTC(2026, 10, 1) },
    { what: "an instant without an offset", createdAt: "2026-11-01T10:00:00", is: null },
    { what: "a date that does not exist", createdAt: "2026-13-41T10:00:00Z", is: null },
    { what: "a number", createdAt: 1_793_000_000, is: null },
    { what: "words", createdAt: "yesterday", is: null },
    { what: "nothing", createdAt: undefined, is: null },
  ])("reads a creation time that is $what", ({ createdAt, is }) => {
    expect(queuedReport({ id: 7, createdAt })).toEqual({ ref: "7", title: null, createdAtMs: is });
  });

  it("never gets less severe by another report or by time", () => {
    const rank = { ok: 0, warn: 1, fail: 2 };
    const report = fc.option(fc.integer({ min: 0, max: 100 * hour })).map((ageMs) => aged("1", ageMs));
    fc.assert(
      fc.property(fc.array(report), report, fc.nat(100 * hour), (reports, another, laterMs) => {
        const before = evaluate(reports);
        const after = evaluate([...reports, another], nowMs + laterMs);

        expect(rank[after.severity]).toBeGreaterThanOrEqual(rank[before.severity]);
      }),
    );
  });
});
