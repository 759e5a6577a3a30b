import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { errorReport, resultReport } from "../../../test/support/check-reports.ts";
import type { CheckReport } from "../../contract/report.ts";
import { severities } from "../../contract/severity.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { HourPacker, mergeRuns, packHour, unpackHour, type RunPoint } from "./hour-runs.ts";
import { runsOfRow } from "../../../test/support/store/row-runs.ts";
import { nothingRead, packRow, WrittenRuns, type JournalRun, type RowRuns } from "./journal-row.ts";
import { joinReport, splitReport } from "./report-shape.ts";

const number = fc.oneof(
  fc.integer({ min: 0, max: 1_000 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.maxSafeInteger(),
);
const nullable = fc.option(number, { nil: null });

const run: fc.Arbitrary<RunPoint> = fc.record({
  atMs: fc.integer({ min: 0, max: 4_000_000_000_000 }),
  evaluatedAtMs: fc.integer({ min: 0, max: 4_000_000_000_000 }),
  severity: fc.constantFrom(...severities),
  currentCount: nullable,
  baselineCount: nullable,
  expectedCount: nullable,
  rule: fc.option(fc.record({ windowHours: fc.integer({ min: 1, max: 1_000 }), baselineDays: fc.constantFrom(1, 7) }), {
    nil: null,
  }),
});

const point: fc.Arbitrary<RunPoint> = fc.oneof(
  run,
  fc.tuple(run, fc.constantFrom(1_767_225_600_000, 1_767_225_600_007)).map(([past, computedAtMs]) => ({
    ...past,
    computedAtMs,
  })),
);

/** Runs at an even gap that find the same. */
const repeated = fc
  .tuple(point, fc.integer({ min: 0, max: 3_600_000 }), fc.integer({ min: 1, max: 8 }))
  .map(([first, gapMs, times]) =>
    Array.from({ length: times }, (_, index) => ({
      ...first,
      atMs: first.atMs + index * gapMs,
      evaluatedAtMs: first.evaluatedAtMs + index * gapMs,
    })),
  );

function calm(index: number): RunPoint {
  const atMs = 1_780_000_000_000 + index * 60_000;
  const counts = { currentCount: 180, baselineCount: 1_262, expectedCount: (1_262 * 24) / 168 };
  return { atMs, evaluatedAtMs: atMs - 3, severity: "ok", ...counts, rule: { windowHours: 24, baselineDays: 7 } };
}

const report = fc
  .record({
    isError: fc.boolean(),
    startedAtMs: fc.integer({ min: 0, max: 2_000_000_000_000 }),
    durationMs: fc.integer({ min: -5_000, max: 60_000 }),
    current: nullable,
    baseline: nullable,
    expected: nullable,
    coverage: nullable,
    warnAbove: number,
    finding: fc.option(fc.string(), { nil: null }),
  })
  .map(
    ({ isError, startedAtMs, durationMs, current, baseline, expected, coverage, warnAbove, finding }): CheckReport => {
      const times = { startedAtMs, finishedAtMs: startedAtMs + durationMs };
      if (isError) return errorReport(times);
      const counts = { currentCount: current, baselineCount: baseline, expectedCount: expected, ratio: null };
      return resultReport({
        ...times,
        severity: finding === null ? "ok" : "warn",
        counts,
        baselineCoverage: coverage,
        result: {
          observed: { ...counts, day1: 3 },
          threshold: { windowHours: 24, baselineDays: 7, warnMultiplier: 2, failMultiplier: 4, warnAbove },
          findings: finding === null ? [] : [{ kind: "odd", ref: "acme", severity: "warn", message: finding }],
        },
      });
    },
  );

/** As JSON has it: without a negative zero. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function runOf(checkId: number, one: CheckReport, dueAtMs = one.startedAtMs - 7): JournalRun {
  const { startedAtMs, finishedAtMs } = one;
  return { checkId, dueAtMs, startedAtMs, finishedAtMs, isAsked: false, isReportKept: false, report: splitReport(one) };
}

function rowOf(runs: readonly JournalRun[]): RowRuns {
  return { runs, repeats: [] };
}

describe("bytes", () => {
  it("are read as they were written", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(nullable, number)),
        fc.array(fc.maxSafeInteger()),
        fc.string(),
        (numbers, whole, text) => {
          const writer = new ByteWriter();
          for (const [value, expected] of numbers) writer.number(value, expected);
          for (const value of whole) writer.varint(Math.abs(value));
          for (const value of whole) writer.signed(Math.trunc(value / 4));
          writer.text(text.toWellFormed());

          const reader = new ByteReader(writer.bytes());

          for (const [value, expected] of numbers) expect(reader.number(expected)).toEqual(value);
          for (const value of whole) expect(reader.varint()).toBe(Math.abs(value));
          for (const value of whole) expect(reader.signed() + 0).toBe(Math.trunc(value / 4) + 0);
          expect(reader.text()).toBe(text.toWellFormed());
          expect(reader.isAtEnd).toBe(true);
        },
      ),
    );
  });

  it("that end too early are refused", () => {
    const writer = new ByteWriter();
    writer.text("acme");

    const cut = new ByteReader(writer.bytes().subarray(0, 3));

    expect(() => cut.text()).toThrow(/damaged/);
  });
});

describe("a row of the journal", () => {
  it("gives back every run with its whole report", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(report, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 }),
        (rows) => {
          const numbers = new WrittenRuns();
          const known = nothingRead();
          for (const reports of rows) {
            const runs = reports.map((one, index) => ({ ...runOf(index * 3 + 1, one), isAsked: index % 2 === 1 }));

            const read = runsOfRow(packRow(rowOf(runs), numbers), known);

            const byId = read.toSorted((left, right) => left.checkId - right.checkId);
            expect(byId.map(({ isAsked, dueAtMs }) => [isAsked, dueAtMs])).toEqual(
              runs.map(({ isAsked, dueAtMs }) => [isAsked, dueAtMs]),
            );
            expect(
              byId.map((run) => plain(joinReport(run.report, { check: "dead-asset-spike", slug: "acme", ...run }))),
            ).toMatchObject(reports.map(plain) as object[]);
          }
        },
      ),
    );
  });

  it("takes some bytes for a run whose numbers follow from its counts", () => {
    const runs = Array.from({ length: 500 }, (_, index) => {
      const counts = { currentCount: 4, baselineCount: 70, expectedCount: 10, ratio: 0.4 };
      const one = resultReport({
        severity: "ok",
        counts,
        startedAtMs: 1_780_000_000_000,
        finishedAtMs: 1_780_000_000_004,
      });
      const observed = { ...counts };
      const threshold = { ...one.result.threshold, warnAbove: 20, failAbove: 40 };
      const generatedAt = new Date(one.startedAtMs).toISOString();
      return runOf(index + 1, { ...one, result: { ...one.result, observed, threshold, generatedAt } });
    });

    const bytes = packRow(rowOf(runs), new WrittenRuns());

    const shape = runs[0]?.report.shape.text.length ?? 0;
    expect((bytes.length - shape) / runs.length).toBeLessThan(8);
  });

  it("takes two bytes for all runs of checks side by side that found the same as before", () => {
    const first = Array.from({ length: 500 }, (_, index) => runOf(index + 1, resultReport()));
    const again = first.map((run) => ({
      ...run,
      dueAtMs: run.dueAtMs + 60_000,
      startedAtMs: run.startedAtMs + 60_000,
    }));
    const written = new WrittenRuns();
    const known = nothingRead();
    runsOfRow(packRow(rowOf(first), written), known);

    const bytes = packRow(rowOf(again.toReversed()), written);

    expect(bytes.length).toBeLessThan(32);
    expect(runsOfRow(bytes, known)).toEqual(again);
  });

  it("writes out what a reader cannot know from the run before it: asked for, kept, or of another report", () => {
    const written = new WrittenRuns();
    const known = nothingRead();
    const [one, other] = [runOf(1, resultReport()), runOf(1, errorReport())];
    const runs = [one, { ...one, isAsked: true }, one, { ...one, isReportKept: true }, other, one, one];

    const read = runs.map((run) => runsOfRow(packRow(rowOf([run]), written), known));

    expect(read).toEqual(runs.map((run) => [run]));
  });

  it("leaves out the repeats of a report that cannot be read", () => {
    const written = new WrittenRuns();
    const known = nothingRead();
    const run = runOf(1, resultReport());
    runsOfRow(packRow(rowOf([run]), written), known);
    known.last.set(1, null);

    expect(runsOfRow(packRow(rowOf([run]), written), known)).toEqual([]);
  });

  it("is refused when it repeats a run that no row before it has", () => {
    const written = new WrittenRuns();
    const run = runOf(1, resultReport());
    packRow(rowOf([run]), written);

    const second = packRow(rowOf([run]), written);

    expect(() => runsOfRow(second, nothingRead())).toThrow(/repeats a run that no row has/);
  });

  it("is refused when it refers to what no row before it has defined", () => {
    const numbers = new WrittenRuns();
    packRow(rowOf([runOf(1, resultReport())]), numbers);

    const second = packRow(rowOf([runOf(2, resultReport())]), numbers);

    expect(() => runsOfRow(second, nothingRead())).toThrow(/shape that no row defines/);
  });
});

describe("an hour of runs", () => {
  it("gives back every run, whether packed at once or one after the other, and read meanwhile", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.tuple(point), repeated), { maxLength: 30 }), (groups) => {
        const packer = new HourPacker();
        const added: RunPoint[] = [];
        for (const group of groups) {
          for (const one of group) packer.add(one);
          added.push(...group);

          expect(unpackHour(packer.bytes())).toEqual(added);
        }
        expect(packHour(added)).toEqual(packer.bytes());
        expect(packer.count).toBe(added.length);
      }),
    );
  });

  it.each([
    ["0 from -0", 0, -0],
    ["-0 from 0", -0, 0],
  ])("tells %s, which a source may answer", (_name, first, second) => {
    const plain = { ...calm(0), currentCount: first, baselineCount: second, expectedCount: first };
    const points = [plain, { ...plain, atMs: plain.atMs + 1, currentCount: second, expectedCount: second }];

    expect(unpackHour(packHour(points))).toEqual(points);
  });

  it("takes no bytes for runs on time that changed nothing, but for their number", () => {
    const points = Array.from({ length: 60 }, (_, index) => calm(index));
    const third = { ...calm(2), currentCount: 181 };

    expect(packHour(points).length - packHour(points.slice(0, 2)).length).toBe(2);
    expect(packHour([...points.slice(0, 2), third]).length - packHour(points.slice(0, 2)).length).toBe(3);
  });

  it("takes two bytes for the times of a run that is some milliseconds late", () => {
    const late = { ...calm(2), atMs: calm(2).atMs + 41, evaluatedAtMs: calm(2).evaluatedAtMs + 20 };

    expect(packHour([calm(0), calm(1), late]).length - packHour([calm(0), calm(1)]).length).toBe(3);
  });

  it("is refused if it is damaged, however many runs it says there are", () => {
    const writer = new ByteWriter();
    for (const number of [1, 32, 2 ** 50]) writer.varint(number);

    expect(() => unpackHour(writer.bytes())).toThrow(/damaged/);
  });

  it("is merged by the ends of the runs: what is there stays, what is there twice is there once", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(point, { selector: ({ atMs }) => atMs, maxLength: 30 }),
        fc.nat(30),
        (points, split) => {
          const ordered = points.toSorted((left, right) => left.atMs - right.atMs);
          const [left, right] = [ordered.slice(0, split), ordered.slice(Math.max(0, split - 3))];

          expect(mergeRuns(left, right)).toEqual(ordered);
          expect(mergeRuns(right, left)).toEqual(ordered);
          expect(mergeRuns(mergeRuns(left, right), right)).toEqual(ordered);
        },
      ),
    );
  });
});
