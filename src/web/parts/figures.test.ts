import { describe, expect, it } from "vitest";

import { formatLength, formatRatioCell, formatTick } from "./figures.ts";
import { durationText, timeText } from "../../words/numbers.ts";

const hourMs = 3_600_000;
const nowMs = Date.UTC(2026, 0, 15, 12, 0, 4);

describe("numbers", () => {
  it.each([
    ["whole from 100", { count: 5_119, expected: 11.1, ratio: 459.4 }, "459×"],
    ["with a decimal below", { count: 9, expected: 3, ratio: 3.1 }, "3.1×"],
    ["from 0 where nothing was expected", { count: 22, expected: 0, ratio: null }, "from 0"],
    ["none where nothing came either", { count: 0, expected: 0, ratio: null }, "–"],
    ["none where nothing is known", { count: null, expected: null, ratio: null }, "–"],
  ])("a ratio is %s", (_rule, row, text) => {
    expect(formatRatioCell(row)).toBe(text);
  });

  it.each([
    [5_000, "5,000"],
    [10_000, "10k"],
    [250_000, "250k"],
    [2_000_000, "2M"],
  ])("an axis shows %d as %s", (value, text) => {
    expect(formatTick(value)).toBe(text);
  });
});

describe("times", () => {
  it.each([
    ["seconds", 48_000, "48s"],
    ["minutes without seconds", 30 * 60_000 + 5_000, "30m"],
    ["hours with minutes", 11 * hourMs + 40 * 60_000, "11h 40m"],
    ["days with hours", 37 * hourMs, "1d 13h"],
    ["none below zero", -5, "0s"],
  ])("a length in a table: %s", (_rule, ms, text) => {
    expect(formatLength(ms)).toBe(text);
  });

  it("a length in prose has its units joined to their numbers", () => {
    expect(durationText(11 * hourMs + 40 * 60_000)).toBe("11\u00a0h 40\u00a0min");
  });

  it("today needs no date", () => {
    expect(timeText(nowMs, nowMs)).toBe("12:00");
    expect(timeText(nowMs - 24 * hourMs, nowMs)).toBe("14\u00a0Jan 12:00");
  });
});
