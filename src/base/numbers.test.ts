import { describe, expect, it } from "vitest";

import { formatCount, formatExpected } from "./numbers.ts";

describe("numbers", () => {
  it.each([
    ["small as it is", 7, "7"],
    ["grouped by thousands", 5_119, "5,119"],
    ["whole", 1_234_567.8, "1,234,568"],
    ["all of it, however large", 12_345_678, "12,345,678"],
    ["short where nobody reads digits", 2e33, "2.0e+33"],
    ["none is no zero", null, "–"],
    ["none where it is no number", Number.NaN, "–"],
  ])("a count is %s", (_rule, count, text) => {
    expect(formatCount(count)).toBe(text);
  });

  it.each([
    ["with one decimal below 100", 11.14, "11.1"],
    ["with one decimal also where it is 0", 4, "4.0"],
    ["whole above", 1_302.4, "1,302"],
    ["0 as 0", 0, "0"],
    ["almost nothing as less than 0.1", 0.04, "<0.1"],
    ["not rounded to 100.0", 99.97, "100"],
    ["unknown as a dash", null, "–"],
  ])("what is expected is shown %s", (_rule, expected, text) => {
    expect(formatExpected(expected)).toBe(text);
  });
});
