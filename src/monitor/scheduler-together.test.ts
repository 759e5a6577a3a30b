import { describe, expect, it } from "vitest";

import { resultReport } from "../../test/support/check-reports.ts";
import { spikeTarget } from "../../test/support/scheduling.ts";
import { times, useSchedulingWorlds } from "../../test/support/scheduling-worlds.ts";
import type { VirtualClock } from "../../test/support/virtual-clock.ts";
import type { CheckReport, ResultReport } from "../contract/report.ts";
import type { CheckTarget } from "../checks/checks.ts";

const minute = 60_000;
// Two minutes after a tick of every five minutes.
const startMs = Date.parse("2026-05-06T12:02:00Z");
const setUp = useSchedulingWorlds(startMs);

describe("checks that are run together", () => {
  const ok = (slug: string, atMs: number): ResultReport =>
    resultReport({ slug, severity: "ok", startedAtMs: atMs, finishedAtMs: atMs });

  function togetherOf(clock: VirtualClock) {
    const asked: string[][] = [];
    const run = async (targets: readonly CheckTarget[]): Promise<(CheckReport | null)[]> => {
      asked.push(targets.map(({ slug }) => slug));
      return targets.map(({ slug }) => (slug === "globex" ? null : ok(slug, clock.nowMs())));
    };
    return { asked, together: { run } };
  }

  it("are what is due at once; what gave no result with the others runs on its own", async () => {
    const { clock, world } = await setUp();
    const { asked, together } = togetherOf(clock);
    const targets = ["acme", "globex", "initech"].map((slug) => spikeTarget(slug));
    const scheduler = world.process("a", targets, { together });

    await scheduler.start();
    await clock.advance(4 * minute);
    await scheduler.stop(0);

    expect(asked.map((slugs) => slugs.toSorted())).toEqual([
      ["acme", "globex", "initech"],
      ["acme", "globex", "initech"],
    ]);
    expect(world.upstream.starts).toBe(2);
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

  it("run each on its own when they cannot be run together", async () => {
    const { clock, world } = await setUp();
    const together = { run: () => Promise.reject(new Error("one of them is broken")) };
    const scheduler = world.process("a", [spikeTarget("acme"), spikeTarget("initech")], { together });

    await scheduler.start();
    await clock.advance(1);
    await scheduler.stop(0);

    expect(times(world).toSorted()).toEqual(["acme 12:02:00", "initech 12:02:00"]);
    expect(world.log).toContainEqual(
      expect.objectContaining({ level: "warn", fields: expect.objectContaining({ runs: 2 }) as object }),
    );
  });

  it("are at most five hundred, and the rest follows without waiting", async () => {
    const { clock, world } = await setUp();
    const { asked, together } = togetherOf(clock);
    const targets = Array.from({ length: 1_200 }, (_, index) => spikeTarget(`organization-${index}`));
    const scheduler = world.process("a", targets, { together });

    await scheduler.start();
    await clock.advance(100);
    await scheduler.stop(0);

    expect(asked.map(({ length }) => length)).toEqual([500, 500, 200]);
    expect(world.recorded).toHaveLength(1_200);
  });

  it("are gathered for a quarter of a second where jitter spreads them", async () => {
    const { clock, world } = await setUp();
    const { asked, together } = togetherOf(clock);
    const targets = Array.from({ length: 100 }, (_, index) =>
      spikeTarget(`organization-${index}`, { jitterMs: 10_000 }),
    );
    const scheduler = world.process("a", targets, { together });
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
