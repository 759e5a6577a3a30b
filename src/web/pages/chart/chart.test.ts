import { describe, expect, it } from "vitest";

import { hourMs, minuteMs } from "../../../base/time.ts";
import { incidentChart, organizationChart, platformChart, thinChart } from "../../../../test/support/chart-samples.ts";
import { describeChart, renderChart } from "./chart.ts";
import type { ChartData } from "./data.ts";

/** The strokes, or areas, of one colour, as their data. */
function pathsOf(data: ChartData, colour: string, paint = "stroke"): string[] {
  const found = renderChart(data).html.matchAll(
    new RegExp(`<path\\s+${paint}="var\\(--${colour}\\)"[^>]*?\\sd="([^"]*)"`, "g"),
  );
  return [...found].map(([, path]) => path ?? "");
}

/** The boxes of a filled area: left, right, and height. */
function boxesOf(data: ChartData, colour: string, paint = "fill") {
  return pathsOf(data, colour, paint).flatMap((path) =>
    [...path.matchAll(/M([\d.]+) ([\d.]+)V([\d.]+)H([\d.]+)V/g)].map(([, left, foot, top, right]) => ({
      left: Number(left),
      right: Number(right),
      height: Number(foot) - Number(top),
    })),
  );
}

/** All words of the drawing. */
function wordsOf(data: ChartData): string[] {
  const texts = renderChart(data).html.matchAll(/<text[^>]*>([\s\S]*?)<\/text\s*>/g);
  return [...texts].map(([, text]) =>
    (text ?? "")
      .replaceAll(/<[^>]*>/g, "")
      .replaceAll(/\s+/g, " ")
      .trim(),
  );
}

describe("the chart of an incident of many", () => {
  const data = incidentChart();

  it("says its numbers in one sentence", () => {
    expect(describeChart(data)).toBe(
      "Deaths of the 120 organizations: 39,301 deaths in the last 24 h, 3,300 expected; 11,575 in the worst 5 min, at 21:40; 13 since 22:01, usually 14; the excess stopped at 22:01",
    );
    expect(renderChart(data).html).toContain(`aria-label="${describeChart(data)}"`);
  });

  it("has red bars where it was open and more died than usual, as high as they are", () => {
    const usual = 137.5 / 12;
    const red = boxesOf(data, "fail");
    // The first minutes of the incident are in the bar from 21:35.
    const deaths = (data.bars?.deaths ?? []).slice(-7).filter((count) => count > usual);
    const perDeath = Math.max(...red.map(({ height }) => height)) / Math.max(...deaths);

    expect(red).toHaveLength(deaths.length);
    for (const [index, { height }] of red.entries()) expect(height).toBeCloseTo((deaths[index] ?? 0) * perDeath, 0);
  });

  it("has no red bar after the excess stopped, however much dies", () => {
    const bars = data.bars === null ? null : { ...data.bars, deaths: data.bars.deaths.map(() => 50) };
    const right = boxesOf({ ...data, bars }, "fail").map((box) => box.right);

    // It stopped a minute after the bar from 22:00 began.
    expect(Math.max(...right)).toBeLessThan(980);
    expect(right).toHaveLength(6);
  });

  it("says what people did beside their marks, on the side where there is room", () => {
    expect(wordsOf(data)).toEqual(expect.arrayContaining(["«captcha rollout eu-1» 21:31", "notified 21:47"]));
    const crowded = Array.from(
      { length: 9 },
      (_, index) => ({ atMs: data.toMs - index, mark: "dot", text: "commented" }) as const,
    );
    const said = wordsOf({ ...data, acts: crowded.toReversed() }).filter((word) => word.startsWith("commented"));
    expect(said).toHaveLength(2);
  });

  it("does not trust what it shows", () => {
    const evil = renderChart({
      ...data,
      subject: "<b>",
      acts: [{ atMs: data.toMs, mark: "dot", text: "<script>" }],
    }).html;

    expect(evil).not.toContain("<b>&");
    expect(evil).not.toContain("<script");
  });
});

describe("the chart of one organization", () => {
  it("has the lines of its thresholds and its states", () => {
    const data = organizationChart();

    expect(wordsOf(data)).toEqual(
      expect.arrayContaining(["233 fail above", "117 warn above", "58.3 expected", "3 in 1 h, usually 2.4"]),
    );
    expect(wordsOf(data)).toContain("ok since 22 Nov 07:07");
    expect(renderChart(data).html).toMatch(/fill="url\(#p-warn\)"[\s\S]*fill="url\(#p-unknown\)"/);
    expect(
      boxesOf(data, "ok", "stroke")
        .map(({ right }) => right)
        .at(-1),
    ).toBe(1_000);
  });

  it("says all the deaths of a range that is over instead of the last hour's", () => {
    const data = { ...organizationChart(), nowMs: organizationChart().toMs + hourMs, lately: null };
    const sum = (data.bars?.deaths ?? []).reduce((all, deaths) => all + deaths, 0);

    expect(wordsOf(data)).toContain(`${sum} in this range`);
    expect(wordsOf(data)).not.toContain("now");
  });

  it("offers ranges as links, with the one that holds", () => {
    const html = renderChart(organizationChart(new URLSearchParams("range=24h"))).html;

    expect(html).toMatch(/href="\/organizations\/acme\?range=24h" aria-current="true"\s*>24 h</);
    expect(html).toMatch(/href="\/organizations\/acme"\s*>7 d</);
  });
});

describe("the chart of a thin past", () => {
  const data = thinChart();

  it("names nothing usual or expected, and where what is known begins", () => {
    const words = wordsOf(data).join(" · ");

    expect(words).toContain("expected: not known");
    expect(words).toContain("known from 25 Nov 08:50");
    expect(words).toContain("9 an hour before it");
    expect(words).not.toMatch(/usually|\d expected/);
    expect(describeChart(data)).toContain("212 since 08:50, 9 an hour before it began at 07:00");
    expect(describeChart(data)).toContain("nothing is known before 25\u00a0Nov 08:50");
  });

  it("has an unknown past that is sunken, up to where the count begins", () => {
    const [past] = boxesOf(data, "sunken");
    const [line] = pathsOf(data, "ink");
    const first = Number(/^M([\d.]+)/.exec(line ?? "")?.[1]);

    expect(past?.left).toBe(0);
    expect(first).toBeGreaterThanOrEqual(past?.right ?? 0);
    expect(first - (past?.right ?? 0)).toBeLessThan(4);
  });

  it("has red bars of what is more than nothing, from the beginning on", () => {
    // The lane of states is as high as its blocks.
    const bars = boxesOf(data, "fail").filter(({ height }) => height !== 10);

    expect(bars).toHaveLength(3);
  });
});

describe("the chart of a platform that cannot be asked", () => {
  const data = platformChart();

  it("is a flat line at zero, and never red", () => {
    expect(pathsOf(data, "ink")[0]).toMatch(/V100H1000$/);
    expect(wordsOf(data)).toEqual(
      expect.arrayContaining(["60 asked per minute", "0 good since 02:10", "unknown since 02:10"]),
    );
    expect(renderChart(data).html).not.toMatch(/[fc]-fail"/);
    expect(describeChart(data)).toBe("Good answers per minute from 01:32 to 02:31: up to 60 before, none since 02:10");
  });

  it("is unknown from the beginning of the incident on", () => {
    const [band] = boxesOf(data, "unknown-tint");

    expect(band?.left).toBeCloseTo(((38 * minuteMs) / (59 * minuteMs)) * 1_000, 0);
    expect(band?.right).toBe(1_000);
  });
});
