import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { resultReport } from "../../test/support/check-reports.ts";
import { createFastStore, type FastStore } from "../../test/support/store/fast.ts";
import { createSchedulingWorld, spikeTarget, type SchedulingWorld } from "../../test/support/scheduling.ts";
import { createVirtualClock, type VirtualClock } from "../../test/support/virtual-clock.ts";
import type { CheckReport, ResultReport } from "../contract/report.ts";
import type { TogetherRun } from "./run-together.ts";
import type { CheckTarget } from "../checks/checks.ts";
import { FlatlineError } from "../base/errors.ts";
import { createTracer } from "../base/trace.ts";
import type { Store } from "../store/store.ts";

const minute = 60_000;
// Two minutes after a tick of every five minutes.
const startMs = Date.parse("2026-05-06T12:02:00Z");

let backend: FastStore;

beforeEach(async () => {
  backend = await createFastStore();
});

afterEach(async () => {
  await backend.remove();
});

async function setUp(): Promise<{ clock: VirtualClock; store: Store; world: SchedulingWorld }> {
  const clock = createVirtualClock({ startMs });
  const store = await backend.connect();
  return { clock, store, world: createSchedulingWorld(store, clock) };
}

function never(): AbortSignal {
  return new AbortController().signal;
}

function times(world: SchedulingWorld): string[] {
  return world.recorded.map(({ slug, startedAtMs }) => `${slug} ${new Date(startedAtMs).toISOString().slice(11, 19)}`);
}

describe("the scheduler", () => {
  it("runs what was never run at once, then at each tick", async () => {
    const { clock, world } = await setUp();
    const scheduler = world.process("a", [spikeTarget("acme"), spikeTarget("globex", { pattern: "4 * * * *" })]);

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
    const scheduler = world.process("a", targets, { concurrency: 4 });

    await scheduler.start();
    await clock.advance(4_900);
    const soFar = world.recorded.length;
    await clock.advance(100);
    await scheduler.stop(0);

    expect(soFar).toBe(16);
    expect(world.recorded).toHaveLength(20);
    expect(world.upstream.most).toBe(4);
  });

  it("runs each check in a trace of its own, also one that takes the place of another", async () => {
    const { clock, world } = await setUp();
    const tracer = createTracer(Math.random);
    const traceIds = new Set<string | undefined>();
    const run = async ({ slug }: CheckTarget): Promise<CheckReport> => {
      traceIds.add(tracer.current()?.traceId);
      await clock.sleep(1_000);
      return resultReport({ slug, severity: "ok", finishedAtMs: clock.nowMs() });
    };
    const targets = Array.from({ length: 5 }, (_, index) => spikeTarget(`organization-${index}`));
    const scheduler = world.process("a", targets, { concurrency: 2, run, inTrace: (work) => tracer.inTrace(work) });

    await scheduler.start();
    await clock.advance(3_000);
    await scheduler.stop(0);

    expect(world.recorded).toHaveLength(5);
    expect(traceIds.size).toBe(5);
    expect(traceIds).not.toContain(undefined);
  });

  it("skips and counts ticks that come while the last run is under way", async () => {
    const { clock, world } = await setUp();
    world.behave = () => ({ durationMs: 7 * minute });
    const scheduler = world.process("a", [spikeTarget("acme")], { runTimeoutMs: 30 * minute });

    await scheduler.start();
    await clock.advance(14 * minute);
    await scheduler.stop(0);

    // 12:02 to 12:09 skips 12:05; 12:10 to 12:17 would skip 12:15, but is not over.
    expect(times(world)).toEqual(["acme 12:02:00"]);
    expect(world.skipped).toEqual({ late: 0, overlap: 1 });
    expect(world.upstream.starts).toBe(2);
  });

  it("runs once after a suspension and counts the ticks that it missed", async () => {
    const { clock, world } = await setUp();
    const scheduler = world.process("a", [spikeTarget("acme")]);
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
    const scheduler = world.process("a", [spikeTarget("acme")], { runTimeoutMs: 30_000 });

    await scheduler.start();
    await clock.advance(30_000);
    await scheduler.stop(0);

    expect(world.states).toMatchObject([{ severity: "unknown", lastRunAtMs: startMs + 30_000, lastSuccessAtMs: null }]);
    expect(clock.pendingTimeouts()).toBe(0);
  });

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

  it("does not lose its loop to recording that fails, and runs the check again", async () => {
    const { clock, world } = await setUp();
    let failures = 2;
    world.beforeRecord = ({ run }) => {
      if (run.slug === "acme" && failures-- > 0) throw new Error("disk is full");
    };
    const scheduler = world.process("a", [spikeTarget("acme"), spikeTarget("globex")]);

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

  it("is not stalled while nothing is due", async () => {
    const { clock, world } = await setUp();
    const scheduler = world.process("a", [spikeTarget("acme", { pattern: "@daily" })], { pollMs: 60_000 });
    await scheduler.start();
    await clock.advance(1_000);

    const stalled: boolean[] = [];
    for (let index = 0; index < 59; index++) {
      await clock.advance(1_000);
      stalled.push(scheduler.isStalled());
    }
    await scheduler.stop(0);

    expect(stalled).not.toContain(true);
  });

  it("computes due times anew when somebody sets the clock back", async () => {
    const { clock, world } = await setUp();
    const scheduler = world.process("a", [spikeTarget("acme")]);
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

  it("runs a tick once though the clock is stepped back a little meanwhile", async () => {
    const { clock, world } = await setUp();
    world.behave = () => ({ durationMs: 100 });
    const scheduler = world.process("a", [spikeTarget("acme")]);
    await scheduler.start();
    await clock.advance(3 * minute + 50);

    clock.shiftWall(-2_000);
    await clock.advance(minute);
    await scheduler.stop(0);

    expect(times(world)).toEqual(["acme 12:02:00", "acme 12:05:00"]);
    expect(world.skipped).toEqual({ late: 0, overlap: 0 });
  });

  it("waits longer than a timer can", async () => {
    const { clock, world } = await setUp();
    const scheduler = world.process("a", [spikeTarget("acme", { pattern: "@yearly" })], { pollMs: 1e12 });

    await scheduler.start();
    await clock.advanceTo(Date.parse("2027-01-01T00:00:00Z"));
    await scheduler.stop(0);

    expect(world.recorded).toMatchObject([{}, { startedAtMs: Date.parse("2027-01-01T00:00:00Z") }]);
  });

  it("logs each run at debug, and a change of severity at info", async () => {
    const { clock, world } = await setUp();
    const scheduler = world.process("a", [spikeTarget("acme")]);
    await scheduler.start();
    await clock.advance(minute);
    world.behave = () => ({ durationMs: 0, severity: "fail" });
    await clock.advance(10 * minute);
    await scheduler.stop(0);

    expect(world.log.filter(({ level }) => level === "debug")).toHaveLength(3);
    expect(world.log.filter(({ level }) => level === "info").map(({ fields }) => fields)).toMatchObject([
      { check: "dead-asset-spike", slug: "acme", severity: "ok", previousSeverity: null },
      { check: "dead-asset-spike", slug: "acme", severity: "fail", previousSeverity: "ok", currentCount: 3 },
    ]);
  });
});

describe("a run that is asked for", () => {
  it("is run now, and keeps the tick that follows", async () => {
    const { clock, world } = await setUp();
    const scheduler = world.process("a", [spikeTarget("acme")]);
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
    const scheduler = world.process("a", [spikeTarget("acme")]);
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
    const scheduler = world.process("a", targets, { concurrency: 1 });
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

  it.each([
    { what: "an organization that is not configured", slug: "nobody", code: "not_found" },
    { what: "a check that another process runs, where it cannot be asked", slug: "acme", code: "unavailable" },
  ])("refuses $what", async ({ slug, code }) => {
    const { clock, world } = await setUp();
    const owner = world.process("b", [spikeTarget("acme")], { isShared: true });
    await owner.start();
    const scheduler = world.process("a", [spikeTarget("acme")], { isShared: true });
    await scheduler.start();
    await clock.advance(1_000);

    const asked = scheduler.runNow("dead-asset-spike", slug, never()).catch((error: unknown) => error);
    await clock.advance(1_000);

    expect(await asked).toMatchObject({ code });
    await scheduler.stop(0);
    await owner.stop(0);
  });

  it("ends with the caller's signal while it waits, and is refused while stopping", async () => {
    const { clock, world } = await setUp();
    world.behave = () => ({ durationMs: 30_000 });
    const scheduler = world.process("a", [spikeTarget("acme")]);
    await scheduler.start();
    await clock.advance(1_000);

    const asked = scheduler.runNow("dead-asset-spike", "acme", clock.timeout(5_000)).catch((error: unknown) => error);
    await clock.advance(5_000);

    expect(await asked).toMatchObject({ code: "api_timeout" });
    await scheduler.stop(0);
    await expect(scheduler.runNow("dead-asset-spike", "acme", never())).rejects.toMatchObject({ code: "unavailable" });
  });

  it("hears of recording that failed", async () => {
    const { clock, world } = await setUp();
    const scheduler = world.process("a", [spikeTarget("acme")]);
    await scheduler.start();
    await clock.advance(minute);
    world.beforeRecord = () => {
      throw new Error("disk is full");
    };

    await expect(scheduler.runNow("dead-asset-spike", "acme", never())).rejects.toThrow("disk is full");
    await scheduler.stop(0);
  });
});

describe("a change of the configuration", () => {
  it("runs what is new at once, forgets what is gone, and keeps the rest", async () => {
    const { clock, world } = await setUp();
    const scheduler = world.process("a", [spikeTarget("acme"), spikeTarget("globex")]);
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
    const scheduler = world.process("a", [spikeTarget("acme"), spikeTarget("globex")]);
    await scheduler.start();
    await clock.advance(10_000);

    const changed = { pattern: "* * * * *" };
    scheduler.setTargets({ targets: [spikeTarget("acme", changed), spikeTarget("globex", changed)] });
    await clock.advance(80_000);
    await scheduler.stop(0);

    expect(times(world)).toEqual(["globex 12:02:00", "acme 12:02:00", "globex 12:03:00", "acme 12:03:00"]);
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
    expect((await store.owners.balance(next, { nowMs, isAlone: false }))?.shards).toHaveLength(64);
    expect(scheduler.running()).toBe(0);
    expect(scheduler.isStalled(), "one that has stopped ticks no more").toBe(true);
    clock.assertIdle();
  });
});

describe("checks that are run together", () => {
  const ok = (slug: string, atMs: number): ResultReport =>
    resultReport({ slug, severity: "ok", startedAtMs: atMs, finishedAtMs: atMs });

  function togetherOf(clock: VirtualClock) {
    const asked: string[][] = [];
    const run = async (targets: readonly CheckTarget[]): Promise<(TogetherRun | null)[]> => {
      asked.push(targets.map(({ slug }) => slug));
      return targets.map(({ slug }) => (slug === "globex" ? null : { report: ok(slug, clock.nowMs()), hold: null }));
    };
    return { asked, together: { run, follow: () => 0 } };
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
    const together = { run: () => Promise.reject(new Error("one of them is broken")), follow: () => 0 };
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
