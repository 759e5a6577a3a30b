import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import type { Benchmark, Side } from "../../bench/benchmark.ts";
import { benchmarkNames, hasBenchmark, loadBenchmark } from "../../bench/catalogue.ts";
import { runBenchmark } from "../../bench/harness.ts";
import { performanceFile, performancePage, readResults } from "../../bench/report.ts";
import { formatResult } from "../../bench/table.ts";

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

describe("the benchmarks", () => {
  it.each(benchmarkNames().filter(hasBenchmark))("%s is defined under the name of its script", async (name) => {
    const benchmark = await loadBenchmark(name);

    expect(benchmark.name).toBe(name);
    const sides = benchmark.sides.map((side) => side.name);
    expect(new Set(sides).size).toBe(sides.length);
    const named = benchmark.goals.flatMap((goal) => [goal.of, goal.by]);
    expect(named.filter(({ side }) => !sides.includes(side))).toEqual([]);
    const known = benchmark.metrics.map((metric) => metric.name);
    expect(named.filter(({ metric }) => metric !== undefined && !known.includes(metric))).toEqual([]);
  });

  it("have their measured values in docs/performance.md, fresh", async () => {
    const page = readFileSync(performanceFile, "utf8");

    expect(page).toBe(await performancePage(page, readResults()));
  });
});

describe("the harness", () => {
  it("lets sides take turns, another one first each time, and stops them", async () => {
    const log: string[] = [];
    const sides = [scriptedSide("a", [6, 5, 7], log), scriptedSide("b", [2, 1, 30], log)];

    const result = await runBenchmark(scriptedBenchmark(sides), { quick: false }, silent);

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

  it("stops what it has started when another side cannot start", async () => {
    const log: string[] = [];
    const broken: Side = { name: "b", kind: "peer", start: () => Promise.reject(new Error("no port")) };

    const run = runBenchmark(scriptedBenchmark([scriptedSide("a", [1], log), broken]), { quick: false }, silent);

    await expect(run).rejects.toThrow("no port");
    expect(log).toEqual(["start a", "stop a"]);
  });
});
