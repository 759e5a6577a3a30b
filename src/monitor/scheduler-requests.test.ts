import { describe, expect, it } from "vitest";

import { spikeTarget, times, useSchedulingWorlds } from "../../test/support/scheduling.ts";

const minute = 60_000;
// Two minutes after a tick of every five minutes.
const startMs = Date.parse("2026-05-06T12:02:00Z");
const setUp = useSchedulingWorlds(startMs);

function never(): AbortSignal {
  return new AbortController().signal;
}

describe("a run that is asked for", () => {
  it("is run now, and keeps the tick that follows", async () => {
    const { clock, world } = await setUp();
    const scheduler = world.process([spikeTarget("acme")]);
    await scheduler.start();
    await clock.advance(2 * minute + 50_000);

    const report = await scheduler.runNow("dead-asset-spike", "acme", never());
    await clock.advance(minute);
    await scheduler.stop(0);

    expect(report).toMatchObject({ kind: "result", slug: "acme", severity: "ok" });
    expect(times(world)).toEqual(["acme 12:02:00", "acme 12:04:50", "acme 12:05:00"]);
    expect(world.skipped).toEqual({ late: 0, overlap: 0 });
    expect(world.lagSeconds).toEqual([0, 0]);
  });

  it("comes after one that is under way, which is not shared", async () => {
    const { clock, world } = await setUp();
    world.behave = () => ({ durationMs: 10_000 });
    const scheduler = world.process([spikeTarget("acme")]);
    await scheduler.start();
    await clock.advance(4_000);

    const asked = scheduler.runNow("dead-asset-spike", "acme", never());
    await clock.advance(16_000);
    const report = await asked;
    await scheduler.stop(0);

    expect(report).toMatchObject({ startedAtMs: startMs + 10_000, finishedAtMs: startMs + 20_000 });
    expect(world.upstream.most).toBe(1);
    clock.assertIdle();
  });

  it("gets the next place, before what waits for its turn", async () => {
    const { clock, world } = await setUp();
    world.behave = () => ({ durationMs: 1_000 });
    const targets = Array.from({ length: 10 }, (_, index) => spikeTarget(`organization-${index}`));
    const scheduler = world.process(targets, { concurrency: 1 });
    await scheduler.start();
    await clock.advance(500);

    const asked = scheduler.runNow("dead-asset-spike", "organization-9", never());
    await clock.advance(1_500);

    expect(await asked).toMatchObject({ startedAtMs: startMs + 1_000 });
    expect(world.upstream.most).toBe(1);
    await clock.advance(minute);
    await scheduler.stop(0);
    expect(world.recorded).toHaveLength(10);
  });

  it("is refused of an organization that is not configured", async () => {
    const { world } = await setUp();
    const scheduler = world.process([spikeTarget("acme")]);
    await scheduler.start();

    await expect(scheduler.runNow("dead-asset-spike", "nobody", never())).rejects.toMatchObject({ code: "not_found" });
    await scheduler.stop(0);
  });

  it("ends with the caller's signal while it waits, and is refused while stopping", async () => {
    const { clock, world } = await setUp();
    world.behave = () => ({ durationMs: 30_000 });
    const scheduler = world.process([spikeTarget("acme")]);
    await scheduler.start();
    await clock.advance(1_000);

    const asked = scheduler.runNow("dead-asset-spike", "acme", clock.timeout(5_000)).catch((error: unknown) => error);
    await clock.advance(5_000);

    expect(await asked).toMatchObject({ code: "api_timeout" });
    await scheduler.stop(0);
    await expect(scheduler.runNow("dead-asset-spike", "acme", never())).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("one process after another", () => {
  it("runs what was due in between though the clock has been set back since the first one", async () => {
    const { clock, world } = await setUp();
    const runForAWhile = async (): Promise<void> => {
      const scheduler = world.process([spikeTarget("acme")]);
      await scheduler.start();
      await clock.advance(4 * minute);
      await scheduler.stop(0);
    };

    await runForAWhile();
    clock.shiftWall(-60 * minute);
    await runForAWhile();
    await clock.advance(5 * minute);
    await runForAWhile();

    expect(times(world)).toEqual(["acme 12:02:00", "acme 12:05:00", "acme 11:10:00", "acme 11:15:00"]);
  });
});

describe("a stop", () => {
  it("aborts what hangs, and records nothing of it", async () => {
    const { clock, world } = await setUp();
    world.behave = () => ({ durationMs: 1e9 });
    const targets = [spikeTarget("acme"), spikeTarget("globex")];
    const scheduler = world.process(targets, { concurrency: 1 });
    await scheduler.start();
    await clock.advance(1_000);

    const stopped = scheduler.stop(8_000);
    await clock.advance(8_000);
    await stopped;

    expect(world.upstream.starts).toBe(1);
    expect(world.recorded).toEqual([]);
    expect(world.log.filter(({ level }) => level === "error")).toEqual([]);
    expect(scheduler.running()).toBe(0);
    expect(scheduler.isStalled(), "one that has stopped ticks no more").toBe(true);
    clock.assertIdle();
  });
});
