import { describe, expect, it } from "vitest";

import { spikeTarget } from "../../test/support/scheduling.ts";
import { times, useSchedulingWorlds } from "../../test/support/scheduling-worlds.ts";
import { FlatlineError } from "../base/errors.ts";
import type { Store } from "../store/store.ts";

const minute = 60_000;
// Two minutes after a tick of every five minutes.
const startMs = Date.parse("2026-05-06T12:02:00Z");
const setUp = useSchedulingWorlds(startMs);

describe("checks of several processes", () => {
  it("keeps its lease while a run is longer than the lease", async () => {
    const { clock, world } = await setUp();
    world.behave = () => ({ durationMs: 50_000 });
    const both = ["a", "b"].map((owner) => world.process(owner, [spikeTarget("acme")], { isShared: true }));

    for (const scheduler of both) await scheduler.start();
    await clock.advance(55_000);
    for (const scheduler of both) await scheduler.stop(0);

    expect(world.upstream.starts).toBe(1);
    expect(world.recorded).toMatchObject([{ owner: "a" }]);
  });

  it("begins nothing while its lease is not certain, and is stalled meanwhile", async () => {
    const { clock, store, world } = await setUp();
    let isBroken = false;
    const renew: Store["owners"]["renew"] = (owner, lease) =>
      isBroken ? Promise.reject(new FlatlineError("store_busy", "I/O error")) : store.owners.renew(owner, lease);
    const breakable = { ...store, owners: { ...store.owners, renew } };
    const scheduler = world.process("a", [spikeTarget("acme")], { store: breakable, isShared: true });
    await scheduler.start();
    await clock.advance(minute);

    isBroken = true;
    await clock.advance(3 * minute);
    const stalled = scheduler.isStalled();
    isBroken = false;
    await clock.advance(5_000);
    const stalledAfter = scheduler.isStalled();
    await scheduler.stop(0);

    expect([stalled, stalledAfter]).toEqual([true, false]);
    expect(times(world)).toEqual(["acme 12:02:00", expect.stringMatching(/^acme 12:06:0[0-5]$/)]);
  });

  it("does not repeat what another process ran meanwhile, when a lost check is its own again before its run has ended", async () => {
    const { clock, store, world } = await setUp();
    let isCut = false;
    const renew: Store["owners"]["renew"] = (owner, lease) =>
      isCut ? Promise.reject(new FlatlineError("store_busy", "I/O error")) : store.owners.renew(owner, lease);
    const cut = { ...store, owners: { ...store.owners, renew } };
    world.behave = () => ({ durationMs: world.upstream.starts === 1 ? 50_000 : 100 });
    const scheduler = world.process("a", [spikeTarget("acme")], { store: cut, isShared: true });
    await scheduler.start();
    await clock.advance(3 * minute + 1_000);

    isCut = true;
    const other = world.process("b", [spikeTarget("acme")], { isShared: true });
    await other.start();
    await clock.advance(20_000);
    await other.stop(0);
    isCut = false;
    await clock.advance(2 * minute);
    await scheduler.stop(0);

    expect(world.recorded.map(({ owner, dueAtMs }) => [owner, new Date(dueAtMs).toISOString().slice(11, 16)])).toEqual([
      ["a", "12:02"],
      ["b", "12:05"],
    ]);
  });
});

describe("one process after another, on a file", () => {
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

  it("aborts what hangs, records nothing of it and gives its lease back", async () => {
    const { clock, store, world } = await setUp();
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
    const { nowMs, leaseUntilMs } = { nowMs: clock.nowMs(), leaseUntilMs: clock.nowMs() + minute };
    const next = await store.owners.register({ nowMs, leaseUntilMs });
    expect((await store.owners.balance(next, { nowMs, isAlone: false, renewedUntilMs: nowMs }))?.shards).toHaveLength(
      64,
    );
    expect(scheduler.running()).toBe(0);
    expect(scheduler.isStalled(), "one that has stopped ticks no more").toBe(true);
    clock.assertIdle();
  });
});
