import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { resultReport } from "../../test/support/check-reports.ts";
import { createSchedulingWorld, spikeTarget, type SchedulingWorld } from "../../test/support/scheduling.ts";
import { createFastStore, type FastStore } from "../../test/support/store/fast.ts";
import { runsOfRow } from "../../test/support/store/row-runs.ts";
import { createVirtualClock, type VirtualClock } from "../../test/support/virtual-clock.ts";
import { dayMs, minuteMs, secondMs } from "../base/time.ts";
import type { CheckTarget } from "../checks/checks.ts";
import { nothingRead } from "../store/runs/journal-row.ts";
import type { Store } from "../store/store.ts";
import type { TogetherRun } from "./run-together.ts";

// Two minutes after a tick of every five minutes.
const startMs = Date.parse("2026-05-06T12:02:00Z");
const never = new AbortController().signal;
const slugs = ["acme", "globex", "initech"];

let backend: FastStore;
beforeEach(async () => {
  backend = await createFastStore();
});
afterEach(() => backend.remove());

/** The counts of organizations, and which of them were evaluated. */
interface Counts {
  /** How long a count holds that is evaluated now; null: not at all. */
  holdMs: number | null;
  changes: number | null;
  readonly counts: Map<string, number>;
  readonly evaluated: string[];
}

interface World {
  readonly clock: VirtualClock;
  readonly store: Store;
  readonly world: SchedulingWorld;
  readonly counts: Counts;
  readonly start: (targets: readonly CheckTarget[]) => ReturnType<SchedulingWorld["process"]>;
}

async function setUp(own = backend): Promise<World> {
  const clock = createVirtualClock({ startMs });
  const store = await own.connect();
  const world = createSchedulingWorld(store, clock);
  const counts: Counts = { holdMs: dayMs * 10, changes: 0, counts: new Map(), evaluated: [] };
  const run = async (targets: readonly CheckTarget[]): Promise<(TogetherRun | null)[]> =>
    targets.map(({ slug }) => {
      counts.evaluated.push(slug);
      const nowMs = clock.nowMs();
      const currentCount = counts.counts.get(slug) ?? 3;
      if (currentCount > 100) return null;
      const found = { currentCount, baselineCount: 70, expectedCount: 10, ratio: currentCount / 10 };
      const times = { startedAtMs: nowMs, finishedAtMs: nowMs };
      const report = resultReport({ slug, severity: "ok", counts: found, ...times });
      const hold = {
        fromMs: nowMs,
        untilMs: nowMs + (counts.holdMs ?? 0),
        isCurrent: () => (counts.counts.get(slug) ?? 3) === currentCount,
      };
      return { report, hold: counts.holdMs === null ? null : hold };
    });
  const start = (targets: readonly CheckTarget[]) =>
    world.process("a", targets, { together: { run, follow: () => counts.changes } });
  return { clock, store, world, counts, start };
}

/** Every run of the journal, as text. */
async function runsOf(store: Store): Promise<string[]> {
  const { journal, checks } = await store.runs.load();
  const read = nothingRead();
  const slugOf = new Map(checks.map(({ checkId, slug }) => [checkId, slug]));
  return journal
    .flatMap(({ runs }) => runsOfRow(runs, read))
    .map(({ checkId, dueAtMs, finishedAtMs, report }) => {
      const at = (atMs: number): string => new Date(atMs).toISOString().slice(11, 19);
      return `${at(finishedAtMs)} ${slugOf.get(checkId)} due ${at(dueAtMs)}: ${report.values[0]}`;
    })
    .toSorted();
}

describe("checks whose reports hold", () => {
  it("run when they are due, without an evaluation", async () => {
    const { clock, store, counts, start } = await setUp();
    const scheduler = start(slugs.map((slug) => spikeTarget(slug)));

    await scheduler.start();
    await clock.advance(9 * minuteMs);
    await scheduler.stop(0);

    expect(counts.evaluated.toSorted()).toEqual(slugs);
    expect(await runsOf(store)).toEqual([
      ...slugs.map((slug) => `12:02:00 ${slug} due 12:02:00: 3`),
      ...slugs.map((slug) => `12:05:00 ${slug} due 12:05:00: 3`),
      ...slugs.map((slug) => `12:10:00 ${slug} due 12:10:00: 3`),
    ]);
    expect((await store.runs.load()).journal).toHaveLength(3);
  });

  it.each<{ rule: string; change: (world: World) => void; evaluated: readonly string[] }>([
    { rule: "nothing happened", change: () => undefined, evaluated: [] },
    { rule: "they hold no longer", change: ({ clock }) => clock.shiftWall(11 * dayMs), evaluated: slugs },
    { rule: "the clock is before them", change: ({ clock }) => clock.shiftWall(-30 * minuteMs), evaluated: slugs },
    {
      rule: "the counts of one have changed",
      change: ({ counts }) => {
        counts.changes = 1;
        counts.counts.set("globex", 4);
      },
      evaluated: ["globex"],
    },
    {
      rule: "it is unknown what has changed",
      change: ({ counts }) => {
        counts.changes = null;
      },
      evaluated: slugs,
    },
    { rule: "the whole report is a day old", change: ({ clock }) => clock.shiftWall(dayMs), evaluated: slugs },
  ])("are evaluated again as far as needed when $rule", async ({ change, evaluated }) => {
    const world = await setUp();
    const { clock, counts, start } = world;
    const scheduler = start(slugs.map((slug) => spikeTarget(slug)));
    await scheduler.start();
    await clock.advance(4 * minuteMs);
    counts.evaluated.length = 0;

    change(world);
    await clock.advance(5 * minuteMs);
    await scheduler.stop(0);

    expect([...new Set(counts.evaluated)].toSorted()).toEqual(evaluated);
  });

  it("leave the others for a run that is asked for, and are due with them again after it", async () => {
    const { clock, store, counts, world, start } = await setUp();
    const scheduler = start(slugs.map((slug) => spikeTarget(slug)));
    await scheduler.start();
    await clock.advance(4 * minuteMs);

    await scheduler.runNow("dead-asset-spike", "globex", never);
    await clock.advance(9 * minuteMs);
    await scheduler.stop(0);

    // By itself at 12:06, with the others at 12:10, and held by its report from then on.
    expect(world.upstream.starts).toBe(1);
    expect(counts.evaluated.toSorted()).toEqual(["acme", "globex", "globex", "initech"]);
    expect((await runsOf(store)).filter((run) => run.includes("globex"))).toEqual([
      "12:02:00 globex due 12:02:00: 3",
      "12:05:00 globex due 12:05:00: 3",
      "12:06:00 globex due 12:10:00: 3",
      "12:10:00 globex due 12:10:00: 3",
      "12:15:00 globex due 12:15:00: 3",
    ]);
  });

  it("follow a new configuration: another schedule, and an evaluation by its thresholds", async () => {
    const { clock, store, counts, start } = await setUp();
    const scheduler = start(slugs.map((slug) => spikeTarget(slug)));
    await scheduler.start();
    await clock.advance(4 * minuteMs);
    counts.evaluated.length = 0;

    scheduler.setTargets({ targets: [spikeTarget("acme"), spikeTarget("globex", { pattern: "*/2 * * * *" })] });
    await clock.advance(4 * minuteMs);
    await scheduler.stop(0);

    expect(counts.evaluated.toSorted()).toEqual(["acme", "globex"]);
    expect((await runsOf(store)).filter((run) => run > "12:06")).toEqual([
      "12:08:00 globex due 12:08:00: 3",
      "12:10:00 acme due 12:10:00: 3",
      "12:10:00 globex due 12:10:00: 3",
    ]);
  });

  it("are run again when the store did not take them", async () => {
    const { clock, store, counts } = await setUp();
    let isAway = false;
    const broken: Store = {
      ...store,
      runs: {
        ...store.runs,
        append: (...row) => (isAway ? Promise.reject(new Error("no")) : store.runs.append(...row)),
      },
      transaction: (work) => (isAway ? Promise.reject(new Error("disk is full")) : store.transaction(work)),
    };
    const world = createSchedulingWorld(broken, clock);
    const run = async (targets: readonly CheckTarget[]): Promise<TogetherRun[]> =>
      targets.map(({ slug }) => {
        counts.evaluated.push(slug);
        const nowMs = clock.nowMs();
        const report = resultReport({ slug, severity: "ok", startedAtMs: nowMs, finishedAtMs: nowMs });
        return { report, hold: { fromMs: nowMs, untilMs: Infinity, isCurrent: () => true } };
      });
    const unrecorded: string[] = [];
    const scheduler = world.process("a", [spikeTarget("acme")], {
      together: { run, follow: () => 0 },
      onUnrecorded: ({ slug }) => unrecorded.push(slug),
    });
    await scheduler.start();
    await clock.advance(2 * minuteMs);

    isAway = true;
    await clock.advance(minuteMs + 5 * secondMs);
    isAway = false;
    await clock.advance(30 * secondMs);
    await scheduler.stop(0);

    expect(unrecorded).toContain("acme");
    expect(await runsOf(store)).toHaveLength(2);
  });

  it("have the runs that they would have one by one", async () => {
    const acts = fc.oneof(
      fc.record({
        kind: fc.constant("count" as const),
        slug: fc.constantFrom(...slugs),
        count: fc.constantFrom(3, 4, 500),
      }),
      fc.record({ kind: fc.constant("ask" as const), slug: fc.constantFrom(...slugs) }),
      fc.record({ kind: fc.constant("reload" as const), kept: fc.subarray(slugs, { minLength: 1 }) }),
      fc.record({ kind: fc.constant("back" as const), byMs: fc.constantFrom(2 * minuteMs, 30 * minuteMs) }),
    );
    const steps = fc.array(fc.tuple(acts, fc.constantFrom(0, secondMs, minuteMs, 7 * minuteMs, 3 * 60 * minuteMs)), {
      maxLength: 8,
    });
    const schedules = fc.constantFrom({}, { pattern: "*/2 * * * *" }, { jitterMs: 60_000 });
    await fc.assert(
      fc.asyncProperty(steps, schedules, fc.constantFrom(5 * minuteMs, dayMs), async (given, schedule, holdMs) => {
        const found = [];
        for (const isHeld of [true, false]) {
          await using disposed = new AsyncDisposableStack();
          const own = await createFastStore();
          disposed.defer(() => own.remove());
          const { clock, store, counts, start } = await setUp(own);
          counts.holdMs = isHeld ? holdMs : null;
          const targetsOf = (all: readonly string[]) => all.map((slug) => spikeTarget(slug, schedule));
          const scheduler = start(targetsOf(slugs));
          await scheduler.start();
          for (const [act, laterMs] of given) {
            if (act.kind === "count") {
              counts.counts.set(act.slug, act.count);
              counts.changes = (counts.changes ?? 0) + 1;
            } else if (act.kind === "ask")
              await scheduler.runNow("dead-asset-spike", act.slug, never).catch(() => null);
            else if (act.kind === "reload") scheduler.setTargets({ targets: targetsOf(act.kept) });
            else clock.shiftWall(-act.byMs);
            await clock.advance(laterMs);
          }
          await clock.advance(11 * minuteMs);
          await scheduler.stop(0);
          found.push(await runsOf(store));
        }

        expect(found[0]).toEqual(found[1]);
      }),
      { numRuns: 15 },
    );
  }, 60_000);
});
