import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { errorReport, resultReport } from "../../../test/support/check-reports.ts";
import { pointsOf, createRunProcess, type RunProcess } from "../../../test/support/program/run-process.ts";
import { storeEngines, type OpenedStore } from "../../../test/support/store/engines.ts";
import { isLong } from "../../../test/support/tier.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { dayMs, hourMs, minuteMs } from "../../base/time.ts";
import type { CheckReport, ResultReport } from "../../contract/report.ts";
import { severities, worstSeverity, type Severity } from "../../contract/severity.ts";
import type { RunPoint } from "./history.ts";

const startMs = Date.UTC(2026, 5, 1);
const check = "dead-asset-spike";
const all = { check, slug: "acme", fromMs: 0, toMs: startMs + 400 * dayMs };

let opened: OpenedStore;
let own: RunProcess;

/** A run at `atMs` with so many deaths. */
function run(atMs: number, severity: Severity = "ok", currentCount: number | null = 3): CheckReport {
  if (severity === "unknown") return errorReport({ finishedAtMs: atMs });
  const counts = { currentCount, baselineCount: 70, expectedCount: 10, ratio: null };
  return resultReport({ finishedAtMs: atMs, severity, counts });
}

/** The runs of one hour, or one run, as a point. */
function pointOf(runs: readonly CheckReport[]): RunPoint {
  const last = runs.at(-1);
  const counts = last?.kind === "result" ? last.counts : { currentCount: null, expectedCount: null };
  return {
    atMs: last?.finishedAtMs ?? 0,
    severity: worstSeverity(runs.map(({ severity }) => severity)),
    currentCount: counts.currentCount,
    expectedCount: counts.expectedCount,
    runs: runs.length,
    answered: runs.filter(({ kind }) => kind === "result").length,
  };
}

const points = async (slug = "acme", isHourly = false) =>
  (await pointsOf(own.history, { ...all, slug, isHourly })).map(({ ...point }) => point);
const keptAt = async (): Promise<number[]> =>
  (await own.history.reports({ ...all, limit: 10_000 })).map((report) => report.finishedAtMs - startMs);

describe.each(storeEngines)("on $engine,", ({ openTemporary }) => {
  beforeEach(async () => {
    const clock = createVirtualClock({ startMs });
    opened = await openTemporary(clock);
    own = await createRunProcess(opened.store, clock);
  });
  afterEach(() => opened.close());

  const base = run(startMs) as ResultReport;
  const later = (afterMs: number, result: Partial<ResultReport["result"]> = {}): CheckReport => ({
    ...base,
    severity: result.severity ?? "ok",
    finishedAtMs: startMs + afterMs,
    result: { ...base.result, ...result },
  });
  const finding = { kind: "dead-asset-spike", ref: "acme", severity: "warn", message: "12 deaths" } as const;
  const warns = { severity: "warn", findings: [finding] } as const;

  it.each([
    { rule: "none while nothing but numbers changes", reports: [later(dayMs)], kept: [0] },
    { rule: "one of another severity", reports: [later(minuteMs, warns)], kept: [0, minuteMs] },
    {
      rule: "one with another threshold",
      reports: [later(minuteMs, { threshold: { ...base.result.threshold, failMultiplier: 6 } })],
      kept: [0, minuteMs],
    },
    {
      rule: "the first of each hour that is not ok",
      reports: [later(1, warns), later(2, warns), later(hourMs, warns), later(hourMs + 1, warns)],
      kept: [0, 1, hourMs],
    },
  ])("keeps of the reports $rule", async ({ reports, kept }) => {
    await own.record(base, ...reports);

    expect(await keptAt()).toEqual(kept);
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
    await own.record({ ...base, result: { ...base.result, observed, findings } });

    const [kept] = (await own.history.reports({ ...all, limit: 1 })) as ResultReport[];

    expect(Object.keys(kept?.result.observed ?? {})).toEqual(Object.keys(observed).slice(0, 64));
    expect(kept?.result.findings).toHaveLength(20);
    expect(JSON.stringify(kept).length).toBeLessThan(16_384);
  });

  // An hour's run may be anywhere in it; several checks, so that each step has some of each.
  const history = fc.array(
    fc.record({
      atMs: fc.integer({ min: 0, max: 30 * hourMs }),
      severity: fc.constantFrom(...severities),
      count: fc.option(fc.integer({ min: 0, max: 500 }), { nil: null }),
    }),
    { maxLength: 30 },
  );

  it("has each run of the last days, and of older ones the hours, whenever these are made", async () => {
    let series = 0;
    const property = fc.asyncProperty(
      fc.array(history, { minLength: 1, maxLength: 3 }),
      fc.array(fc.integer({ min: 0, max: 31 }), { maxLength: 3 }),
      fc.integer({ min: 0, max: 31 }),
      async (histories, madeHours, goneHours) => {
        const slugs = histories.map(() => `slug-${series++}`);
        const runsOf = (index: number): CheckReport[] =>
          [...new Map((histories[index] ?? []).map((one) => [one.atMs, one])).values()]
            .map(({ atMs, severity, count }) => ({ ...run(startMs + atMs, severity, count), slug: slugs[index] ?? "" }))
            .toSorted((left, right) => left.finishedAtMs - right.finishedAtMs);
        for (const [index] of slugs.entries()) await own.record(...runsOf(index));
        for (const hour of madeHours.toSorted((left, right) => left - right)) await own.tidy(startMs + hour * hourMs);
        const goneMs = startMs + goneHours * hourMs;
        await own.tidy(startMs + 31 * hourMs, { runsBeforeMs: goneMs });

        for (const [index, slug] of slugs.entries()) {
          const hours = [...Map.groupBy(runsOf(index), (one) => Math.floor(one.finishedAtMs / hourMs)).values()];
          expect(await points(slug, true)).toMatchObject(hours.map(pointOf));
          const isOld = (one: readonly CheckReport[]): boolean => (one[0]?.finishedAtMs ?? 0) < goneMs;
          const single = hours.filter((one) => !isOld(one)).flat();
          const expected = [...hours.filter(isOld).map(pointOf), ...single.map((one) => pointOf([one]))];
          expect(await points(slug)).toMatchObject(expected);
        }
      },
    );
    await fc.assert(property, { numRuns: isLong ? 60 : 8 });
  });

  it("makes an hour anew for a run that comes while the next one is going on", async () => {
    await own.record(run(startMs + 10), run(startMs + 30, "warn", 20));
    await own.tidy(startMs + hourMs);
    await own.record(run(startMs + 40, "fail", 2));

    await own.tidy(startMs + 2 * hourMs);

    expect(await points("acme", true)).toMatchObject([
      { atMs: startMs + 40, severity: "fail", currentCount: 2, runs: 3, answered: 3 },
    ]);
  });

  it("adds a past beside the runs that are there, and hours of it at once", async () => {
    await own.record(run(startMs + hourMs, "fail", 90));
    const past = [0, hourMs, -5 * hourMs].map((atMs) => ({
      atMs: startMs + atMs,
      severity: "ok" as const,
      currentCount: 1,
      expectedCount: 2,
    }));
    await own.history.addPast(check, "acme", past);

    expect((await points()).map(({ atMs, currentCount }) => [atMs - startMs, currentCount])).toEqual([
      [-5 * hourMs, 1],
      [0, 1],
      [hourMs, 90],
    ]);
    expect(await own.history.firstAtMs(check, "acme")).toBe(startMs - 5 * hourMs);
    expect(await own.history.firstAtMs(check, "globex")).toBeNull();
  });

  it("deletes what is too old, of gone organizations with their names, and numbers what comes anew", async () => {
    const runs = Array.from({ length: 50 }, (_, index) => run(startMs + index * hourMs, "ok", index));
    await own.record(...runs, ...runs.slice(0, 9).map((report) => ({ ...report, slug: "gone" })));
    await opened.store.runs.forget(own.board.keepOnly(({ slug }) => slug !== "gone"));

    await own.tidy(startMs + 60 * hourMs, { beforeMs: startMs + 36 * hourMs, runsBeforeMs: startMs + 40 * hourMs });

    expect((await points()).map(({ atMs }) => (atMs - startMs) / hourMs)).toEqual(
      Array.from({ length: 14 }, (_, index) => index + 36),
    );
    expect(await keptAt()).toEqual([]);
    expect((await opened.store.runs.load()).map(({ slug }) => slug)).toEqual(["acme"]);
    await own.record(
      { ...run(startMs + 51 * hourMs), slug: "globex" },
      { ...run(startMs + 52 * hourMs), slug: "gone" },
    );
    expect(await points("gone")).toHaveLength(1);
    expect(await points("globex")).toHaveLength(1);
  });

  it("leaves the last state of each check to whoever starts next", async () => {
    await own.record(run(startMs + 10, "fail", 90), { ...run(startMs + 11, "unknown"), slug: "globex" });
    await own.record(run(startMs + 20, "unknown"), run(startMs + 30, "unknown"));

    const next = await createRunProcess(opened.store, createVirtualClock({ startMs }));

    expect(next.board.state(check, "acme")).toMatchObject({
      severity: "unknown",
      severitySinceMs: startMs + 20,
      lastRunAtMs: startMs + 30,
      lastSuccessAtMs: startMs + 10,
      lastReport: run(startMs + 30, "unknown"),
      lastResultReport: run(startMs + 10, "fail", 90),
    });
    expect(next.board.state(check, "globex")).toMatchObject({ lastRunAtMs: startMs + 11 });
  });
});
