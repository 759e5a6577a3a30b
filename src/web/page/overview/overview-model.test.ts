import { afterEach, describe, expect, it } from "vitest";

import { resultReport } from "../../../../test/support/check-reports.ts";
import { harnessNowMs as nowMs, snapshotOf, startWeb, type RunningWeb } from "../../../../test/support/web-harness.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../../../base/time.ts";
import type { CheckSnapshot } from "../../ports/checks.ts";

let web: RunningWeb | null = null;

afterEach(() => web?.close());

/** A check that ran and is due again, each so long ago, by a schedule that has its ticks there. */
function checkOf(slug: string, pace: Pick<CheckSnapshot, "intervalMs"> & Record<"ranMs" | "dueMs" | "thenMs", number>) {
  const report = resultReport({ slug, finishedAtMs: nowMs - pace.ranMs });
  return {
    ...snapshotOf(report, { nextDueAtMs: nowMs - pace.dueMs }),
    staleAfterMs: 5 * dayMs,
    intervalMs: pace.intervalMs,
    secondDueAtMs: nowMs - pace.thenMs,
  };
}

/** The text of a page, without its markup. */
async function textOf(path: string, snapshots: readonly CheckSnapshot[]): Promise<string> {
  web = await startWeb();
  web.world.snapshots = [...snapshots];
  const html = await (await fetch(`${web.url}${path}`)).text();
  return html.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
}

const onTime = { ranMs: 5 * secondMs, dueMs: -5 * secondMs, thenMs: -15 * secondMs };

describe("the foot of the page", () => {
  it.each([
    ["the interval that all have", [10 * secondMs, 10 * secondMs], "2 checks every 10s, 0 late"],
    ["the one that most have", [minuteMs, minuteMs, dayMs], "3 checks, most every 1m, 0 late"],
    ["the one that most have beside an uneven one", [minuteMs, null, minuteMs], "3 checks, most every 1m, 0 late"],
    ["none where they differ", [minuteMs, hourMs], "2 checks, 0 late"],
    ["none where the schedule is uneven", [null], "1 check, 0 late"],
  ])("names %s", async (_what, intervals, said) => {
    const snapshots = intervals.map((intervalMs, index) => checkOf(`slug-${index}`, { ...onTime, intervalMs }));

    expect(await textOf("/", snapshots)).toContain(`· ${said}`);
  });

  it("counts every check whose next run is late", async () => {
    const late = { intervalMs: 5 * minuteMs, ranMs: 7 * minuteMs, dueMs: 2 * minuteMs, thenMs: -3 * minuteMs };
    const slow = { ...late, ranMs: 5 * minuteMs + 30 * secondMs, dueMs: 30 * secondMs };
    const gone = { ...late, ranMs: 20 * minuteMs, dueMs: 15 * minuteMs, thenMs: 10 * minuteMs };

    const text = await textOf("/", [checkOf("late", late), checkOf("slow", slow), checkOf("gone", gone)]);

    expect(text).toContain("3 checks every 5m, 2 late");
  });
});

describe("a row", () => {
  it.each([
    ["waits over a weekend", { intervalMs: 10 * minuteMs, ranMs: dayMs, dueMs: -dayMs, thenMs: -dayMs - 1 }, "1d"],
    [
      "is late by its next run",
      { intervalMs: 10 * minuteMs, ranMs: 2 * dayMs, dueMs: 3 * minuteMs, thenMs: -7 * minuteMs },
      "late 3m",
    ],
    [
      "has missed two ticks after a weekend",
      { intervalMs: 10 * minuteMs, ranMs: 2 * dayMs, dueMs: 15 * minuteMs, thenMs: 5 * minuteMs },
      "last run 2d ago, due every 10m",
    ],
    [
      "has missed two ticks of 10 s, and the minute that a scheduler may be busy",
      { intervalMs: 10 * secondMs, ranMs: 90 * secondMs, dueMs: 80 * secondMs, thenMs: 70 * secondMs },
      "last run 1m ago, due every 10s",
    ],
    [
      "has missed two ticks of an uneven schedule",
      { intervalMs: null, ranMs: 31 * hourMs, dueMs: 15 * hourMs, thenMs: 7 * hourMs },
      "last run 1d 7h ago, due 31 Dec 09:00",
    ],
  ])("that %s says so", async (_what, pace, said) => {
    const text = await textOf("/", [checkOf("acme", pace)]);

    expect(text.replaceAll("\u00a0", " ")).toContain(` ${said} `);
  });
});
