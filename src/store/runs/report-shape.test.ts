import { describe, expect, it } from "vitest";
import type { ResultReport } from "../../contract/report.ts";
import { resultReport } from "../../../test/support/check-reports.ts";
import { joinReport, readShape, splitReport } from "./report-shape.ts";

const ok = (changes: Parameters<typeof resultReport>[0] = {}): ResultReport =>
  resultReport({ severity: "ok", ...changes });

const cases: readonly { readonly rule: string; readonly report: ResultReport }[] = [
  { rule: "a verdict that is ok", report: ok() },
  { rule: "one with findings", report: resultReport({ assetTypeExcess: [{ assetType: "URL", excess: 36.25 }] }) },
  { rule: "no numbers at all", report: ok({ result: { observed: {}, threshold: {} }, baselineCoverage: null }) },
  {
    rule: "counts that are missing",
    report: ok({ counts: { currentCount: null, baselineCount: null, expectedCount: 0.1, ratio: null } }),
  },
  {
    rule: "values of every kind, under names in any order",
    report: ok({
      result: {
        observed: { z: 1e300, a: "0", 7: 0.1, b: null, c: true, d: -0.5, e: 0 },
        threshold: { warnAbove: 12.5, windowHours: 24, own: "x", failAbove: 25 },
      },
    }),
  },
  { rule: "findings that were left out", report: ok({ result: { findingsOmitted: 5 } }) },
  { rule: "a scope without a slug", report: ok({ result: { scope: { slug: null } } }) },
  { rule: "a time that is written in another way", report: ok({ result: { generatedAt: "2026-01-01T00:00:00Z" } }) },
  { rule: "a time that is none", report: ok({ result: { generatedAt: "" } }) },
  { rule: "an address with the slug", report: ok({ result: { appUrl: "https://acme.example/o/acme" } }) },
  { rule: "an address without the slug", report: ok({ result: { appUrl: "https://example.org/$&" } }) },
  { rule: "an address with the mark of a slug", report: ok({ result: { appUrl: "https://acme.example/{slug}" } }) },
  { rule: "a slug that means something in a replacement", report: ok({ slug: "$&", result: { appUrl: "x/$&/y" } }) },
  { rule: "the version that ran it", report: ok({ version: "1.2.3" }) },
];

/** As the store has it: the shape as text. */
function roundTrip(report: ResultReport): unknown {
  const { shape, values } = splitReport(report);
  const read = readShape(shape.text);
  return read === null ? null : joinReport({ shape: read, values }, report);
}

describe("a report in two parts", () => {
  it.each(cases)("is whole again: $rule", ({ report }) => {
    expect(roundTrip(report)).toEqual(report);
    // From the memo this time.
    expect(roundTrip(report)).toEqual(report);
  });

  it("has one shape for verdicts that differ in numbers, times and organizations", () => {
    const one = splitReport(ok({ result: { appUrl: "https://example.org/o/acme" } }));

    const other = splitReport(
      ok({
        slug: "globex",
        finishedAtMs: 1_780_000_000_123,
        counts: { currentCount: 1, baselineCount: 2, expectedCount: 3.5, ratio: 0.25 },
        result: {
          observed: { currentCount: 1, baselineCount: 2, expectedCount: 3.5, ratio: 0.25 },
          appUrl: "https://example.org/o/globex",
        },
      }),
    );

    expect(other.shape.id).toBe(one.shape.id);
    expect(other.shape).toBe(one.shape);
    expect(other.values).not.toEqual(one.values);
  });

  it.each<{ readonly what: string; readonly changes: Parameters<typeof resultReport>[0] }>([
    { what: "the severity", changes: { severity: "warn" } },
    { what: "a threshold", changes: { result: { threshold: { windowHours: 12 } } } },
    { what: "a count that is not there", changes: { counts: { ...ok().counts, ratio: null } } },
    { what: "the baseline's coverage", changes: { baselineCoverage: null } },
    { what: "the version", changes: { version: "9.9.9" } },
    { what: "the title", changes: { result: { title: "Another" } } },
    { what: "an observed name", changes: { result: { observed: { currentCount: 1, other: 2 } } } },
    { what: "an observed text", changes: { result: { observed: { ...ok().result.observed, ratio: "none" } } } },
    { what: "a finding", changes: { result: { findings: [{ kind: "k", ref: "r", severity: "ok", message: "m" }] } } },
    { what: "the address", changes: { result: { appUrl: "https://example.org" } } },
    { what: "how many findings were left out", changes: { result: { findingsOmitted: 1 } } },
  ])("has another shape when it differs in $what", ({ changes }) => {
    expect(splitReport(ok(changes)).shape.id).not.toBe(splitReport(ok()).shape.id);
  });

  it("is none where it cannot be read", () => {
    const { shape } = splitReport(ok());

    expect(readShape(shape.text.replace('"ok"', '"fine"'))).toBeNull();
  });
});
