import { describe, expect, it } from "vitest";

import { resultReport } from "../../test/support/check-reports.ts";
import { spikeTarget, times, useSchedulingWorlds } from "../../test/support/scheduling.ts";
import type { VirtualClock } from "../../test/support/virtual-clock.ts";
import type { CheckReport, ResultReport } from "../contract/report.ts";
import type { CheckTarget } from "../checks/checks.ts";
import type { OpenRun } from "./run-check.ts";

const minute = 60_000;
// Two minutes after a tick of every five minutes.
const startMs = Date.parse("2026-05-06T12:02:00Z");
const setUp = useSchedulingWorlds(startMs);

describe("checks that are run together", () => {
  const ok = (slug: string, atMs: number): ResultReport =>
    resultReport({ slug, severity: "ok", startedAtMs: atMs, finishedAtMs: atMs });

  function roundOf(clock: VirtualClock) {
    const asked: string[][] = [];
    const left: string[] = [];
    const run = async (targets: readonly CheckTarget[]): Promise<(CheckReport | OpenRun)[]> => {
      asked.push(targets.map(({ slug }) => slug));
      const atMs = clock.nowMs();
      const open = async (): Promise<CheckReport> => (left.push("globex"), ok("globex", atMs));
      return targets.map(({ slug }) => (slug === "globex" ? open : ok(slug, atMs)));
    };
    return { asked, left, round: { run, most: 500 } };
  }

  it("are what is due at once; what is left of a run goes on in a place of its own", async () => {
    const { clock, world } = await setUp();
    const { asked, left, round } = roundOf(clock);
    const targets = ["acme", "globex", "initech"].map((slug) => spikeTarget(slug));
    const scheduler = world.process(targets, { round });

    await scheduler.start();
    await clock.advance(4 * minute);
    await scheduler.stop(0);

    expect(asked.map((slugs) => slugs.toSorted())).toEqual([
      ["acme", "globex", "initech"],
      ["acme", "globex", "initech"],
    ]);
    expect(left).toEqual(["globex", "globex"]);
    expect(times(world).toSorted()).toEqual([
      "acme 12:02:00",
      "acme 12:05:00",
      "globex 12:02:00",
      "globex 12:05:00",
      "initech 12:02:00",
      "initech 12:05:00",
    ]);
    expect(world.lagSeconds).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it("do not hold up what is due later, however long they take", async () => {
    const { clock, world } = await setUp();
    const { asked, round } = roundOf(clock);
    const slow = Promise.withResolvers<void>();
    const targets = ["acme", "initech"].map((slug) => spikeTarget(slug));
    const run = async (some: readonly CheckTarget[]): Promise<(CheckReport | OpenRun)[]> => {
      const reports = await round.run(some);
      await slow.promise;
      return reports;
    };
    const scheduler = world.process(targets.slice(0, 1), { round: { ...round, run } });

    await scheduler.start();
    await clock.advance(minute);
    scheduler.setTargets({ targets });
    await clock.advance(minute);
    slow.resolve();
    await scheduler.stop(0);

    expect(asked).toEqual([["acme"], ["initech"]]);
  });

  it("are at most five hundred, and the rest follows without waiting", async () => {
    const { clock, world } = await setUp();
    const { asked, round } = roundOf(clock);
    const targets = Array.from({ length: 1_200 }, (_, index) => spikeTarget(`organization-${index}`));
    const scheduler = world.process(targets, { round });

    await scheduler.start();
    await clock.advance(100);
    await scheduler.stop(0);

    expect(asked.map(({ length }) => length)).toEqual([500, 500, 200]);
    expect(world.recorded).toHaveLength(1_200);
  });

  it("are gathered for a quarter of a second where jitter spreads them", async () => {
    const { clock, world } = await setUp();
    const { asked, round } = roundOf(clock);
    const targets = Array.from({ length: 100 }, (_, index) =>
      spikeTarget(`organization-${index}`, { jitterMs: 10_000 }),
    );
    const scheduler = world.process(targets, { round });
    await scheduler.start();
    await clock.advance(minute);
    asked.length = 0;

    await clock.advance(2 * minute + 20_000);
    await scheduler.stop(0);

    expect(asked.flat()).toHaveLength(100);
    expect(asked.length).toBeLessThanOrEqual(41);
    expect(Math.max(...world.lagSeconds)).toBeLessThan(0.3);
  });
});
