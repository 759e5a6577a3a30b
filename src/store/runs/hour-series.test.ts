import { expect, it } from "vitest";

import { hourMs } from "../../base/time.ts";
import { HourSeries } from "./hour-series.ts";

function seriesOf(...atMs: readonly number[]): HourSeries {
  const series = new HourSeries();
  for (const at of atMs) series.add({ atMs: at, severity: "ok", currentCount: at });
  return series;
}

function instantsOf(series: HourSeries): number[] {
  return Array.from({ length: series.length }, (_, index) => series.atMs(index));
}

it("keeps the last run of each hour", () => {
  const series = seriesOf(1, 2, hourMs, 2 * hourMs - 1, 5 * hourMs);

  expect(instantsOf(series)).toEqual([2, 2 * hourMs - 1, 5 * hourMs]);
});

it("answers what was added", () => {
  const series = new HourSeries();
  series.add({ atMs: 1, severity: "fail", currentCount: 5_119 });
  series.add({ atMs: hourMs, severity: "unknown", currentCount: null });

  const read = [0, 1].map((index) => [series.severity(index), series.currentCount(index)]);
  expect(read).toEqual([
    ["fail", 5_119],
    ["unknown", null],
  ]);
});

it("forgets what is too old, however often", () => {
  const series = new HourSeries();
  for (let hour = 0; hour < 500; hour++) {
    series.add({ atMs: hour * hourMs, severity: "ok", currentCount: hour });
    series.dropBefore(hour - 100);
  }

  expect(instantsOf(series)).toEqual(Array.from({ length: 101 }, (_, index) => (399 + index) * hourMs));
});

it.each([
  { rule: "the run of the hour", hour: 4, found: 1 },
  { rule: "the one before, where the hour has none", hour: 6, found: 1 },
  { rule: "none where that is too long ago", hour: 7, found: null },
  { rule: "none before the first", hour: 0, found: null },
  { rule: "the last one after it", hour: 11, found: 2 },
])("finds $rule", ({ hour, found }) => {
  expect(seriesOf(hourMs, 4 * hourMs, 10 * hourMs).lastIn(hour, 2)).toBe(found);
});
