import { describe, expect, it } from "vitest";

import { countEvents, defaultThresholds, spikeWindow, windowCoverage } from "./spike.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const hourMs = 3_600_000;

describe("windows", () => {
  const window = spikeWindow(nowMs, defaultThresholds);

  const instants: [string, number, string][] = [
    ["an event exactly at now is in the window", nowMs, "current"],
    ["one after now is in neither", nowMs + 1, "neither"],
    ["one just after the window's start is in the window", nowMs - 24 * hourMs + 1, "current"],
    ["one exactly at the window's start is in the baseline", nowMs - 24 * hourMs, "baseline"],
    ["one just after the baseline's start is in the baseline", nowMs - 8 * 24 * hourMs + 1, "baseline"],
    ["one exactly at the baseline's start is in neither", nowMs - 8 * 24 * hourMs, "neither"],
  ];
  it.each(instants)("%s", (_rule, atMs, place) => {
    const counts = countEvents([{ atMs }], window);

    expect(counts).toMatchObject({
      currentCount: place === "current" ? 1 : 0,
      baselineCount: place === "baseline" ? 1 : 0,
    });
  });

  it("count deaths by weight and type, and nothing that is no death", () => {
    const counts = countEvents(
      [
        { atMs: nowMs, count: 5, assetType: "URL" },
        { atMs: nowMs, count: 0, assetType: "IP" },
        { atMs: nowMs, status: "DETECTED_AS_ALIVE", assetType: "URL" },
        { atMs: nowMs - 48 * hourMs, status: "DETECTED_AS_DEAD", assetType: "URL" },
        { atMs: nowMs },
      ],
      window,
    );

    expect(counts).toEqual({
      currentCount: 6,
      baselineCount: 1,
      assetTypes: [
        { assetType: null, currentCount: 1, baselineCount: 0 },
        { assetType: "URL", currentCount: 5, baselineCount: 1 },
      ],
    });
  });

  it("stay integers that a database can hold, however long they are", () => {
    const longest = spikeWindow(nowMs, { windowHours: Number.MAX_SAFE_INTEGER, baselineDays: Number.MAX_SAFE_INTEGER });

    expect(longest).toEqual({
      baselineStartMs: Number.MIN_SAFE_INTEGER,
      windowStartMs: Number.MIN_SAFE_INTEGER,
      endMs: nowMs,
    });
  });

  const coverages: [string, number | null, number][] = [
    ["no event at all: 0", null, 0],
    ["the first event within the window: 0", nowMs - hourMs, 0],
    ["half of the baseline", nowMs - 24 * hourMs - 3.5 * 24 * hourMs, 0.5],
    ["the first event before the baseline: 1", nowMs - 100 * 24 * hourMs, 1],
  ];
  it.each(coverages)("are covered: %s", (_rule, firstEventAtMs, coverage) => {
    expect(windowCoverage(window, firstEventAtMs)).toBe(coverage);
  });
});
