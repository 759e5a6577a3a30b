import { describe, expect, it } from "vitest";

import { spikeTarget, times, useSchedulingWorlds } from "../../test/support/scheduling.ts";

const minute = 60_000;
// Two minutes after a tick of every five minutes.
const startMs = Date.parse("2026-05-06T12:02:00Z");
const setUp = useSchedulingWorlds(startMs);

describe("the scheduler", () => {
  it("runs what was never run at once, then at each tick", async () => {
    const { clock, world } = await setUp();
    const scheduler = world.process([spikeTarget("acme"), spikeTarget("globex", { pattern: "4 * * * *" })]);

    await scheduler.start();
    await clock.advance(8 * minute);
    await scheduler.stop(0);

    expect(times(world)).toEqual([
      "acme 12:02:00",
      "globex 12:02:00",
      "globex 12:04:00",
      "acme 12:05:00",
      "acme 12:10:00",
    ]);
    expect(world.lagSeconds).toEqual([0, 0, 0, 0, 0]);
    expect(world.states.at(-1)).toMatchObject({ slug: "acme", severity: "ok", dueAtMs: startMs + 8 * minute });
  });

  it("runs at most as many at once as it may", async () => {
    const { clock, world } = await setUp();
    world.behave = () => ({ durationMs: 1_000 });
    const targets = Array.from({ length: 20 }, (_, index) => spikeTarget(`organization-${index}`));
    const scheduler = world.process(targets, { concurrency: 4 });

    await scheduler.start();
    await clock.advance(4_900);
    const soFar = world.recorded.length;
    await clock.advance(100);
    await scheduler.stop(0);

    expect(soFar).toBe(16);
    expect(world.recorded).toHaveLength(20);
    expect(world.upstream.most).toBe(4);
  });

  it("does work beside the runs in their places, one at a time", async () => {
    const { clock, world } = await setUp();
    world.behave = () => ({ durationMs: 1_000 });
    const targets = Array.from({ length: 8 }, (_, index) => spikeTarget(`organization-${index}`));
    const scheduler = world.process(targets, { concurrency: 4 });
    const begun: { atMs: number; runs: number }[] = [];
    const work = async (): Promise<void> => {
      begun.push({ atMs: clock.nowMs() - startMs, runs: world.upstream.now });
      await clock.sleep(600);
    };
    const never = new AbortController().signal;

    await scheduler.start();
    await clock.advance(100);
    const worked = Array.from({ length: 3 }, () => scheduler.runBeside(work, never));
    await clock.advance(4_000);
    await Promise.all(worked);
    await scheduler.stop(0);

    // The first waits for a place; when it leaves, a run that is due comes before the next one.
    expect(begun).toEqual([
      { atMs: 1_000, runs: 3 },
      { atMs: 2_000, runs: 3 },
      { atMs: 2_600, runs: 0 },
    ]);
    expect(world.recorded).toHaveLength(8);
    expect(world.upstream.most).toBe(4);
  });

  it("skips and counts ticks that come while the last run is under way", async () => {
    const { clock, world } = await setUp();
    world.behave = () => ({ durationMs: 7 * minute });
    const scheduler = world.process([spikeTarget("acme")], { runTimeoutMs: 30 * minute });

    await scheduler.start();
    await clock.advance(14 * minute);
    await scheduler.stop(0);

    // 12:02 to 12:09 skips 12:05; 12:10 to 12:17 would skip 12:15, but is not over.
    expect(times(world)).toEqual(["acme 12:02:00"]);
    expect(world.skipped).toEqual({ late: 0, overlap: 1 });
    expect(world.upstream.starts).toBe(2);
  });

  it("skips what counts events that are being imported, and runs it again with the next tick after that", async () => {
    const { clock, world } = await setUp();
    let isImporting = true;
    const scheduler = world.process([spikeTarget("acme"), spikeTarget("globex")], {
      isImporting: ({ slug }) => isImporting && slug === "acme",
    });

    await scheduler.start();
    await clock.advance(4 * minute);
    await expect(scheduler.runNow("dead-asset-spike", "acme", clock.timeout(minute))).rejects.toMatchObject({
      code: "conflict",
    });
    isImporting = false;
    await clock.advance(5 * minute);
    await scheduler.stop(0);

    expect(times(world)).toEqual(["globex 12:02:00", "globex 12:05:00", "acme 12:10:00", "globex 12:10:00"]);
    expect(world.skipped).toEqual({ late: 0, overlap: 0, import: 2 });
  });

  it("runs once after a suspension and counts the ticks that it missed", async () => {
    const { clock, world } = await setUp();
    const scheduler = world.process([spikeTarget("acme")]);
    await scheduler.start();
    await clock.advance(minute);

    await clock.jump(60 * minute);
    await clock.advance(2 * minute);
    await scheduler.stop(0);

    // Due 12:05, run 13:03; 12:10 to 13:00 are eleven.
    expect(times(world)).toEqual(["acme 12:02:00", "acme 13:03:00", "acme 13:05:00"]);
    expect(world.skipped).toEqual({ late: 11, overlap: 0 });
    expect(world.lagSeconds).toEqual([0, 58 * 60, 0]);
  });

  it("ends a run at its timeout and records it as unknown", async () => {
    const { clock, world } = await setUp();
    world.behave = () => ({ durationMs: 1e9 });
    const scheduler = world.process([spikeTarget("acme")], { runTimeoutMs: 30_000 });

    await scheduler.start();
    await clock.advance(30_000);
    await scheduler.stop(0);

    expect(world.states).toMatchObject([{ severity: "unknown", lastRunAtMs: startMs + 30_000, lastSuccessAtMs: null }]);
    expect(clock.pendingTimeouts()).toBe(0);
  });

  it("does not lose its loop to recording that fails, and runs the check again", async () => {
    const { clock, world } = await setUp();
    let failures = 2;
    world.beforeRecord = ({ run }) => {
      if (run.slug === "acme" && failures-- > 0) throw new Error("disk is full");
    };
    const scheduler = world.process([spikeTarget("acme"), spikeTarget("globex")]);

    await scheduler.start();
    await clock.advance(minute);
    await scheduler.stop(0);

    expect(times(world)).toEqual(["globex 12:02:00", "acme 12:02:20"]);
    const errors = world.log.filter(({ level }) => level === "error");
    expect(errors.map(({ message }) => message)).toEqual([
      "run was not recorded, will be run again",
      "run was not recorded, will be run again",
    ]);
    expect(errors[0]?.fields).toMatchObject({ slug: "acme", check: "dead-asset-spike" });
  });

  it("computes due times anew when somebody sets the clock back", async () => {
    const { clock, world } = await setUp();
    const scheduler = world.process([spikeTarget("acme")]);
    await scheduler.start();
    await clock.advance(4 * minute);

    clock.shiftWall(-24 * 60 * minute);
    await clock.advance(5 * minute);
    await scheduler.stop(0);

    expect(world.recorded.map(({ startedAtMs }) => new Date(startedAtMs).toISOString().slice(8, 16))).toEqual([
      "06T12:02",
      "06T12:05",
      "05T12:10",
    ]);
  });
});

describe("a change of the configuration", () => {
  it("runs what is new at once, forgets what is gone, and keeps the rest", async () => {
    const { clock, world } = await setUp();
    const scheduler = world.process([spikeTarget("acme"), spikeTarget("globex")]);
    await scheduler.start();
    await clock.advance(minute);

    scheduler.setTargets({ targets: [spikeTarget("acme"), spikeTarget("initech")] });
    await clock.advance(3 * minute);
    await scheduler.stop(0);

    expect(times(world).slice(2)).toEqual(["initech 12:03:00", "acme 12:05:00", "initech 12:05:00"]);
  });

  it("takes a new schedule from now on, also for a run that is under way", async () => {
    const { clock, world } = await setUp();
    world.behave = (slug) => ({ durationMs: slug === "acme" ? 30_000 : 0 });
    const scheduler = world.process([spikeTarget("acme"), spikeTarget("globex")]);
    await scheduler.start();
    await clock.advance(10_000);

    const changed = { pattern: "* * * * *" };
    scheduler.setTargets({ targets: [spikeTarget("acme", changed), spikeTarget("globex", changed)] });
    await clock.advance(80_000);
    await scheduler.stop(0);

    expect(times(world)).toEqual(["globex 12:02:00", "acme 12:02:00", "globex 12:03:00", "acme 12:03:00"]);
  });
});
