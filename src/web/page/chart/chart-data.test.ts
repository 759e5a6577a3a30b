import { describe, expect, it } from "vitest";

import { ticksOf } from "./chart-data.ts";

describe("ticksOf", () => {
  it.each([
    { rule: "whole numbers where deaths are few", peak: 10, ticks: [0, 5, 10] },
    { rule: "never below one", peak: 2, ticks: [0, 1, 2] },
    { rule: "quarters from tens on", peak: 100, ticks: [0, 25, 50, 75, 100] },
  ])("$rule", ({ peak, ticks }) => {
    expect(ticksOf(peak, "linear")).toEqual(ticks);
  });
});
