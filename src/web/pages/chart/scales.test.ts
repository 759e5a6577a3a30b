import { describe, expect, it } from "vitest";

import { dayMs, hourMs, minuteMs } from "../../../base/time.ts";
import { barLengthOf, stepOf, stepPath, timeTicks, valueScale } from "./scales.ts";

const place = { head: 10, foot: 200 };

describe("the scale of counts", () => {
  it.each([
    ["ends at a round value that is near", 39_301, [0, 10_000, 20_000, 30_000, 40_000], 10],
    ["ends above the largest value where the next round one is far", 233, [0, 100, 200], null],
    ["shows no parts of a death", 1, [0, 1], 10],
    ["has a foot and a top where there is no death at all", 0, [0, 1], 10],
  ])("%s", (_, peak, ticks, top) => {
    const scale = valueScale(peak, place);

    expect(scale.ticks).toEqual(ticks);
    expect(scale.y(0)).toBe(place.foot);
    expect(scale.y(peak)).toBeGreaterThanOrEqual(place.head);
    if (top !== null) expect(scale.y(ticks.at(-1) ?? 0)).toBe(top);
  });
});

describe("the scale of time", () => {
  const fromMs = Date.UTC(2026, 10, 23, 20, 37);

  it.each([
    ["minutes", 90 * minuteMs, ["20:45", "21:00", "21:15", "21:30", "21:45", "22:00"]],
    [
      "hours, with the day at midnight",
      dayMs,
      ["21:00", "24\u00a0Nov", "03:00", "06:00", "09:00", "12:00", "15:00", "18:00"],
    ],
    ["days", 4 * dayMs, ["24\u00a0Nov", "25\u00a0Nov", "26\u00a0Nov", "27\u00a0Nov"]],
  ])("is marked at round %s", (_, lengthMs, texts) => {
    const found = timeTicks(fromMs, fromMs + lengthMs).map(({ text }) => text);

    expect(found.filter((text) => texts.includes(text))).toEqual(texts);
    expect(found.length).toBeLessThanOrEqual(8);
  });

  it.each([minuteMs, 90 * minuteMs, 12 * hourMs, dayMs, 3 * dayMs, 7 * dayMs, 38 * dayMs, 90 * dayMs, 400 * dayMs])(
    "has at most 300 steps and 300 bars, each bar of whole steps, in %i ms",
    (lengthMs) => {
      const [stepMs, barMs] = [stepOf(lengthMs), barLengthOf(lengthMs)];

      expect(lengthMs / stepMs).toBeLessThanOrEqual(300);
      expect(lengthMs / barMs).toBeLessThanOrEqual(300);
      expect(barMs % stepMs).toBe(0);
    },
  );

  it("has bars of 5 min, of 1 h from 12 h on, of 3 h from 4 d", () => {
    const lengths = [11 * hourMs, 12 * hourMs, 3 * dayMs, 4 * dayMs].map(barLengthOf);

    expect(lengths).toEqual([5 * minuteMs, hourMs, hourMs, 3 * hourMs]);
  });
});

it("draws values that hold until the next, with a gap where nothing is known", () => {
  const path = stepPath(
    [0, 10, 20, 30, 40],
    [1, 1, null, 2, 3],
    (x) => x,
    (y) => 100 - y,
  );

  expect(path).toBe("M0 99H20M30 98H40V97H40");
});
