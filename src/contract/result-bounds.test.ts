import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { errorReport, resultReport } from "../../test/support/check-reports.ts";
import { answerBounds, boundReport, boundResult, maxReportBytes } from "./result-bounds.ts";
import type { Finding, HealthcheckResult } from "./healthcheck.ts";

const { result: sample } = resultReport({ severity: "fail" });

function findingsOf(count: number, text: string): Finding[] {
  return Array.from({ length: count }, (_value, index) => ({
    kind: text,
    ref: `${index}${text}`,
    severity: "fail",
    message: text,
  }));
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

describe("boundResult", () => {
  it("takes a key that every object has for a key", () => {
    const observed = JSON.parse('{"__proto__": 1, "b": 2, "a": 3}') as HealthcheckResult["observed"];

    const bounded = boundResult({ ...sample, observed }, { ...answerBounds, keys: 2 }, ["toString"]);

    expect(Object.entries(bounded.observed)).toEqual([
      ["__proto__", 1],
      ["a", 3],
    ]);
  });
});

describe("boundReport", () => {
  it("leaves an ordinary report as it is", () => {
    const report = resultReport({ severity: "fail", result: { findings: findingsOf(100, "a text of usual length") } });

    expect(boundReport(report)).toBe(report);
  });

  it("shortens texts before it leaves findings out, and says so", () => {
    const report = resultReport({
      severity: "fail",
      result: { findings: findingsOf(100, "ref").map((finding) => ({ ...finding, message: "m".repeat(2_000) })) },
    });

    const { result } = boundReport(report);

    expect(bytesOf(result)).toBeLessThanOrEqual(maxReportBytes);
    expect(result.findings).toHaveLength(100);
    expect(result.findingsOmitted).toBeUndefined();
    expect(result.findings[0]?.message).toBe(`${"m".repeat(255)}…`);
    expect(result.isTruncated).toBe(true);
  });

  it("shortens the message of an error", () => {
    const report = { ...errorReport(), error: { reason: "store", message: "m".repeat(9_999) } } as const;

    expect(boundReport(report).error.message).toBe(`${"m".repeat(1_023)}…`);
  });

  it.each(["m", "\u0001", "ä", "😀", '"'])(
    "keeps to its bytes whatever a client answers, with texts of %j",
    (letter) => {
      const long = letter.repeat(4_096);
      const keys = Array.from({ length: 64 }, (_value, index) => [`${index}${long}`, long]);
      const map = Object.fromEntries(keys) as HealthcheckResult["observed"];
      const result = { ...sample, title: long, observed: map, threshold: map, findings: findingsOf(100, long) };
      const texts = { suggestedAction: long, appUrl: long, generatedAt: long };
      const answer = boundResult({ ...result, ...texts }, answerBounds);

      const report = boundReport(resultReport({ severity: "fail", result: answer }));

      expect(bytesOf(report)).toBeLessThanOrEqual(maxReportBytes);
      expect(report.result.findings.length + (report.result.findingsOmitted ?? 0)).toBe(100);
    },
  );

  it("never loses a finding from the count, and keeps the first", () => {
    fc.assert(
      fc.property(fc.nat(300), fc.nat(5_000), (count, length) => {
        const findings = findingsOf(count, "m".repeat(length));

        const { result } = boundReport(
          resultReport({ severity: "fail", result: boundResult({ ...sample, findings }, answerBounds) }),
        );

        expect(result.findings.length + (result.findingsOmitted ?? 0)).toBe(count);
        expect(result.findings.length).toBeGreaterThanOrEqual(Math.min(count, 4));
      }),
      { numRuns: 8 },
    );
  });
});
