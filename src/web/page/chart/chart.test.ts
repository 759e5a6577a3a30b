import { expect, it } from "vitest";

import { dayMs, hourMs } from "../../../base/time.ts";
import { peakOf, type ChartData } from "./chart-data.ts";
import { renderChart, renderWeekNote } from "./chart.ts";

const toMs = Date.UTC(2026, 0, 15, 12);
const data: ChartData = {
  fromMs: toMs - dayMs,
  toMs,
  scale: "linear",
  at: [toMs - dayMs, toMs - hourMs],
  count: [3, 9],
  expected: [4, 4],
  warn: [10, 10],
  fail: [16, 16],
  severity: ["ok", "ok"],
  isLive: true,
  isAsked: false,
  beganMs: toMs - 6 * hourMs,
  weekBefore: null,
  shades: [],
};

it("draws the week before behind the count, on its scale, with its last value at the end", () => {
  const weekBefore = { at: [toMs - 20 * hourMs, toMs - 2 * hourMs], count: [40, 12] };

  const drawn = renderChart({ ...data, weekBefore }).html;

  expect(peakOf({ ...data, weekBefore })).toBe(40);
  expect(drawn).toMatch(/class="l-week" d="M166\.7 [\d.]+H916\.7V[\d.]+H1000"/);
  expect(drawn.indexOf("l-week")).toBeLessThan(drawn.indexOf("l-count"));
  expect(drawn).toMatch(/e-week"[^>]*><tspan class="b">12<\/tspan> a week before/);
  expect(renderWeekNote({ ...data, weekBefore }).html).toBe("");
  expect(renderWeekNote({ ...data, weekBefore: { at: [], count: [] } }).html).toContain("Nothing was recorded");
});

it.each([
  ["goes on", true, ">now<"],
  ["is over", false, ">12:00<"],
])("ends where the stretch ends, when it %s", (_what, isLive, end) => {
  const drawn = renderChart({ ...data, isLive }).html;

  expect(drawn).toContain(end);
  expect(drawn.includes("<circle")).toBe(isLive);
  expect(drawn).toContain("began 06:00");
});

it("shades what was silenced and what is not in the baseline, each in its way", () => {
  const shades = [
    { kind: "silenced", fromMs: toMs - 12 * hourMs, toMs: toMs - 6 * hourMs },
    { kind: "excluded", fromMs: toMs - hourMs, toMs },
  ] as const;

  const drawn = renderChart({ ...data, shades }).html.replaceAll(/\s+/g, " ");

  expect(drawn).toContain('<rect class="shade shade-silenced" x="50%" y="0" width="25%"');
  expect(drawn).toContain(">silenced</text>");
  // Four percent are too narrow for its words.
  expect(drawn).toContain('<rect class="shade shade-excluded"');
  expect(drawn).not.toContain(">not in the baseline</text>");
});
