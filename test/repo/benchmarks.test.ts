import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import type { Benchmark, Side } from "../../bench/harness/benchmark.ts";
import { benchmarkNames, hasBenchmark, loadBenchmark } from "../../bench/catalogue.ts";
import { growthPlot } from "../../bench/growth/plot.ts";
import { doublingFactor } from "../../bench/growth/report.ts";
import { runBenchmark } from "../../bench/harness/harness.ts";
import { readMeasured, reportFiles, reportPage } from "../../bench/harness/report.ts";
import { formatResult } from "../../bench/harness/table.ts";

const metrics = [{ name: "speed", title: "speed", unit: "runs/s", better: "more" }] as const;

/** A side that answers `values` in turn, and notes in `log` what is asked of it. */
function scriptedSide(name: string, values: readonly number[], log: string[]): Side {
  return {
    name,
    kind: "peer",
    start: () => {
      let turn = 0;
      log.push(`start ${name}`);
      return Promise.resolve({
        measure: () => {
          log.push(name);
          return Promise.resolve({ speed: values[turn++] ?? 0 });
        },
        stop: () => {
          log.push(`stop ${name}`);
          return Promise.resolve();
        },
      });
    },
  };
}

function scriptedBenchmark(sides: readonly Side[], repetitions = 3): Benchmark {
  const goal = { of: { side: "a" }, by: { side: "b" }, goal: 2, moonshot: 5 } as const;
  return {
    name: "scripted",
    title: "Numbers that were written down",
    metrics,
    sides,
    repetitions,
    goals: [
      { ...goal, title: "more", bound: "at least" },
      { ...goal, title: "less", bound: "at most" },
    ],
  };
}

const silent = (): void => undefined;
const full = { quick: false };

describe("the benchmarks", () => {
  it.each(benchmarkNames().filter(hasBenchmark))("%s is defined under the name of its script", async (name) => {
    const benchmark = await loadBenchmark(name);

    expect(benchmark.name).toBe(name);
    const sides = benchmark.sides.map((side) => side.name);
    expect(new Set(sides).size).toBe(sides.length);
    const named = benchmark.goals.flatMap((goal) => [goal.of, ...(goal.by === undefined ? [] : [goal.by])]);
    expect(named.filter(({ side }) => !sides.includes(side))).toEqual([]);
    const known = benchmark.metrics.map((metric) => metric.name);
    expect(named.filter(({ metric }) => metric !== undefined && !known.includes(metric))).toEqual([]);
  });

  it.each(reportFiles)("have their measured values in %s, fresh", async (file) => {
    const page = readFileSync(file, "utf8");

    expect(page).toBe(await reportPage(page, readMeasured()));
  });
});

describe("the harness", () => {
  it("lets sides take turns, another one first each time, and stops them", async () => {
    const log: string[] = [];
    const sides = [scriptedSide("a", [6, 5, 7], log), scriptedSide("b", [2, 1, 30], log)];

    const result = await runBenchmark(scriptedBenchmark(sides), full, silent);

    expect(log.join(" ")).toBe("start a start b a b b a a b stop b stop a");
    expect(result.sides[0]?.metrics["speed"]).toMatchObject({ median: 6, min: 5, max: 7, repetitions: [6, 5, 7] });
    expect(result.goals).toMatchObject([
      { title: "more", ratio: 3, goalMet: true, moonshotMet: false },
      { title: "less", ratio: 3, goalMet: false, moonshotMet: true },
    ]);
    expect(formatResult(result)).toContain("≥ 2× (5×)");
  });

  it("skips a peer that is missing with the command that installs it, and judges no goal by it", async () => {
    const missing = { ...scriptedSide("b", [], []), missing: () => "apt-get install b" };

    const result = await runBenchmark(
      scriptedBenchmark([scriptedSide("a", [1], []), missing]),
      { quick: true },
      silent,
    );

    expect(result.sides[1]).toMatchObject({ skipped: "apt-get install b", metrics: {} });
    expect(result.goals).toMatchObject([{ ratio: null, goalMet: null }, { goalMet: null }]);
    expect(formatResult(result)).toContain("apt-get install b");
  });

  it("measures once in a quick run", async () => {
    const log: string[] = [];

    await runBenchmark(
      scriptedBenchmark([scriptedSide("a", [1, 2], log), scriptedSide("b", [1, 2], log)]),
      { quick: true },
      silent,
    );

    expect(log.filter((line) => line === "a")).toHaveLength(1);
  });

  it("goes on without a side that cannot start, and says why", async () => {
    const log: string[] = [];
    const broken: Side = { name: "b", kind: "peer", start: () => Promise.reject(new Error("no port")) };

    const result = await runBenchmark(scriptedBenchmark([scriptedSide("a", [1], log), broken], 2), full, silent);

    expect(log).toEqual(["start a", "a", "a", "stop a"]);
    expect(result.sides).toMatchObject([{ name: "a" }, { name: "b", failed: "no port", metrics: {} }]);
    expect(result.goals).toMatchObject([{ ratio: null, goalMet: null }, { goalMet: null }]);
    expect(formatResult(result)).toContain("b failed: no port");
  });

  it("keeps what a side measured before it failed, and stops it", async () => {
    const log: string[] = [];
    const turns = [Promise.resolve({ speed: 4 }), Promise.reject(new Error("gone"))];
    turns[1]?.catch(() => undefined);
    const failing: Side = {
      name: "b",
      kind: "peer",
      start: () =>
        Promise.resolve({
          measure: () => turns.shift() ?? Promise.reject(new Error("asked too often")),
          stop: () => Promise.resolve(void log.push("stop b")),
        }),
    };

    const result = await runBenchmark(scriptedBenchmark([scriptedSide("a", [8, 8, 8], []), failing]), full, silent);

    expect(log).toEqual(["stop b"]);
    expect(result.sides[1]).toMatchObject({ failed: "gone", metrics: { speed: { repetitions: [4] } } });
    expect(result.goals).toMatchObject([{ ratio: 2 }, { ratio: 2 }]);
  });

  it("takes a number that is none for not measured", async () => {
    const result = await runBenchmark(
      scriptedBenchmark([scriptedSide("a", [Number.NaN, 3, Infinity], []), scriptedSide("b", [1, 1, 1], [])]),
      full,
      silent,
    );

    expect(result.sides[0]?.metrics["speed"]).toMatchObject({ repetitions: [3] });
  });
});

describe("growth", () => {
  const points = [
    { size: 1_000, value: 10 },
    { size: 4_000, value: 40 },
    { size: 40_000, value: 400 },
  ] as const;

  it("is 2 for each doubling where cost follows its cause, whatever the step", () => {
    expect(doublingFactor(points[0], points[1])).toBeCloseTo(2);
    expect(doublingFactor(points[1], points[2])).toBeCloseTo(2);
    expect(doublingFactor(points[0], { size: 64_000, value: 10 })).toBe(1);
  });

  it("is drawn parallel to the dashed line where it is proportional", () => {
    const svg = growthPlot({
      file: "growth-x.svg",
      axis: "organizations",
      title: "Cost",
      unit: "ms",
      lines: [{ label: "round", points }],
    });

    const paths = [...svg.matchAll(/ d="M([\d.]+) ([\d.]+)L(?:[\d. ]+L)*([\d.]+) ([\d.]+)"/g)].map(([, ...numbers]) => {
      const [fromX = 0, fromY = 0, toX = 0, toY = 0] = numbers.map(Number);
      return (toY - fromY) / (toX - fromX);
    });
    expect(paths).toHaveLength(2);
    expect(paths[0]).toBeCloseTo(paths[1] ?? Number.NaN, 2);
    expect(svg).toContain("prefers-color-scheme:dark");
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  });
});
