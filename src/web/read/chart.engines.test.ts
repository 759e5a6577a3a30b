import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { errorReport, resultReport } from "../../../test/support/check-reports.ts";
import { createRunProcess, type RunProcess } from "../../../test/support/program/run-process.ts";
import { death } from "../../../test/support/store/event-store.ts";
import { storeEngines, type OpenedStore } from "../../../test/support/store/engines.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { dayMs, hourMs, minuteMs } from "../../base/time.ts";
import { defaultThresholds } from "../../spike/thresholds.ts";
import {
  readAnswersChart,
  readDeathsChart,
  type ChartAsk,
  type ChartData,
  type ChartMember,
  type ChartSource,
} from "./chart.ts";

const nowMs = Date.UTC(2026, 10, 23, 22, 7);
const beganMs = nowMs - 30 * minuteMs;

let opened: OpenedStore;
let own: RunProcess;
let running: ChartSource;
let holdsEvents: boolean;

const member = (slug: string, more: Partial<ChartMember> = {}): ChartMember => ({
  slug,
  windowHours: 24,
  expected: 3,
  beganMs,
  ...more,
});

const incident = { beganMs, stoppedMs: null, endedMs: null };

const endsOf = ({ fromMs, toMs, stepMs, count }: ChartData): number[] =>
  count.map((_, index) => Math.min(fromMs + (index + 1) * stepMs, toMs));

const ask = (members: readonly ChartMember[], query = "", more: Partial<ChartAsk> = {}) => ({
  subject: "acme",
  params: new URLSearchParams(query),
  members,
  incident,
  acts: [],
  ...more,
});

/** A run of a check that is due every minute. */
function run(slug: string, atMs: number, currentCount: number | null, expectedCount = 3) {
  if (currentCount === null) return errorReport({ slug, finishedAtMs: atMs });
  const severity = currentCount > 4 * expectedCount ? "fail" : "ok";
  return resultReport({
    slug,
    finishedAtMs: atMs,
    severity,
    counts: { currentCount, baselineCount: 21, expectedCount, ratio: null },
  });
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

describe.each(storeEngines)("on $engine,", ({ openTemporary }) => {
  beforeEach(async () => {
    const clock = createVirtualClock({ startMs: nowMs });
    opened = await openTemporary(clock);
    own = await createRunProcess(opened.store, clock);
    holdsEvents = true;
    running = {
      store: opened.store,
      clock,
      holdsEvents: () => holdsEvents,
      thresholdsOf: () => defaultThresholds,
      countsAssets: (slug) => slug === "flaps",
    };
  });
  afterEach(() => opened.close());

  describe("a chart of stored deaths", () => {
    const routine = (slug: string) =>
      Array.from({ length: 12 }, (_, index) => death(nowMs - 10 * dayMs + index * 20 * hourMs, slug, { count: 2 }));
    const spike = (slug: string, deaths: number) => [
      death(beganMs, slug, { count: 1 }),
      death(beganMs + 3 * minuteMs + 1, slug, { count: deaths - 1 }),
    ];

    it("counts each window, and the bars add up to the deaths of the range", async () => {
      const events = [
        ...routine("acme"),
        ...spike("acme", 50),
        ...routine("globex"),
        ...spike("globex", 30),
        death(beganMs, "initech", { count: 999 }),
      ];
      await opened.store.events.add(events);

      const chart = await readDeathsChart(running, ask([member("acme"), member("globex")]));

      // A death at the instant of a step's end is in the next step.
      const within = (fromMs: number, toMs: number): number =>
        sum(
          events
            .filter((one) => one.slug !== "initech" && one.atMs > fromMs && one.atMs <= toMs)
            .map(({ count }) => count),
        );
      for (const [index, endMs] of endsOf(chart).slice(0, -1).entries())
        expect(chart.count[index]).toBe(within(endMs - dayMs - 1, endMs - 1));
      expect(chart.count.at(-1)).toBe(within(nowMs - dayMs, nowMs));
      expect(sum(chart.deaths ?? [])).toBe(80);
      expect(chart.deaths?.[endsOf(chart).indexOf(Date.UTC(2026, 10, 23, 21, 40))]).toBe(2);
      expect(chart).toMatchObject({ stepMs: 5 * minuteMs, usual: 0.25 / 12, began: [beganMs, beganMs] });
      expect(chart.expected.at(-1)).toBe(6);
    });

    it.each(["24h", "3d", "7d", "90d"])("has the same deaths in bars however long they are: %s", async (range) => {
      const events = [...routine("acme"), ...spike("acme", 50)];
      await opened.store.events.add(events);

      const chart = await readDeathsChart(
        running,
        ask([member("acme"), member("globex")], `range=${range}`, { incident: null }),
      );

      expect(sum(chart.deaths ?? [])).toBe(
        sum(events.filter(({ atMs }) => atMs >= chart.fromMs).map(({ count }) => count)),
      );
      expect(chart.count.length).toBeLessThanOrEqual(171);
    });

    it("counts nothing of what is still to come", async () => {
      const atMs = nowMs + 30_000;
      running = { ...running, clock: createVirtualClock({ startMs: atMs }) };
      await opened.store.events.add([...spike("acme", 50), death(atMs, "acme"), death(atMs + 1, "acme", { count: 7 })]);

      const chart = await readDeathsChart(running, ask([member("acme")]));

      expect(chart.count.at(-1)).toBe(51);
      expect(sum(chart.deaths ?? [])).toBe(51);
      expect(chart.deaths?.at(-1)).toBe(1);
    });

    it("holds what the runs counted against what they expected where assets are counted", async () => {
      await opened.store.events.add([...routine("flaps"), ...spike("flaps", 50)]);
      await own.record(run("flaps", nowMs - 10 * minuteMs, 12));

      const chart = await readDeathsChart(running, ask([member("flaps")], "range=24h", { incident: null }));

      expect(chart).toMatchObject({ counting: "assets", usual: null });
      expect([chart.count.at(-1), chart.expected.at(-1)]).toEqual([12, 3]);
      expect(sum(chart.deaths ?? [])).toBeGreaterThanOrEqual(50);

      const both = await readDeathsChart(running, ask([member("acme"), member("flaps")]));
      expect(both).toMatchObject({ counting: "deaths", usual: null });
    });

    it("adds windows of different lengths", async () => {
      await opened.store.events.add([
        ...routine("acme"),
        ...spike("acme", 50),
        death(nowMs - 8 * hourMs, "globex", { count: 7 }),
        ...routine("globex"),
      ]);

      const chart = await readDeathsChart(running, ask([member("acme"), member("globex", { windowHours: 6 })]));

      expect(chart.windowHours).toBeNull();
      // The last two of the routine are 20 h old.
      expect(chart.count.at(-1)).toBe(50 + 2);
      expect(chart.usual).toBe((3 / 24 + 3 / 6) / 12);
    });

    it("says of a thin past where it begins, and nothing that would be usual", async () => {
      await opened.store.events.add([death(nowMs - 20 * hourMs, "acme"), ...spike("acme", 50)]);
      await own.record(run("acme", nowMs - minuteMs, 51));

      const chart = await readDeathsChart(running, ask([member("acme")], "range=24h"));

      expect(chart).toMatchObject({ isThin: true, knownFromMs: nowMs - 20 * hourMs, usual: null });
      expect([chart.expected, chart.warn, chart.fail]).toEqual([[], [], []]);
      for (const [index, endMs] of endsOf(chart).entries())
        expect(chart.count[index] === null).toBe(endMs < nowMs - 20 * hourMs);
    });

    it("is not thin where a day before the window is known", async () => {
      await opened.store.events.add([death(nowMs - 49 * hourMs, "acme"), ...spike("acme", 50)]);

      const chart = await readDeathsChart(running, ask([member("acme")]));

      expect(chart).toMatchObject({ isThin: false, knownFromMs: null, usual: 3 / 24 / 12 });
    });
  });

  describe("a chart of a source that answers counts", () => {
    it("adds the last counts of all, also of runs of which hours are made", async () => {
      holdsEvents = false;
      await own.record(run("acme", nowMs - 100 * minuteMs, 2), run("globex", nowMs - 80 * minuteMs, 3));
      await own.tidy(nowMs, { runsBeforeMs: nowMs - 60 * minuteMs });
      await own.record(run("acme", nowMs - 20 * minuteMs, 52), run("globex", nowMs - 10 * minuteMs, null));

      const chart = await readDeathsChart(running, ask([member("acme"), member("globex")]));

      const countAt = (beforeMs: number) => chart.count[endsOf(chart).findIndex((endMs) => endMs >= nowMs - beforeMs)];
      expect([90, 85, 80, 25, 20, 10].map((minutes) => countAt(minutes * minuteMs))).toEqual([2, 2, 5, 5, 55, 55]);
      expect(chart.count.at(-1)).toBe(55);
      expect([chart.deaths, chart.knownFromMs]).toEqual([null, null]);
    });

    it("has no count where the runs of one organization had none", async () => {
      holdsEvents = false;
      await own.record(run("acme", nowMs - 60 * minuteMs, 2), run("acme", nowMs - 20 * minuteMs, null));

      const chart = await readDeathsChart(running, ask([member("acme")], "range=24h"));

      expect(chart.fromMs).toBeLessThan(nowMs - 60 * minuteMs);
      expect(chart.count[0]).toBeNull();
      expect(chart.count.at(-1)).toBeNull();
      expect(chart.count).toContain(2);
    });
  });

  it("counts the good answers of each minute, and shows none as zero", async () => {
    const runs = [];
    for (let minute = 60; minute > 0; minute--)
      for (const slug of ["acme", "globex"])
        runs.push(run(slug, nowMs - minute * minuteMs + 1, minute > 20 ? 1 : null));
    await own.record(...runs);
    const platform = { ...incident, beganMs: nowMs - 20 * minuteMs };

    const chart = await readAnswersChart(running, ask([], "", { incident: platform }), ["acme", "globex"]);

    const rates = endsOf(chart).map((endMs, index) => [
      new Date(endMs).toISOString().slice(11, 16),
      chart.count[index],
    ]);
    // Two of the five minutes from 21:45 had answers; the two from 22:05 are not over yet.
    expect(rates.slice(-6)).toEqual([
      ["21:45", 2],
      ["21:50", 0.8],
      ["21:55", 0],
      ["22:00", 0],
      ["22:05", 0],
      ["22:07", null],
    ]);
    expect([chart.count[0], chart.expected.at(-1), chart.deaths]).toEqual([null, 2, null]);
    expect(chart.expected.map((one) => one === null).lastIndexOf(true)).toBe(
      chart.count.findIndex((one) => one !== null) - 1,
    );
  });
});
