import { readFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";

import { createSystemClock } from "../../src/base/time.ts";
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
// So that all benchmarks together take less than half an hour; each side is measured once in any case.
const measureWithinMs = 150_000;
// What hangs must not hold up the other benchmarks. Setting up may build ten million rows.
const startWithinMs = 15 * 60_000;
const turnWithinMs = 7 * 60_000;
const stopWithinMs = 30_000;

/** Says what is going on, on stderr. */
export type Progress = (line: string) => void;

interface Measured {
  readonly readings: Map<string, Readonly<Record<string, number>>[]>;
  /** What went wrong with a side. */
  readonly failed: Map<string, string>;
}

/**
 * Sets every side up, measures them in turns and answers medians and ratios. Missing peers are skipped; a side that fails is
 * left out from then on, and says so in the result.
 */
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
  const measured: Measured = { readings: new Map(), failed: new Map() };
  const groups = benchmark.isolated === true ? present.map((side) => [side]) : [present];
  const limitMs = measureWithinMs / groups.length;
  for (const group of groups) await measureGroup({ benchmark, sides: group, options, progress, measured, limitMs });

  const sides: SideResult[] = [];
  for (const side of benchmark.sides) sides.push(await sideResult(benchmark, side, measured, skipped));
  return {
    name: benchmark.name,
    title: benchmark.title,
    measuredAt: new Date(createSystemClock().nowMs()).toISOString(),
    machine: describeMachine(),
    versions: describeVersions(),
    metrics: benchmark.metrics,
    sides,
    goals: benchmark.goals.map((goal) => goalResult(goal, sides, benchmark.metrics)),
  };
}

interface Group {
  readonly benchmark: Benchmark;
  readonly sides: readonly Side[];
  readonly options: RunOptions;
  readonly progress: Progress;
  readonly measured: Measured;
  /** No repetition begins that is not likely to end within it. */
  readonly limitMs: number;
}

async function measureGroup({ benchmark, sides, options, progress, measured, limitMs }: Group): Promise<void> {
  const running = new Map<Side, RunningSide>();
  const failed = ({ name }: Side, what: string, error: unknown): void => {
    const message = error instanceof Error ? error.message : String(error);
    measured.failed.set(name, message);
    progress(`${benchmark.name}: ${name} failed ${what}: ${message}`);
  };
  const stop = async (side: Side): Promise<void> => {
    const started = running.get(side);
    running.delete(side);
    try {
      if (started !== undefined) await within(stopWithinMs, started.stop());
    } catch (error) {
      failed(side, "when it stopped", error);
    }
  };
  for (const side of sides) {
    progress(`${benchmark.name}: setting up ${side.name}`);
    try {
      running.set(side, await within(startWithinMs, side.start(options)));
    } catch (error) {
      failed(side, "to start", error);
    }
  }
  const repetitions = options.quick ? 1 : (benchmark.repetitions ?? defaultRepetitions);
  const startedAtMs = performance.now();
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const elapsedMs = performance.now() - startedAtMs;
    if (elapsedMs + elapsedMs / Math.max(repetition, 1) > limitMs) break;
    // Another one begins each time, so that what drifts (heat, caches, a neighbour) hits all of them.
    const order = [...running];
    const first = order.length === 0 ? 0 : repetition % order.length;
    for (const [side, started] of [...order.slice(first), ...order.slice(0, first)]) {
      try {
        const readings = await within(turnWithinMs, started.measure());
        const said = Object.entries(readings).map(([name, value]) => `${name} ${formatNumber(value)}`);
        progress(`${benchmark.name}: ${side.name} ${repetition + 1}/${repetitions}: ${said.join(", ")}`);
        measured.readings.set(side.name, [...(measured.readings.get(side.name) ?? []), readings]);
      } catch (error) {
        failed(side, "when it was measured", error);
        await stop(side);
      }
    }
  }
  for (const side of sides.toReversed()) await stop(side);
}

async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`took longer than ${limitMs / 1_000} s`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
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
  const repetitions = measured.readings.get(name) ?? [];
  const metrics: Record<string, MetricResult> = {};
  for (const metric of benchmark.metrics) {
    const values = repetitions.map((one) => one[metric.name]).filter(isNumber);
    if (values.length > 0) metrics[metric.name] = metricResult(metric, values);
  }
  const failed = measured.failed.get(name);
  // What could not start may not be able to say its version either.
  const version = failed === undefined ? await side.version?.() : undefined;
  return {
    name,
    kind,
    ...(version === undefined ? {} : { version }),
    ...(failed === undefined ? {} : { failed }),
    metrics,
  };
}

/** Nothing was divided by nothing. */
function isNumber(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value);
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
  const by = goal.by === undefined ? 1 : readingOf(goal.by, sides, metrics);
  const ratio = of === null || by === null ? null : of / by;
  const { title, bound } = goal;
  const metric = metrics.find(({ name }) => name === goal.of.metric) ?? metrics[0];
  const unit = goal.by === undefined && metric !== undefined ? { unit: metric.unit } : {};
  const moonshot =
    goal.moonshot === undefined ? {} : { moonshot: goal.moonshot, moonshotMet: isMet(ratio, bound, goal.moonshot) };
  return { title, ratio, ...unit, bound, goal: goal.goal, goalMet: isMet(ratio, bound, goal.goal), ...moonshot };
}

function isMet(ratio: number | null, bound: Goal["bound"], limit: number): boolean | null {
  if (ratio === null) return null;
  return bound === "at least" ? ratio >= limit : ratio <= limit;
}

function readingOf(reading: Reading, sides: readonly SideResult[], metrics: readonly Metric[]): number | null {
  const side = sides.find(({ name }) => name === reading.side);
  if (side === undefined) throw new Error(`a goal names the side "${reading.side}", which the benchmark does not have`);
  const metric = reading.metric ?? metrics[0]?.name ?? "";
  if (side.skipped === undefined && side.failed === undefined && side.metrics[metric] === undefined)
    throw new Error(`a goal names ${reading.side}'s "${metric}", which was not measured`);
  return side.metrics[metric]?.median ?? null;
}

/** Returns what a result says of the machine that it was measured on. */
export function describeMachine(): BenchmarkResult["machine"] {
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryGiB: Math.round((totalmem() / 2 ** 30) * 10) / 10,
    kernel: release(),
  };
}

/** Returns the versions of what measured and of what was measured. */
export function describeVersions(): BenchmarkResult["versions"] {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return { node: process.versions.node, flatline: (JSON.parse(text) as { version: string }).version };
}

/** With thousands separators, and as many digits as mean something. */
export function formatNumber(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}
