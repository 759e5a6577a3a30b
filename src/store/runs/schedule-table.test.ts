import { afterEach, describe, expect, it } from "vitest";

import { errorReport, resultReport } from "../../../test/support/check-reports.ts";
import { createMemoryScheduleStore } from "../../../test/support/memory-schedule-store.ts";
import { storeEngines, type StorePlace } from "../../../test/support/store-engines.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import type { CheckName } from "../../contract/report.ts";
import type { ClaimedRun, ScheduleEntry, ScheduleStore } from "./schedule.ts";

const nowMs = Date.UTC(2026, 5, 1);
const check = "dead-asset-spike" satisfies CheckName;
const places: StorePlace[] = [];

/** One schedule, as `processes` processes see it. */
interface Implementation {
  readonly name: string;
  readonly open: (processes: number) => Promise<ScheduleStore[]>;
}

const implementations: readonly Implementation[] = [
  {
    name: "in memory",
    open: async (processes) => Array.from({ length: processes }).fill(createMemoryScheduleStore()) as ScheduleStore[],
  },
  ...storeEngines.map(({ engine, makePlace }) => ({
    name: `in ${engine}`,
    open: async (processes: number) => {
      const place = await makePlace();
      places.push(place);
      const clock = createVirtualClock({ startMs: nowMs });
      const stores = Array.from({ length: processes }, () => place.open(clock));
      return (await Promise.all(stores)).map(({ schedule }) => schedule);
    },
  })),
];

afterEach(async () => {
  for (const place of places.splice(0)) await place.remove();
});

function entry(slug: string, dueInMs = 0, scheduleKey = "*/5"): ScheduleEntry {
  return { check, slug, scheduleKey, nextDueAtMs: nowMs + dueInMs };
}

const lease = (owner: string, forMs = 10_000) => ({ owner, nowMs, leaseUntilMs: nowMs + forMs });
const slugsOf = (runs: readonly { slug: string }[]): string[] => runs.map(({ slug }) => slug);

describe.each(implementations)("the schedule, $name,", ({ open }) => {
  async function openOne(...entries: ScheduleEntry[]): Promise<ScheduleStore> {
    const [schedule] = await open(1);
    if (schedule === undefined) throw new Error("nothing opened");
    await schedule.sync(entries);
    return schedule;
  }

  async function claimOne(schedule: ScheduleStore, owner = "a"): Promise<ClaimedRun> {
    const [run] = await schedule.claimDue({ ...lease(owner), limit: 1 });
    if (run === undefined) throw new Error("nothing due");
    return run;
  }

  it("shows what is due without leasing it, and takes such runs without a lease, each once", async () => {
    const schedule = await openOne(entry("late", -2_000), entry("due", -1_000), entry("later", 1));
    const due = await schedule.due({ nowMs, limit: 5 });
    const done = due.map((run) => {
      const report = resultReport({ slug: run.slug, finishedAtMs: nowMs });
      return { run, owner: null, report, nextDueAtMs: nowMs + 60_000 };
    });

    const first = await schedule.completeAll(done);
    const again = await schedule.completeAll(done);

    expect(slugsOf(due)).toEqual(["late", "due"]);
    expect(first.map((state) => state?.nextDueAtMs)).toEqual([nowMs + 60_000, nowMs + 60_000]);
    expect(again).toEqual([null, null]);
    expect(await schedule.due({ nowMs, limit: 5 })).toEqual([]);
  });

  it.each([
    ["holds it meanwhile", false],
    ["has run it meanwhile", true],
  ])("refuses a run without a lease of a check when somebody %s", async (_, isEnded) => {
    const schedule = await openOne(entry("acme"));
    const [run] = await schedule.due({ nowMs, limit: 1 });
    if (run === undefined) throw new Error("nothing due");
    const report = resultReport({ slug: "acme", finishedAtMs: nowMs });
    const claimed = await claimOne(schedule);
    if (isEnded) await schedule.complete({ run: claimed, owner: "a", report, nextDueAtMs: nowMs + 60_000 });

    const states = await schedule.completeAll([{ run, owner: null, report, nextDueAtMs: nowMs + 1 }]);

    expect(states).toEqual([null]);
  });

  it("lets nobody end a lease that has run out after a run without one took its place", async () => {
    const schedule = await openOne(entry("acme"));
    const lost = await claimOne(schedule);
    const [run] = await schedule.due({ nowMs: nowMs + 10_000, limit: 1 });
    if (run === undefined) throw new Error("nothing due");
    const report = resultReport({ slug: "acme", finishedAtMs: nowMs + 10_000 });

    const states = await schedule.completeAll([{ run, owner: null, report, nextDueAtMs: nowMs + 60_000 }]);
    const late = await schedule.complete({ run: lost, owner: "a", report, nextDueAtMs: nowMs + 1 });

    expect(states).toMatchObject([{ nextDueAtMs: nowMs + 60_000 }]);
    expect(late).toBe(false);
  });

  it("takes in what is wanted and tells what is gone", async () => {
    const schedule = await openOne(entry("acme"), entry("globex", 5));

    const { removed } = await schedule.sync([entry("globex", 7), entry("initech", 9)]);

    expect(removed).toEqual([{ check, slug: "acme" }]);
    expect(await schedule.entries()).toEqual([entry("globex", 5), entry("initech", 9)]);
    expect(await schedule.state(check, "acme")).toBeNull();
  });

  it.each([
    { rule: "keeps the due time while the pattern is the same", wanted: entry("acme", 900), dueInMs: 600 },
    { rule: "takes an earlier due time: the clock was set back", wanted: entry("acme", 300), dueInMs: 300 },
    { rule: "takes the due time of another pattern", wanted: entry("acme", 900, "@daily"), dueInMs: 900 },
  ])("$rule", async ({ wanted, dueInMs }) => {
    const schedule = await openOne(entry("acme", 600));

    await schedule.sync([wanted]);

    expect(await schedule.entries()).toEqual([{ ...wanted, nextDueAtMs: nowMs + dueInMs }]);
  });

  it("leaves a due time alone that a run has moved since it was looked at", async () => {
    const schedule = await openOne(entry("acme", 600));

    await schedule.sync([{ ...entry("acme", 300), seenDueAtMs: nowMs }]);
    await schedule.sync([{ ...entry("acme", 300), seenDueAtMs: null }]);
    expect(await schedule.entries()).toEqual([entry("acme", 600)]);
    await schedule.sync([{ ...entry("acme", 300), seenDueAtMs: nowMs + 600 }]);
    expect(await schedule.entries()).toEqual([entry("acme", 300)]);
  });

  it("takes in and lets go of two thousand organizations", async () => {
    const many = Array.from({ length: 2_000 }, (_, index) => entry(`slug-${index}`, index));
    const schedule = await openOne(...many);

    const { removed } = await schedule.sync(many.slice(0, 10).map((one) => ({ ...one, scheduleKey: "@daily" })));

    expect(removed).toHaveLength(1_990);
    expect((await schedule.entries()).map(({ scheduleKey }) => scheduleKey)).toEqual(Array(10).fill("@daily"));
  });

  it("leases what is due, the longest due first, up to the limit", async () => {
    const schedule = await openOne(entry("late", -5), entry("later", -9), entry("now"), entry("soon", 1));

    expect(slugsOf(await schedule.claimDue({ ...lease("a"), limit: 2 }))).toEqual(["later", "late"]);
    expect(slugsOf(await schedule.claimDue({ ...lease("a"), limit: 9 }))).toEqual(["now"]);
    expect(await schedule.claimDue({ ...lease("b"), limit: 9 })).toEqual([]);
  });

  it("leaves out what is not wanted, and looks again for the others only", async () => {
    const schedule = await openOne(entry("a", -9), entry("b", -5), entry("c", 50));
    const except = [{ check, slug: "a" }] as const;

    const claimed = await schedule.claimDue({ ...lease("x"), limit: 9, except });

    expect(slugsOf(claimed)).toEqual(["b"]);
    expect(await schedule.nextDueAtMs(nowMs, except)).toBe(nowMs + 50);
    expect(await schedule.nextDueAtMs(nowMs)).toBe(nowMs - 9);
  });

  it("tells when a claimed run was due and that it is running", async () => {
    const schedule = await openOne(entry("acme", -70));

    const run = await claimOne(schedule);

    expect(run).toMatchObject({ check, slug: "acme", dueAtMs: nowMs - 70 });
    expect(await schedule.state(check, "acme")).toMatchObject({ isRunning: true, lastReport: null, severity: null });
  });

  it("gives a run to somebody else when its lease has run out, and not before", async () => {
    const schedule = await openOne(entry("acme"));
    const lost = await claimOne(schedule);

    const early = { ...lease("b"), nowMs: nowMs + 9_999, leaseUntilMs: nowMs + 20_000, limit: 1 };
    expect(await schedule.claimDue(early)).toEqual([]);
    const [run] = await schedule.claimDue({ ...early, nowMs: nowMs + 10_000 });

    expect(run?.fence).toBeGreaterThan(lost.fence);
  });

  it("refuses the completion of a run whose lease was lost, and stores nothing of it", async () => {
    const schedule = await openOne(entry("acme"));
    const lost = await claimOne(schedule);
    const [run] = await schedule.claimDue({
      owner: "b",
      nowMs: nowMs + 10_000,
      leaseUntilMs: nowMs + 20_000,
      limit: 1,
    });
    if (run === undefined) throw new Error("not claimed");
    const done = { report: resultReport({ finishedAtMs: nowMs + 11_000 }), nextDueAtMs: nowMs + 300_000 };

    expect(await schedule.complete({ ...done, run: lost, owner: "a" })).toBe(false);
    expect(await schedule.complete({ ...done, run: lost, owner: "b" })).toBe(false);
    expect(await schedule.complete({ ...done, run, owner: "a" })).toBe(false);
    expect(await schedule.state(check, "acme")).toMatchObject({ isRunning: true, lastReport: null });
    expect(await schedule.complete({ ...done, run, owner: "b" })).toBe(true);
    expect(await schedule.complete({ ...done, run, owner: "b" })).toBe(false);
  });

  it("refuses the completion of a run that a reload took away", async () => {
    const schedule = await openOne(entry("acme"));
    const run = await claimOne(schedule);
    await schedule.sync([]);

    const isStored = await schedule.complete({ run, owner: "a", report: resultReport(), nextDueAtMs: nowMs });

    expect(isStored).toBe(false);
    expect(await schedule.states()).toEqual([]);
  });

  it("extends leases that are still held, run out ones too, and no others", async () => {
    const schedule = await openOne(entry("mine"), entry("lost"));
    const runs = await schedule.claimDue({ ...lease("a"), limit: 2 });
    const atMs = nowMs + 10_000;
    await schedule.claimNow({ check, slug: "lost", owner: "b", nowMs: atMs, leaseUntilMs: atMs + 1 });

    await schedule.renewLeases({ runs, owner: "a", nowMs: atMs, leaseUntilMs: atMs + 10_000 });

    const claimed = await schedule.claimDue({ owner: "c", nowMs: atMs + 5_000, leaseUntilMs: atMs + 9_000, limit: 9 });
    expect(slugsOf(claimed)).toEqual(["lost"]);
  });

  it("leases one at once whatever its due time, unless it is running or unknown", async () => {
    const schedule = await openOne(entry("acme", 300_000));

    expect(await schedule.claimNow({ check, slug: "acme", ...lease("a") })).toMatchObject({ dueAtMs: nowMs + 300_000 });
    expect(await schedule.claimNow({ check, slug: "acme", ...lease("b") })).toBeNull();
    expect(await schedule.claimNow({ check, slug: "globex", ...lease("b") })).toBeNull();
  });

  it("gives the leases of one owner back with their due times", async () => {
    const schedule = await openOne(entry("acme", -3), entry("globex", -2));
    await claimOne(schedule, "a");
    await claimOne(schedule, "b");

    await schedule.releaseLeases("a");

    const claimed = await schedule.claimDue({ ...lease("c"), limit: 9 });
    expect(claimed.map(({ slug, dueAtMs }) => [slug, dueAtMs])).toEqual([["acme", nowMs - 3]]);
  });

  it("keeps the last report, since when its severity holds, and the last result behind an error", async () => {
    const schedule = await openOne(entry("acme"));
    const reports = [
      resultReport({ finishedAtMs: nowMs + 1 }),
      resultReport({ finishedAtMs: nowMs + 2 }),
      errorReport({ finishedAtMs: nowMs + 3 }),
      errorReport({ finishedAtMs: nowMs + 4 }),
    ];
    const states = [];
    for (const report of reports) {
      const run = await claimOne(schedule);
      await schedule.complete({ run, owner: "a", report, nextDueAtMs: nowMs });
      states.push(await schedule.state(check, "acme"));
    }

    expect(states[1]).toMatchObject({ severity: "fail", severitySinceMs: nowMs + 1, lastSuccessAtMs: nowMs + 2 });
    expect(states[1]).toMatchObject({ lastReport: reports[1], lastResultReport: reports[1], isRunning: false });
    expect(states[3]).toMatchObject({ severity: "unknown", severitySinceMs: nowMs + 3, lastRunAtMs: nowMs + 4 });
    expect(states[3]).toMatchObject({
      lastReport: reports[3],
      lastResultReport: reports[1],
      lastSuccessAtMs: nowMs + 2,
    });
    expect(await schedule.states()).toEqual([states[3]]);
  });

  it("has each last report as it was given, whatever came before it", async () => {
    const schedule = await openOne(entry("acme"), entry("globex"));
    const ok = { severity: "ok", counts: { currentCount: 1, baselineCount: 7, expectedCount: 1, ratio: 1 } } as const;
    const reports = [
      resultReport({ ...ok, finishedAtMs: nowMs + 1 }),
      resultReport({ ...ok, finishedAtMs: nowMs + 2, result: { observed: { currentCount: 0.5 } } }),
      resultReport({ ...ok, finishedAtMs: nowMs + 3, result: { observed: { currentCount: 0.25 } } }),
      resultReport({ finishedAtMs: nowMs + 4 }),
      errorReport({ finishedAtMs: nowMs + 5 }),
      errorReport({ finishedAtMs: nowMs + 6 }),
      resultReport({ ...ok, finishedAtMs: nowMs + 7 }),
    ];

    for (const report of reports) {
      const runs = await schedule.claimDue({ ...lease("a"), limit: 2 });
      const done = runs.map((run) => ({
        run,
        owner: "a",
        report: { ...report, slug: run.slug },
        nextDueAtMs: nowMs,
      }));
      const states = await schedule.completeAll(done);

      expect(states.map((state) => state?.lastReport)).toEqual(done.map((one) => one.report));
      expect(await schedule.statesOf(runs)).toEqual(expect.arrayContaining([...states]));
    }
  });

  it.each([
    { rule: "nothing is scheduled", entries: [], held: 0, inMs: null },
    { rule: "the first is free", entries: [entry("a", 9), entry("b", 5)], held: 0, inMs: 5 },
    { rule: "what is due is held until its lease ends", entries: [entry("a", -9)], held: 1, inMs: 10_000 },
    {
      rule: "the free one comes before the lease of the other ends",
      entries: [entry("a", -9), entry("b", 50)],
      held: 1,
      inMs: 50,
    },
  ])("knows when to look again: $rule", async ({ entries, held, inMs }) => {
    const schedule = await openOne(...entries);
    if (held > 0) await schedule.claimDue({ ...lease("a"), limit: held });

    expect(await schedule.nextDueAtMs(nowMs)).toBe(inMs === null ? null : nowMs + inMs);
  });

  it("tells who ran since an instant, and their states", async () => {
    const schedule = await openOne(entry("a"), entry("b"), entry("c"));
    for (const run of await schedule.claimDue({ ...lease("x"), limit: 2 })) {
      const report = resultReport({ slug: run.slug, finishedAtMs: run.slug === "a" ? nowMs : nowMs + 5 });
      await schedule.complete({ run, owner: "x", report, nextDueAtMs: nowMs + 60_000 });
    }

    expect(await schedule.lastRuns(nowMs + 1)).toEqual([{ check, slug: "b", lastRunAtMs: nowMs + 5 }]);
    expect(slugsOf(await schedule.lastRuns(nowMs)).toSorted()).toEqual(["a", "b"]);
    const states = await schedule.statesOf([
      { check, slug: "b" },
      { check, slug: "nobody" },
      { check: "review-queue", slug: "a" },
    ]);
    expect(states).toEqual([await schedule.state(check, "b")]);
    expect(await schedule.statesOf([])).toEqual([]);
  });

  it("never gives one run to two processes", async () => {
    const processes = await open(3);
    const many = Array.from({ length: 60 }, (_, index) => entry(`slug-${index}`));
    await processes[0]?.sync(many);

    const claims = processes.flatMap((schedule, index) =>
      Array.from({ length: 5 }, () => schedule.claimDue({ ...lease(`process-${index}`), limit: 7 })),
    );
    const claimed = slugsOf((await Promise.all(claims)).flat());

    expect(claimed.toSorted()).toEqual(slugsOf(many).toSorted());
  });
});

describe.each(implementations.slice(1))("a report that is larger than what is kept, $name,", ({ open }) => {
  it("leaves what metrics show", async () => {
    const [schedule] = await open(1);
    await schedule?.sync([entry("acme")]);
    const [run] = (await schedule?.claimDue({ ...lease("a"), limit: 1 })) ?? [];
    if (schedule === undefined || run === undefined) throw new Error("not claimed");
    const keys = Array.from({ length: 10_000 }, (_, index) => `key\n"${String(index).padStart(5, "0")}"`);
    const observed = Object.fromEntries(
      keys.map((key, index) => [key, index % 2 === 0 ? index : "text".repeat(1_000)]),
    );

    await schedule.complete({ run, owner: "a", report: resultReport({ result: { observed } }), nextDueAtMs: nowMs });

    const { lastReport } = (await schedule.state(check, "acme")) ?? {};
    const shown = lastReport?.kind === "result" ? lastReport.result.observed : {};
    const numbers = Object.keys(shown).filter((key) => typeof shown[key] === "number");
    expect(numbers.slice(0, 32)).toEqual(keys.filter((_, index) => index % 2 === 0).slice(0, 32));
    expect(JSON.stringify(lastReport).length).toBeLessThan(65_536);
  });
});
