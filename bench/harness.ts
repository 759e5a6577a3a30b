import { readFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";

import { createSystemClock } from "../src/base/time.ts";
import type {
  Benchmark,
  BenchmarkResult,
  Goal,
  GoalResult,
  Metric,
  MetricResult,
  Reading,
  RunOptions,
  RunningSide,
  Side,
  SideResult,
} from "./benchmark.ts";

const defaultRepetitions = 5;

/** Says what is going on, on stderr. */
export type Progress = (line: string) => void;

type Measured = Map<string, Readonly<Record<string, number>>[]>;

/** Sets every side up, measures them in turns and answers medians and ratios. Missing peers are skipped. */
export async function runBenchmark(
  benchmark: Benchmark,
  options: RunOptions,
  progress: Progress,
): Promise<BenchmarkResult> {
  const skipped = new Map<string, string>();
  for (const side of benchmark.sides) {
    const install = (await side.missing?.()) ?? null;
    if (install === null) continue;
    skipped.set(side.name, install);
    progress(`${benchmark.name}: ${side.name} is not installed, skipped; to install it: ${install}`);
  }
  const present = benchmark.sides.filter(({ name }) => !skipped.has(name));
  const measured: Measured = new Map();
  const groups = benchmark.isolated === true ? present.map((side) => [side]) : [present];
  for (const group of groups) await measureGroup(benchmark, group, options, progress, measured);

  const sides: SideResult[] = [];
  for (const side of benchmark.sides) sides.push(await sideResult(benchmark, side, measured, skipped));
  return {
    name: benchmark.name,
    title: benchmark.title,
    measuredAt: new Date(createSystemClock().nowMs()).toISOString(),
    machine: {
      cpu: cpus()[0]?.model ?? "unknown",
      cores: cpus().length,
      memoryGiB: Math.round((totalmem() / 2 ** 30) * 10) / 10,
      kernel: release(),
    },
    versions: { node: process.versions.node, flatline: flatlineVersion() },
    metrics: benchmark.metrics,
    sides,
    goals: benchmark.goals.map((goal) => goalResult(goal, sides, benchmark.metrics)),
  };
}

async function measureGroup(
  benchmark: Benchmark,
  sides: readonly Side[],
  options: RunOptions,
  progress: Progress,
  measured: Measured,
): Promise<void> {
  const repetitions = options.quick ? 1 : (benchmark.repetitions ?? defaultRepetitions);
  const running: { side: Side; running: RunningSide }[] = [];
  try {
    for (const side of sides) {
      progress(`${benchmark.name}: setting up ${side.name}`);
      running.push({ side, running: await side.start(options) });
    }
    for (let repetition = 0; repetition < repetitions; repetition++) {
      // Another one begins each time, so that what drifts (heat, caches, a neighbour) hits all of them.
      for (let turn = 0; turn < running.length; turn++) {
        const one = running[(repetition + turn) % running.length];
        if (one === undefined) continue;
        const readings = await one.running.measure();
        const said = Object.entries(readings).map(([name, value]) => `${name} ${formatNumber(value)}`);
        progress(`${benchmark.name}: ${one.side.name} ${repetition + 1}/${repetitions}: ${said.join(", ")}`);
        measured.set(one.side.name, [...(measured.get(one.side.name) ?? []), readings]);
      }
    }
  } finally {
    for (const one of running.toReversed()) await one.running.stop();
  }
}

async function sideResult(
  benchmark: Benchmark,
  side: Side,
  measured: Measured,
  skipped: ReadonlyMap<string, string>,
): Promise<SideResult> {
  const { name, kind } = side;
  const install = skipped.get(name);
  if (install !== undefined) return { name, kind, skipped: install, metrics: {} };
  const repetitions = measured.get(name) ?? [];
  const metrics: Record<string, MetricResult> = {};
  for (const metric of benchmark.metrics) {
    const values = repetitions.map((one) => one[metric.name]).filter((value) => value !== undefined);
    if (values.length > 0) metrics[metric.name] = metricResult(metric, values);
  }
  const version = await side.version?.();
  return { name, kind, ...(version === undefined ? {} : { version }), metrics };
}

function metricResult({ unit, better }: Metric, repetitions: readonly number[]): MetricResult {
  return {
    unit,
    better,
    median: median(repetitions),
    min: Math.min(...repetitions),
    max: Math.max(...repetitions),
    repetitions,
  };
}

/** The middle one, or the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

function goalResult(goal: Goal, sides: readonly SideResult[], metrics: readonly Metric[]): GoalResult {
  const of = readingOf(goal.of, sides, metrics);
  const by = readingOf(goal.by, sides, metrics);
  const ratio = of === null || by === null ? null : of / by;
  const { title, bound } = goal;
  const moonshot =
    goal.moonshot === undefined ? {} : { moonshot: goal.moonshot, moonshotMet: isMet(ratio, bound, goal.moonshot) };
  return { title, ratio, bound, goal: goal.goal, goalMet: isMet(ratio, bound, goal.goal), ...moonshot };
}

function isMet(ratio: number | null, bound: Goal["bound"], limit: number): boolean | null {
  if (ratio === null) return null;
  return bound === "at least" ? ratio >= limit : ratio <= limit;
}

function readingOf(reading: Reading, sides: readonly SideResult[], metrics: readonly Metric[]): number | null {
  const side = sides.find(({ name }) => name === reading.side);
  if (side === undefined) throw new Error(`a goal names the side "${reading.side}", which the benchmark does not have`);
  const metric = reading.metric ?? metrics[0]?.name ?? "";
  if (side.skipped === undefined && side.metrics[metric] === undefined)
    throw new Error(`a goal names ${reading.side}'s "${metric}", which was not measured`);
  return side.metrics[metric]?.median ?? null;
}

function flatlineVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** With thousands separators, and as many digits as mean something. */
export function formatNumber(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}
