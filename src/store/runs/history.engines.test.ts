import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { errorReport, resultReport } from "../../../test/support/check-reports.ts";
import { createRunProcess, type RunProcess } from "../../../test/support/program/run-process.ts";
import { storeEngines, type OpenedStore } from "../../../test/support/store/engines.ts";
import { isLong } from "../../../test/support/tier.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { dayMs, hourMs, minuteMs } from "../../base/time.ts";
import { compareSeverity, severities, type Severity } from "../../contract/severity.ts";
import type { CheckReport, ResultReport } from "../../contract/report.ts";
import type { Store } from "../store.ts";
import type { VerdictPoint } from "./history.ts";

const startMs = Date.UTC(2026, 5, 1);
const all = { check: "dead-asset-spike", slug: "acme", fromMs: 0, toMs: startMs + 400 * dayMs } as const;

let opened: OpenedStore;
let store: Store;
let own: RunProcess;

/** A run at `atMs` with so many deaths. */
function run(atMs: number, severity: Severity = "ok", currentCount: number | null = 3): CheckReport {
  if (severity === "unknown") return errorReport({ finishedAtMs: atMs });
  return resultReport({
    finishedAtMs: atMs,
    severity,
    counts: { currentCount, baselineCount: 70, expectedCount: 10, ratio: null },
  });
}

const append = (reports: readonly CheckReport[]): Promise<void> => own.record(...reports);

async function pruneAll(nowMs: number, retentionMs = 90 * dayMs, maxRows = 1_000): Promise<number> {
  const limits = { beforeMs: nowMs - retentionMs, thinBeforeMs: nowMs - 7 * dayMs, maxRows };
  let slices = 1;
  while ((await store.runs.pruneHours(limits)).hasMore) slices++;
  while ((await store.runs.pruneReports(limits)).hasMore) slices++;
  return slices;
}

const keptAt = async (): Promise<number[]> =>
  (await own.history.reports({ ...all, limit: 10_000 })).map((report) => report.finishedAtMs - startMs);

describe.each(storeEngines)("on $engine,", ({ openTemporary }) => {
  beforeEach(async () => {
    const clock = createVirtualClock({ startMs });
    opened = await openTemporary(clock);
    store = opened.store;
    own = await createRunProcess(store, clock);
  });
  afterEach(() => opened.close());

  describe("the verdict history", () => {
    const base = run(startMs) as ResultReport;
    const later = (afterMs: number, result: Partial<ResultReport["result"]> = {}): CheckReport => ({
      ...base,
      finishedAtMs: startMs + afterMs,
      result: { ...base.result, ...result },
    });
    const finding = { kind: "dead-asset-spike", ref: "acme", severity: "warn", message: "12 deaths" } as const;
    it.each([
      { rule: "numbers only while nothing changes", report: later(5 * minuteMs), isKept: false },
      { rule: "the whole report when the severity changes", report: run(startMs + 5 * minuteMs, "warn"), isKept: true },
      {
        rule: "the whole report when a threshold changes",
        report: later(5 * minuteMs, { threshold: { ...base.result.threshold, failMultiplier: 6 } }),
        isKept: true,
      },
      {
        rule: "numbers only for other findings within the hour",
        report: later(hourMs - 1, { findings: [finding] }),
        isKept: false,
      },
      {
        rule: "the whole report for other findings after an hour",
        report: later(hourMs, { findings: [finding] }),
        isKept: true,
      },
      { rule: "the whole report once a day", report: later(dayMs), isKept: true },
      { rule: "the whole report after the clock went back a day", report: later(-dayMs), isKept: true },
    ])("keeps $rule", async ({ report, isKept }) => {
      await append([base, report]);

      expect(await keptAt()).toHaveLength(isKept ? 2 : 1);
    });

    it("does not take other words in the findings, or another order of them, for a change", async () => {
      const other = { ...finding, kind: "dead-asset-spike.asset-type", ref: "URL" };
      await append([
        { ...base, severity: "warn", result: { ...base.result, severity: "warn", findings: [finding, other] } },
        {
          ...base,
          finishedAtMs: startMs + 2 * hourMs,
          severity: "warn",
          result: { ...base.result, severity: "warn", findings: [other, { ...finding, message: "13 deaths" }] },
        },
      ]);

      expect(await keptAt()).toEqual([0]);
    });

    it("keeps what metrics show of an answer with ten thousand observed keys, and little else", async () => {
      const observed = Object.fromEntries(
        Array.from({ length: 10_000 }, (_, index) => [`key-${String(index).padStart(5, "0")}`, index]),
      );
      const findings = Array.from({ length: 500 }, (_, index) => ({
        ...finding,
        ref: `${index}`,
        message: "x".repeat(5_000),
      }));
      await append([{ ...base, result: { ...base.result, observed, findings } }]);

      const [kept] = (await own.history.reports({ ...all, limit: 1 })) as ResultReport[];

      expect(Object.keys(kept?.result.observed ?? {})).toEqual(Object.keys(observed).slice(0, 64));
      expect(kept?.result.findings).toHaveLength(20);
      expect(JSON.stringify(kept).length).toBeLessThan(16_384);
    });
  });

  describe("the fold", () => {
    // An hour's run may be anywhere in it; several checks, so that a fold has some of each.
    const history = fc.array(
      fc.record({
        atMs: fc.integer({ min: 0, max: 30 * hourMs }),
        severity: fc.constantFrom(...severities),
        count: fc.option(fc.integer({ min: 0, max: 500 }), { nil: null }),
      }),
      { maxLength: 30 },
    );

    it("leaves every run as it was, whenever it comes, and drawings an hour for each old one", async () => {
      let series = 0;
      const property = fc.asyncProperty(
        fc.array(history, { minLength: 1, maxLength: 3 }),
        fc.nat({ max: 3 }),
        fc.integer({ min: 0, max: 30 }),
        async (histories, folds, youngHours) => {
          const nowMs = startMs + youngHours * hourMs + 7 * dayMs;
          const slugs = histories.map(() => `slug-${series++}`);
          for (const [index, slug] of slugs.entries()) {
            const runs = histories[index] ?? [];
            await append(runs.map(({ atMs, severity, count }) => ({ ...run(startMs + atMs, severity, count), slug })));
            if (index < folds) await own.fold();
          }

          for (const [index, slug] of slugs.entries()) {
            const runs = (histories[index] ?? []).map(({ atMs, severity, count }) =>
              pointOf(startMs + atMs, severity, count),
            );
            const byTime = [...new Map(runs.map((one) => [one.atMs, one])).values()].toSorted(
              (a, b) => a.atMs - b.atMs,
            );
            const query = { ...all, slug, toMs: nowMs };
            expect((await own.history.runs(query)).map(({ atMs }) => atMs)).toEqual(byTime.map(({ atMs }) => atMs));
            expect(await own.history.points(query)).toEqual(bruteForce(byTime, nowMs - 7 * dayMs));
          }
        },
      );
      await fc.assert(property, { numRuns: isLong ? 60 : 8 });
    });

    it("merges what comes late into the hour that it belongs to", async () => {
      await append([run(startMs + 10, "ok", 5), run(startMs + 30, "warn", 20)]);
      await own.fold();
      await append([run(startMs + 20, "fail", 2)]);

      await own.fold();

      expect(await own.history.points({ ...all, toMs: startMs + 8 * dayMs })).toMatchObject([
        { atMs: startMs + 30, severity: "fail", currentCount: 20, minCurrentCount: 2, maxCurrentCount: 20 },
      ]);
    });

    it("leaves the last state of each check to whoever starts next, with what was not folded", async () => {
      await append([run(startMs + 10, "fail", 90), { ...run(startMs + 11, "unknown"), slug: "globex" }]);
      await own.fold();
      await append([run(startMs + 20, "unknown"), run(startMs + 30, "unknown")]);

      const next = await createRunProcess(store, createVirtualClock({ startMs }));

      expect(next.board.state("dead-asset-spike", "acme")).toMatchObject({
        severity: "unknown",
        severitySinceMs: startMs + 20,
        lastRunAtMs: startMs + 30,
        lastSuccessAtMs: startMs + 10,
        lastReport: run(startMs + 30, "unknown"),
        lastResultReport: run(startMs + 10, "fail", 90),
      });
      expect(next.board.state("dead-asset-spike", "globex")).toMatchObject({ lastRunAtMs: startMs + 11 });
    });
  });

  describe("retention", () => {
    it("keeps of each old day the first report of each severity, and every report of the last week", async () => {
      const flapping = Array.from({ length: 9 * 12 }, (_, index) =>
        run(startMs + index * 2 * hourMs, index % 2 === 0 ? "ok" : "fail", index),
      );
      await append(flapping);

      await pruneAll(startMs + 9 * dayMs);

      const kept = await keptAt();
      const old = [0, 2 * hourMs, dayMs, dayMs + 2 * hourMs];
      expect(kept.slice(0, 4)).toEqual(old);
      expect(kept.slice(4)).toEqual(Array.from({ length: 7 * 12 }, (_, index) => 2 * dayMs + index * 2 * hourMs));
    });

    it("drops whole hours, in slices, of organizations that are gone too", async () => {
      const runs = Array.from({ length: 50 }, (_, index) => run(startMs + index * hourMs, "ok", index));
      await append([...runs, ...runs.map((report) => ({ ...report, slug: "gone" }))]);
      await own.fold();

      const slices = await pruneAll(startMs + 60 * hourMs, dayMs, 7);

      expect(slices).toBeGreaterThan(5);
      for (const slug of ["acme", "gone"]) {
        const left = await own.history.runs({ ...all, slug });
        expect(left.map(({ atMs }) => (atMs - startMs) / hourMs)).toEqual(
          Array.from({ length: 14 }, (_, index) => index + 36),
        );
      }
      expect(await keptAt()).toEqual([48 * hourMs]);
    });
  });

  function pointOf(atMs: number, severity: Severity, count: number | null): VerdictPoint {
    const isUnknown = severity === "unknown";
    const currentCount = isUnknown ? null : count;
    return {
      atMs,
      severity,
      currentCount,
      baselineCount: isUnknown ? null : 70,
      expectedCount: isUnknown ? null : 10,
      minCurrentCount: currentCount,
      maxCurrentCount: currentCount,
    };
  }

  function bruteForce(runs: readonly VerdictPoint[], beforeMs: number): VerdictPoint[] {
    const old = runs.filter(({ atMs }) => atMs < beforeMs);
    const hours = [...Map.groupBy(old, ({ atMs }) => Math.floor(atMs / hourMs)).values()].flatMap((hour) => {
      const last = hour.at(-1);
      if (last === undefined) return [];
      const counts = hour.flatMap(({ currentCount }) => currentCount ?? []);
      return [
        {
          ...last,
          severity:
            hour
              .map(({ severity }) => severity)
              .toSorted(compareSeverity)
              .at(-1) ?? "ok",
          minCurrentCount: counts.length === 0 ? null : Math.min(...counts),
          maxCurrentCount: counts.length === 0 ? null : Math.max(...counts),
        },
      ];
    });
    return [...hours, ...runs.filter(({ atMs }) => atMs >= beforeMs)];
  }
});
