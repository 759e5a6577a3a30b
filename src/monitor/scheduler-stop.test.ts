import { describe, expect, it } from "vitest";

import { spikeTarget } from "../../test/support/scheduling.ts";
import { times, useSchedulingWorlds } from "../../test/support/scheduling-worlds.ts";

const minute = 60_000;
// Two minutes after a tick of every five minutes.
const startMs = Date.parse("2026-05-06T12:02:00Z");
const setUp = useSchedulingWorlds(startMs);

describe("one process after another", () => {
  it("runs what was due in between though the clock has been set back since the first one", async () => {
    const { clock, world } = await setUp();
    const runOf = async (owner: string): Promise<void> => {
      const scheduler = world.process(owner, [spikeTarget("acme")]);
      await scheduler.start();
      await clock.advance(4 * minute);
      await scheduler.stop(0);
    };

    await runOf("a");
    clock.shiftWall(-60 * minute);
    await runOf("b");
    await clock.advance(5 * minute);
    await runOf("c");

    expect(times(world)).toEqual(["acme 12:02:00", "acme 12:05:00", "acme 11:10:00", "acme 11:15:00"]);
  });
});

describe("a stop", () => {
  it("lets runs under way end within the time to drain", async () => {
    const { clock, world } = await setUp();
    world.behave = () => ({ durationMs: 5_000 });
    const scheduler = world.process("a", [spikeTarget("acme")]);
    await scheduler.start();
    await clock.advance(1_000);

    const stopped = scheduler.stop(8_000);
    await clock.advance(8_000);
    await stopped;

    expect(world.recorded).toHaveLength(1);
    expect(world.states).toMatchObject([{ slug: "acme", severity: "ok" }]);
    clock.assertIdle();
  });

  it("aborts what hangs, and records nothing of it", async () => {
    const { clock, world } = await setUp();
    world.behave = () => ({ durationMs: 1e9 });
    const targets = [spikeTarget("acme"), spikeTarget("globex")];
    const scheduler = world.process("a", targets, { concurrency: 1 });
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
