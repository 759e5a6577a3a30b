import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { formatDuration, parseDuration } from "./durations.ts";

describe("parseDuration", () => {
  it.each([
    ["0", 0],
    ["0s", 0],
    ["500ms", 500],
    ["30s", 30_000],
    ["5m", 300_000],
    ["4h", 14_400_000],
    ["1d", 86_400_000],
    ["1w", 604_800_000],
    ["1y", 31_536_000_000],
    ["1h30m", 5_400_000],
    ["1m500ms", 60_500],
  ])("reads %s", (text, expectedMs) => {
    expect(parseDuration(text)).toBe(expectedMs);
  });

  it.each(["", "5", "-5s", "1.5h", "5 m", "5M", "m", "30s5m", "5m5m", "1h ", "99999999999999999y", "5min"])(
    "refuses %j",
    (text) => {
      expect(parseDuration(text)).toBeNull();
    },
  );

  it("reads back what formatDuration writes", () => {
    fc.assert(
      fc.property(fc.nat({ max: 10 ** 12 }), (durationMs) => {
        expect(parseDuration(formatDuration(durationMs))).toBe(durationMs);
      }),
    );
  });
});

describe("formatDuration", () => {
  it.each([
    [0, "0s"],
    [5_400_000, "90m"],
    [86_400_000, "24h"],
    [172_800_000, "2d"],
    [1_500, "1500ms"],
    [8_000, "8s"],
  ])("writes %d as %s", (durationMs, text) => {
    expect(formatDuration(durationMs)).toBe(text);
  });
});
