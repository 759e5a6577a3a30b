import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { errorReport, resultReport } from "../../test/support/check-reports.ts";
import { parseExposition, seriesValue, type ParsedFamily } from "../../test/support/exposition-parser.ts";
import type { CheckReport } from "../contract/report.ts";
import { createCheckSeries, renderReport, type CheckSeriesInput } from "./check-series.ts";
import { noEvidence } from "../contract/spike-evidence.ts";

const nowMs = 1_767_225_600_000;

function input(lastReport: CheckReport | null, changes: Partial<CheckSeriesInput> = {}): CheckSeriesInput {
  return {
    check: lastReport?.check ?? "dead-asset-spike",
    slug: lastReport?.slug ?? "acme",
    last: lastReport && {
      lastReport,
      severity: lastReport.severity,
      lastRunAtMs: lastReport.finishedAtMs,
      lastSuccessAtMs: lastReport.kind === "result" ? lastReport.finishedAtMs : null,
    },
    nextDueAtMs: nowMs + 300_000,
    staleAfterMs: () => 900_000,
    ...changes,
  };
}

function read(series: ReturnType<typeof createCheckSeries>, atMs = nowMs): Map<string, ParsedFamily> {
  const text = series.render(atMs).join("");
  return text === "" ? new Map() : parseExposition(text);
}

function severities(families: ReadonlyMap<string, ParsedFamily>): Record<string, number | null> {
  return Object.fromEntries(
    ["ok", "warn", "fail", "unknown"].map((severity) => [
      severity,
      seriesValue(families, "flatline_check_severity", { severity }),
    ]),
  );
}

function keysOf(families: ReadonlyMap<string, ParsedFamily>, name: string): (string | undefined)[] {
  return (families.get(name)?.samples ?? []).map((sample) => sample.labels["key"]);
}

const resultOnly = [
  "flatline_check_observed",
  "flatline_check_threshold",
  "flatline_check_findings",
  "flatline_check_deaths",
  "flatline_check_expected_deaths",
  "flatline_check_asset_type_excess",
];

describe("the series of a check", () => {
  it("are, before the first run, the next run and the runs at 0 only", () => {
    const series = createCheckSeries();

    series.set(input(null));

    const families = read(series);
    expect([...families.keys()]).toEqual(["flatline_check_next_run_timestamp_seconds", "flatline_check_runs_total"]);
    expect(families.get("flatline_check_runs_total")?.samples.map(({ value }) => value)).toEqual([0, 0, 0, 0]);
    expect(seriesValue(families, "flatline_check_next_run_timestamp_seconds")).toBe(nowMs / 1_000 + 300);
  });

  it("show a result", () => {
    const series = createCheckSeries();

    series.set(
      input(
        resultReport({
          finishedAtMs: nowMs - 1_500,
          evidence: { ...noEvidence, assetTypes: [{ assetType: "URL", excess: 30.5 }] },
        }),
      ),
    );

    const families = read(series);
    expect(severities(families)).toEqual({ ok: 0, warn: 0, fail: 1, unknown: 0 });
    expect(seriesValue(families, "flatline_check_up", { check: "dead-asset-spike", slug: "acme" })).toBe(1);
    expect(seriesValue(families, "flatline_check_observed", { key: "ratio" })).toBe(7);
    expect(seriesValue(families, "flatline_check_threshold", { key: "minSpikeCount" })).toBe(10);
    expect(seriesValue(families, "flatline_check_findings", { severity: "fail" })).toBe(1);
    expect(seriesValue(families, "flatline_check_findings", { severity: "warn" })).toBe(0);
    expect(seriesValue(families, "flatline_check_findings", { severity: "ok" })).toBe(0);
    expect(seriesValue(families, "flatline_check_deaths")).toBe(42);
    expect(seriesValue(families, "flatline_check_expected_deaths")).toBe(6);
    expect(seriesValue(families, "flatline_check_asset_type_excess", { asset_type: "URL" })).toBe(30.5);
    expect(seriesValue(families, "flatline_check_last_run_timestamp_seconds")).toBe(nowMs / 1_000 - 1.5);
    expect(seriesValue(families, "flatline_check_last_success_timestamp_seconds")).toBe(nowMs / 1_000 - 1.5);
  });

  it("show no key of an upstream's that is neither a finite number nor a boolean, and the first 32 by name", () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, index]));
    const series = createCheckSeries();

    series.set(
      input(
        resultReport({
          result: {
            observed: {
              ...many,
              a: true,
              b: false,
              c: "3",
              d: null,
              e: Number.NaN,
              f: Number.POSITIVE_INFINITY,
              g: -0.5,
            },
            threshold: { 'q"\\\n': 1, "": 2 },
          },
        }),
      ),
    );

    const families = read(series);
    expect(keysOf(families, "flatline_check_observed")).toEqual([
      "a",
      "b",
      "g",
      ...Object.keys(many).sort().slice(0, 29),
    ]);
    expect(seriesValue(families, "flatline_check_observed", { key: "a" })).toBe(1);
    expect(seriesValue(families, "flatline_check_observed", { key: "b" })).toBe(0);
    expect(keysOf(families, "flatline_check_threshold")).toEqual(["", 'q"\\\n']);
  });

  it("have no counts where the result has none", () => {
    const series = createCheckSeries();

    series.set(
      input(resultReport({ counts: { currentCount: null, baselineCount: null, expectedCount: null, ratio: null } })),
    );

    const names = [...read(series).keys()];
    expect(names).not.toContain("flatline_check_deaths");
    expect(names).not.toContain("flatline_check_expected_deaths");
    expect(names).not.toContain("flatline_check_asset_type_excess");
  });

  it("name at most five asset types, each once", () => {
    const types = ["A", "B", "A", "C", "D", "E", "F"].map((assetType, index) => ({ assetType, excess: 10 - index }));
    const series = createCheckSeries();

    series.set(input(resultReport({ evidence: { ...noEvidence, assetTypes: types } })));

    const samples = read(series).get("flatline_check_asset_type_excess")?.samples ?? [];
    expect(samples.map(({ labels }) => labels["asset_type"])).toEqual(["A", "B", "C", "D", "E"]);
  });

  it("hide what an earlier result said after a failed run", () => {
    const series = createCheckSeries();
    series.set(input(resultReport({ finishedAtMs: nowMs - 300_000 })));

    const failed = input(errorReport({ finishedAtMs: nowMs }));
    series.set({ ...failed, last: failed.last && { ...failed.last, lastSuccessAtMs: nowMs - 300_000 } });

    const families = read(series);
    expect(severities(families)).toEqual({ ok: 0, warn: 0, fail: 0, unknown: 1 });
    expect(seriesValue(families, "flatline_check_up")).toBe(0);
    expect(resultOnly.filter((name) => families.has(name))).toEqual([]);
    expect(seriesValue(families, "flatline_check_last_run_timestamp_seconds")).toBe(nowMs / 1_000);
    expect(seriesValue(families, "flatline_check_last_success_timestamp_seconds")).toBe(nowMs / 1_000 - 300);
  });

  it("show a verdict as after a failed run once it is older than its limit, and not before", () => {
    const series = createCheckSeries();
    series.set(input(resultReport({ finishedAtMs: nowMs }), { staleAfterMs: () => 120_000 }));

    const countFresh = (): number => series.countFresh("dead-asset-spike", nowMs + 120_000);
    const [fresh, whenFresh] = [read(series, nowMs + 120_000), countFresh()];
    const stale = read(series, nowMs + 120_001);

    expect(severities(fresh)["fail"]).toBe(1);
    expect(severities(stale)).toEqual({ ok: 0, warn: 0, fail: 0, unknown: 1 });
    expect(seriesValue(stale, "flatline_check_up")).toBe(0);
    expect(resultOnly.filter((name) => stale.has(name))).toEqual([]);
    // Also by a clock that was set back meanwhile.
    expect([whenFresh, countFresh()]).toEqual([1, 0]);
  });

  it("are those of each target, whatever comes, goes and comes back", () => {
    const step = fc.record({
      slug: fc.constantFrom("a", "b", "c", "d"),
      severity: fc.constantFrom("ok" as const, "fail" as const, "unknown" as const, "gone" as const),
      currentCount: fc.integer({ min: 0, max: 100_000 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const series = createCheckSeries();
        const expected = new Map<string, number | null>();
        const inputs = new Map<string, CheckSeriesInput>();
        const set = (slug: string, given: CheckSeriesInput): void => {
          series.set(given);
          inputs.set(slug, given);
        };
        steps.forEach(({ slug, severity, currentCount }, index) => {
          const finishedAtMs = nowMs + index;
          if (severity === "gone") {
            inputs.delete(slug);
            series.setAll(inputs.values());
            expected.delete(slug);
          } else if (severity === "unknown") {
            set(slug, input(errorReport({ slug, finishedAtMs })));
            expected.set(slug, null);
          } else {
            const counts = { currentCount, baselineCount: 1, expectedCount: 1, ratio: 1 };
            set(slug, input(resultReport({ slug, severity, finishedAtMs, counts })));
            expected.set(slug, currentCount);
          }
        });

        const families = read(series, nowMs + steps.length);

        for (const slug of ["a", "b", "c", "d"]) {
          const up = seriesValue(families, "flatline_check_up", { slug });
          const count = seriesValue(families, "flatline_check_deaths", { slug });
          expect({ slug, up, count }).toEqual({
            slug,
            up: expected.has(slug) ? Number(expected.get(slug) !== null) : null,
            count: expected.get(slug) ?? null,
          });
        }
      }),
    );
  });

  const free = fc.dictionary(
    fc.string({ unit: "binary" }),
    fc.oneof(fc.double(), fc.boolean(), fc.string(), fc.constant(null)),
    { noNullPrototype: true },
  );

  it("read back as the maps of any organization, with every escape", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ unit: "binary", minLength: 1 }), { maxLength: 4 }),
        free,
        (slugs, observed) => {
          const series = createCheckSeries();
          for (const slug of slugs) series.set(input(resultReport({ slug, result: { observed } })));

          const families = read(series);

          const expected = Object.entries(observed)
            .map(([key, value]) => [key, typeof value === "boolean" ? Number(value) : value] as const)
            .filter((entry): entry is [string, number] => typeof entry[1] === "number" && Number.isFinite(entry[1]))
            .sort(([left], [right]) => (left < right ? -1 : 1))
            .slice(0, 32)
            .map(([key, value]) => [key, value + 0]);
          for (const slug of slugs) {
            const samples = (families.get("flatline_check_observed")?.samples ?? []).filter(
              ({ labels }) => labels["slug"] === slug,
            );
            expect(samples.map(({ labels, value }) => [labels["key"], value])).toEqual(expected);
          }
        },
      ),
    );
  });
});

describe("renderReport", () => {
  it("gives up 0 and unknown for a failed run", () => {
    const families = parseExposition(renderReport(errorReport()));

    expect([...families.keys()]).toEqual(["flatline_check_severity", "flatline_check_up"]);
    expect(seriesValue(families, "flatline_check_up")).toBe(0);
    expect(severities(families)["unknown"]).toBe(1);
  });
});
