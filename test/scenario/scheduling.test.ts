import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { nextDueAtMs } from "../../src/monitor/schedule.ts";
import { createHistory } from "../../src/store/runs/history.ts";
import type { CheckTarget } from "../../src/checks/checks.ts";
import type { Schedule } from "../../src/checks/target.ts";
import { FlatlineError } from "../../src/base/errors.ts";
import type { Store } from "../../src/store/store.ts";
import { createFastStore, type FastStore } from "../support/store/fast.ts";
import {
  createSchedulingWorld,
  spikeTarget,
  type SchedulingProcess,
  type SchedulingWorld,
} from "../support/scheduling.ts";
import { createVirtualClock, type VirtualClock } from "../support/virtual-clock.ts";

const minute = 60_000;
const hour = 60 * minute;

const patterns = ["*/30 * * * *", "30 2 * * *", "15 */3 * * *", "0 9-17 * * 1-5", "@hourly", "*/20 2 * * *", "@daily"];
const timezones = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Havana"];
const jitters = [0, 90_000, 10 * minute];

/** Fifty organizations with every mixture of pattern, timezone and jitter. */
function fleet(): CheckTarget[] {
  return Array.from({ length: 50 }, (_, index) =>
    spikeTarget(`organization-${index}`, {
      pattern: pick(patterns, index),
      timezone: pick(timezones, Math.floor(index / 2)),
      jitterMs: pick(jitters, index),
    }),
  );
}

function pick<Value>(list: readonly Value[], index: number): Value {
  const value = list[index % list.length];
  if (value === undefined) throw new Error("an empty list");
  return value;
}

/** A stable number from 0 to 999 of a slug and a time: upstreams that are slow now and then, the same at each run. */
function chance(slug: string, atMs: number): number {
  return (Number(slug.split("-")[1]) * 7_919 + Math.floor(atMs / 1_000) * 104_729) % 1_000;
}

function ticks(schedule: Schedule, slug: string, fromMs: number, untilMs: number): number[] {
  const found: number[] = [];
  for (let atMs = nextDueAtMs(schedule, slug, fromMs); atMs < untilMs; atMs = nextDueAtMs(schedule, slug, atMs))
    found.push(atMs);
  return found;
}

/**
 * Every tick since the first run is accounted for up to each check's next due time: it was run once, or counted as skipped. The
 * first run of each is no tick: it was due at the start of the process that ran it.
 */
async function expectEachTickOnce(
  world: SchedulingWorld,
  targets: readonly CheckTarget[],
  startMs: number,
): Promise<void> {
  let due = 0;
  for (const target of targets) {
    const { slug, schedule } = target;
    const runs = world.recorded.filter((run) => run.slug === slug).map(({ dueAtMs }) => dueAtMs);
    const [firstAtMs = startMs] = runs;
    const all = ticks(schedule, slug, firstAtMs, await world.nextDueAtMs(target));
    expect(world.startsAtMs, `first run of ${slug}`).toContain(firstAtMs);
    expect(new Set(runs).size, `runs of ${slug} for different ticks`).toBe(runs.length);
    expect(all, `ticks of ${slug}`).toEqual(expect.arrayContaining(runs.slice(1)));
    due += all.length;
  }
  const ran = world.recorded.length - targets.length;
  expect(ran + world.skipped.late + world.skipped.overlap).toBe(due);
}

/** Each (check, slug) has one run at a time, whoever runs it. */
function expectNoOverlap(world: SchedulingWorld): void {
  const endOf = new Map<string, number>();
  for (const { slug, startedAtMs, finishedAtMs } of world.recorded) {
    expect(startedAtMs).toBeGreaterThanOrEqual(endOf.get(slug) ?? 0);
    endOf.set(slug, finishedAtMs);
  }
}

async function stop(clock: VirtualClock, scheduler: SchedulingProcess): Promise<void> {
  const stopped = scheduler.stop(1_000);
  await clock.advance(1_000);
  await stopped;
}

let backend: FastStore;

beforeEach(async () => {
  backend = await createFastStore();
});

afterEach(async () => {
  await backend.remove();
});

describe("the schedule", () => {
  // The weekend on which Berlin (00:00Z–02:00Z on the 25th) goes back; and those on which others change.
  it.each([
    { what: "Berlin goes back", from: "2026-10-24T12:03:07Z" },
    { what: "Berlin goes forward", from: "2026-03-28T12:03:07Z" },
    { what: "New York and Havana go back", from: "2026-10-31T20:03:07Z" },
    { what: "Lord Howe goes forward by half an hour", from: "2026-10-03T06:03:07Z" },
  ])("runs each tick of fifty organizations once while $what", async ({ from }) => {
    const startMs = Date.parse(from);
    const clock = createVirtualClock({ startMs });
    const store = await backend.connect();
    const world = createSchedulingWorld(store, clock);
    world.behave = (slug) => ({ durationMs: chance(slug, clock.nowMs()) });
    const targets = fleet();
    const scheduler = world.process("a", targets, { concurrency: 4, pollMs: 10 * minute });

    await scheduler.start();
    await clock.advance(24 * hour);
    await stop(clock, scheduler);

    await expectEachTickOnce(world, targets, startMs);
    expectNoOverlap(world);
    expect(world.upstream.most).toBe(4);
    expect(world.skipped).toEqual({ late: 0, overlap: 0 });
    expect(Math.max(...world.lagSeconds)).toBeLessThan(20);
    clock.assertIdle();
  });

  it("runs or counts each tick once through suspensions, restarts, crashes and hanging upstreams", async () => {
    const startMs = Date.parse("2026-10-24T12:03:07Z");
    const clock = createVirtualClock({ startMs });
    const store = await backend.connect();
    const world = createSchedulingWorld(store, clock);
    // One in a hundred hangs until its timeout, the rest takes up to ten seconds.
    world.behave = (slug) => {
      const roll = chance(slug, clock.nowMs());
      return { durationMs: roll < 10 ? 1e9 : roll * 10 };
    };
    const targets = fleet();
    const begin = async (owner: string): Promise<SchedulingProcess> => {
      const scheduler = world.process(owner, targets, {
        concurrency: 8,
        pollMs: 10 * minute,
        runTimeoutMs: 35 * minute,
      });
      await scheduler.start();
      return scheduler;
    };

    // A day of work with a laptop's lid.
    let scheduler = await begin("a");
    for (const awakeMinutes of [53, 211, 7, 360]) {
      await clock.advance(awakeMinutes * minute);
      await clock.jump(95 * minute);
    }
    // A restart in order, with three hours in between.
    await clock.advance(20 * minute);
    await stop(clock, scheduler);
    await clock.advance(3 * hour);
    scheduler = await begin("b");
    await clock.advance(5 * hour);
    await stop(clock, scheduler);
    // A crash amid runs: the store never hears of that owner again.
    const lost = vanishing(store);
    const crashing = world.process("c", targets, { store: lost, concurrency: 8, pollMs: 10 * minute });
    await crashing.start();
    await clock.advanceUntil(() => crashing.running() > 2);
    lost.vanish();
    await stop(clock, crashing);
    scheduler = await begin("d");
    await clock.advance(6 * hour);
    await stop(clock, scheduler);

    await expectEachTickOnce(world, targets, startMs);
    expectNoOverlap(world);
    expect(world.skipped.late).toBeGreaterThan(50);
    expect(world.skipped.overlap).toBeGreaterThan(0);
    expect(new Set(world.recorded.map(({ owner }) => owner))).toEqual(new Set(["a", "b", "c", "d"]));
    clock.assertIdle();
  });

  it("is shared by three processes, of which one vanishes with runs under way", async () => {
    const startMs = Date.parse("2026-10-24T12:03:07Z");
    const clock = createVirtualClock({ startMs });
    const store = await backend.connect();
    const world = createSchedulingWorld(store, clock);
    world.behave = (slug) => ({ durationMs: 5 * chance(slug, clock.nowMs()) });
    // Minutes instead of days: each process looks at the others every second.
    const targets = fleet().map((target) => ({ ...target, schedule: { ...target.schedule, pattern: "*/2 * * * *" } }));
    const lost = vanishing(await backend.connect());
    const processes: [SchedulingProcess, SchedulingProcess, SchedulingProcess] = [
      world.process("a", targets, { isShared: true, concurrency: 2, pollMs: 30_000 }),
      world.process("b", targets, { isShared: true, concurrency: 2, pollMs: 30_000, store: await backend.connect() }),
      world.process("c", targets, { isShared: true, concurrency: 2, pollMs: 30_000, store: lost }),
    ];

    for (const scheduler of processes) await scheduler.start();
    await clock.advanceTo(Date.parse("2026-10-24T12:06:00Z"));
    await clock.advanceUntil(() => processes[2].running() === 2);
    const vanishedAtMs = clock.nowMs();
    lost.vanish();
    await clock.advanceTo(Date.parse("2026-10-24T12:16:00Z"));
    for (const scheduler of processes) await stop(clock, scheduler);

    await expectEachTickOnce(world, targets, startMs);
    expectNoOverlap(world);
    const ranAfter = (owner: string): number =>
      world.recorded.filter((run) => run.owner === owner && run.finishedAtMs > vanishedAtMs).length;
    expect(ranAfter("a")).toBeGreaterThan(10);
    expect(ranAfter("b")).toBeGreaterThan(10);
    expect(ranAfter("c")).toBe(0);
    clock.assertIdle();
  });
});

it.each([
  { lost: "that of the run", calls: ["commit"] },
  { lost: "that of the registration after it too", calls: ["commit", "register"] },
  { lost: "that of the division of the shards after it too", calls: ["commit", "balance"] },
] as const)("goes on after a commit whose answer was lost, $lost", async ({ calls }) => {
  const clock = createVirtualClock({ startMs: Date.parse("2026-10-24T12:00:00Z") });
  const store = await backend.connect();
  const losing = new Set<(typeof calls)[number]>();
  const lose = async <Answer>(call: (typeof calls)[number], answer: Promise<Answer>): Promise<Answer> => {
    const answered = await answer;
    if (!losing.delete(call)) return answered;
    throw new FlatlineError("store_unusable", "the store cannot be used: the connection was lost");
  };
  const losingStore: Store = {
    ...store,
    transaction: (work) => lose("commit", store.transaction(work)),
    owners: {
      ...store.owners,
      register: (lease) => lose("register", store.owners.register(lease)),
      balance: (owner, now) => lose("balance", store.owners.balance(owner, now)),
    },
  };
  const world = createSchedulingWorld(store, clock);
  const target = spikeTarget("acme", { pattern: "*/5 * * * *", timezone: "UTC", jitterMs: 0 });
  const scheduler = world.process("a", [target], { store: losingStore });
  const dueTimes = (): string[] => world.recorded.map(({ dueAtMs }) => new Date(dueAtMs).toISOString().slice(11, 16));

  await scheduler.start();
  await clock.advanceTo(Date.parse("2026-10-24T12:11:00Z"));
  for (const call of calls) losing.add(call);
  await clock.advanceTo(Date.parse("2026-10-24T12:31:00Z"));
  await stop(clock, scheduler);

  expect([...losing]).toEqual([]);
  // The run of 12:15 is in the store; it is not run again.
  expect(dueTimes()).toEqual(["12:00", "12:05", "12:10", "12:20", "12:25", "12:30"]);
  const history = createHistory(store.runs);
  expect(await history.runs({ check: "dead-asset-spike", slug: "acme", fromMs: 0, toMs: clock.nowMs() })).toHaveLength(
    7,
  );
});

describe("the schedule, whatever happens,", () => {
  const step = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant("advance" as const), minutes: fc.integer({ min: 1, max: 300 }) }),
    },
    fc.record({ kind: fc.constant("suspend" as const), minutes: fc.integer({ min: 1, max: 300 }) }),
    fc.record({ kind: fc.constant("restart" as const), minutes: fc.integer({ min: 0, max: 90 }) }),
    fc.record({ kind: fc.constant("crash" as const), minutes: fc.integer({ min: 0, max: 90 }) }),
    fc.record({ kind: fc.constant("reload" as const), minutes: fc.constant(0) }),
    fc.record({ kind: fc.constant("slow" as const), minutes: fc.integer({ min: 0, max: 70 }) }),
  );

  it("runs or counts each tick once", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 4 }),
        async (steps, concurrency) => {
          const startMs = Date.parse("2026-10-24T12:03:07Z");
          const clock = createVirtualClock({ startMs });
          const fresh = await createFastStore();
          const store = await fresh.connect();
          const world = createSchedulingWorld(store, clock);
          const targets = fleet().slice(0, 7);
          const begin = async (): Promise<{ scheduler: SchedulingProcess; lost: ReturnType<typeof vanishing> }> => {
            const lost = vanishing(store);
            const owner = `process-${clock.nowMs()}-${clock.pendingSleeps()}`;
            const over = { store: lost, concurrency, pollMs: 10 * minute, runTimeoutMs: 100 * minute };
            const scheduler = world.process(owner, targets, over);
            await scheduler.start();
            return { scheduler, lost };
          };

          let { scheduler, lost } = await begin();
          for (const { kind, minutes } of steps) {
            if (kind === "advance") await clock.advance(minutes * minute);
            if (kind === "suspend") await clock.jump(minutes * minute);
            if (kind === "slow") world.behave = () => ({ durationMs: minutes * minute });
            if (kind === "reload") scheduler.setTargets({ targets: fleet().slice(0, 7) });
            if (kind === "crash") lost.vanish();
            if (kind === "crash" || kind === "restart") {
              await stop(clock, scheduler);
              await clock.advance(minutes * minute);
              ({ scheduler, lost } = await begin());
            }
          }
          world.behave = () => ({ durationMs: 0 });
          await clock.advance(8 * hour);
          await stop(clock, scheduler);

          await expectEachTickOnce(world, targets, startMs);
          expectNoOverlap(world);
          clock.assertIdle();
          await fresh.remove();
        },
      ),
      { numRuns: 40 },
    );
  });
});

/** The store as a process sees it until `vanish`: from then on nothing that it does reaches it. */
function vanishing(store: Store): Store & { vanish: () => void } {
  let isGone = false;
  const unlessGone = <Work extends (...args: never[]) => Promise<unknown>>(work: Work): Work =>
    (async (...args: never[]) => {
      if (isGone) throw new FlatlineError("store_busy", "the store cannot be reached");
      return work(...args);
    }) as Work;
  const wrap = <Part extends object>(part: Part): Part =>
    Object.fromEntries(
      Object.entries(part).map(([name, work]) => [name, typeof work === "function" ? unlessGone(work as never) : work]),
    ) as Part;
  return {
    ...store,
    vanish: () => {
      isGone = true;
    },
    runs: wrap(store.runs),
    owners: wrap(store.owners),
    transaction: (work) => unlessGone(() => store.transaction(work))(),
  };
}
