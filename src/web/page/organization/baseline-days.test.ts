import { describe, expect, it } from "vitest";

import { baselineDaysOf, renderBaselineDays } from "./baseline-days.ts";

const row = { windowHours: 24, count: 30, expected: 0 };

describe("the days of a median baseline", () => {
  it("are read from what a result observed, in their order, up to the first gap", () => {
    const observed = { currentCount: 30, day1: 0, day10: 7, day2: 283, day4: 5 };

    expect(baselineDaysOf(observed)).toEqual([0, 283]);
    expect(baselineDaysOf({ currentCount: 30 })).toEqual([]);
    expect(baselineDaysOf({ day1: "many" })).toEqual([]);
  });

  it("are drawn on one scale with the window itself, and not at all by the mean", () => {
    const text = renderBaselineDays({ days: [0, 283, 0, 89, 0, 0, 0], row }).html;

    expect(text).toContain("7 days before");
    expect([...text.matchAll(/class="fill" width="(\d+)"/g)].map(([, width]) => Number(width))).toEqual([
      11, 0, 106, 0, 33, 0, 0, 0,
    ]);
    expect(renderBaselineDays({ days: [], row }).html).toBe("");
  });

  it("stay few, however long the baseline is", () => {
    const text = renderBaselineDays({ days: Array.from({ length: 60 }, () => 1), row }).html;

    expect(text.match(/class="fill"/g)).toHaveLength(29);
    expect(text).toContain("and 32 days more");
  });
});
