import { beforeEach, describe, expect, it } from "vitest";

import { createVirtualClock, type VirtualClock } from "../../test/support/virtual-clock.ts";
import { dayMs, hourMs } from "../base/time.ts";
import type { HoursQuery } from "../store/runs/history.ts";
import { HourSeries } from "../store/runs/hour-series.ts";
import { createHourBook, type HourBook } from "./hour-book.ts";

const startMs = Date.UTC(2026, 10, 2);
let clock: VirtualClock;
let asked: number[];

beforeEach(() => {
  clock = createVirtualClock({ startMs });
  asked = [];
});

function bookOf(retentionMs: number): HourBook {
  const hours = ({ slugs, fromMs }: HoursQuery): Promise<ReadonlyMap<string, HourSeries>> => {
    asked.push(fromMs);
    return Promise.resolve(new Map(slugs.map((slug) => [slug, new HourSeries()])));
  };
  return createHourBook({ hours }, clock, () => retentionMs);
}

async function runHourly(book: HourBook, hours: number): Promise<HourSeries> {
  await book.read(["acme"]);
  for (let hour = 0; hour < hours; hour++) {
    await clock.advance(hourMs);
    const lastRunAtMs = clock.nowMs();
    book.note({ check: "dead-asset-spike", slug: "acme", lastRunAtMs, severity: "ok", currentCount: 3 });
  }
  return book.known("acme") ?? new HourSeries();
}

describe("the hours that are kept in memory", () => {
  it.each([
    { rule: "a week and the hours that its edges need", retentionMs: 90 * dayMs, kept: 171 },
    { rule: "no more than storage.retention", retentionMs: 36 * hourMs, kept: 36 },
    { rule: "the last one at least", retentionMs: hourMs, kept: 1 },
  ])("are $rule, however long the daemon runs", async ({ retentionMs, kept }) => {
    const hours = await runHourly(bookOf(retentionMs), 200);

    expect(asked).toEqual([startMs - kept * hourMs]);
    expect(hours.atMs(hours.length - 1)).toBe(clock.nowMs());
    expect(hours).toHaveLength(kept + 1);
  });
});
