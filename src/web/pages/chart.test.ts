import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { minuteMs } from "../../base/time.ts";
import type { ChartData } from "../read/chart.ts";
import { describeChart, formatTick, renderChart } from "./chart.ts";

const nowMs = Date.UTC(2026, 10, 23, 22, 0);
const stepMs = 5 * minuteMs;
const fromMs = nowMs - 6 * stepMs;
const data: ChartData = {
  kind: "deaths",
  subject: "the 2 organizations",
  fromMs,
  toMs: nowMs,
  nowMs,
  stepMs,
  ends: [1, 2, 3, 4, 5, 6].map((step) => fromMs + step * stepMs),
  count: [10, 10, 60, 85, 87, 88],
  expected: [8, 8, 8, 8, 8, 8],
  warn: [16, 16, 16, 16, 16, 16],
  fail: [],
  deaths: [0, 1, 50, 25, 2, 1],
  usual: 2,
  counting: "deaths",
  windowHours: 24,
  incident: { beganMs: fromMs + 2 * stepMs, stoppedMs: fromMs + 4 * stepMs, endedMs: null },
  began: [fromMs + 2 * stepMs, fromMs + 2 * stepMs, fromMs + 3 * stepMs],
  acts: [
    { atMs: fromMs + stepMs, mark: "marker", text: "«captcha»" },
    { atMs: fromMs - 1, mark: "dot", text: "notified" },
  ],
  knownFromMs: null,
  isThin: false,
  range: "incident",
};

const draw = (chart: ChartData): string => renderChart(chart, "/incidents/1", new URLSearchParams()).html;

/** Returns the paths of one colour. */
function pathsOf(chart: ChartData, paint: string): string[] {
  const found = draw(chart).matchAll(/<path\s+(?:fill|stroke)="var\(--([\w-]+)\)"[^>]*?\sd="([^"]*)"/g);
  return [...found].flatMap(([, colour, path]) => (colour === paint ? [path ?? ""] : []));
}

describe("a chart", () => {
  it("says its numbers in one sentence", () => {
    expect(describeChart(data)).toBe(
      "Deaths of the 2 organizations from 21:30 to 22:00: " +
        "88 in 24 h; 8.0 expected; 16.0 warns above; 1 in 5 min, usually 2",
    );
    expect(draw(data)).toContain(`aria-label="${describeChart(data)}"`);
  });

  it("has red bars where more died than usual until the excess stopped, and no others", () => {
    const boxes = (colour: string): number => (pathsOf(data, colour).join("").match(/z/g) ?? []).length;

    expect([boxes("fail"), boxes("edge")]).toEqual([2, 3]);
  });

  it("says of each act within it what it was, and the values of each step", () => {
    expect([...draw(data).matchAll(/<title>([^<]*)<\/title>/g)].map(([, text]) => text).slice(0, 2)).toEqual([
      "«captcha» 21:35",
      "21:30: 10 in 24 h; 8.0 expected; 16.0 warns above; 0 in 5 min, usually 2",
    ]);
  });

  it("has a gap where no count is known, and nothing that would be usual of a thin past", () => {
    const thin: ChartData = {
      ...data,
      count: [null, null, 60, 85, null, 88],
      expected: [],
      warn: [],
      usual: null,
      isThin: true,
      knownFromMs: fromMs + 2 * stepMs,
    };

    expect(pathsOf(thin, "ink").filter((path) => path.includes("L") && path.split("M").length === 3)).toHaveLength(1);
    expect(pathsOf(thin, "sunken")).toHaveLength(1);
    expect(draw(thin)).toContain("expected: not known yet");
    expect(describeChart(thin)).not.toContain("usually");
  });

  it("has only colours of the style sheet", () => {
    const all = draw({ ...data, knownFromMs: fromMs }) + draw({ ...data, kind: "answers" });
    const sheet = readFileSync(new URL("../browser/style/base.css", import.meta.url), "utf8");
    const used = new Set([...all.matchAll(/var\(--([\w-]+)\)/g)].map(([, colour]) => colour));

    expect(used.size).toBeGreaterThan(5);
    expect([...used].filter((colour) => !sheet.includes(`  --${colour}: `))).toEqual([]);
  });

  it.each([
    [5_000, "5,000"],
    [10_000, "10k"],
    [250_000, "250k"],
    [2_000_000, "2M"],
  ])("shows %d at its axis as %s", (value, text) => {
    expect(formatTick(value)).toBe(text);
  });

  it("falls to zero while nobody answers", () => {
    const answers = draw({
      ...data,
      kind: "answers",
      subject: "security.example.com",
      count: [60, 60, 0, 0, 0, 0],
      expected: [60, 60, 60, 60, 60, 60],
      warn: [],
      deaths: null,
      began: [],
    });

    expect(answers).toContain("<h2>Good answers of security.example.com per minute</h2>");
    expect(answers).toMatch(/<b>0<\/b> good/);
  });
});
