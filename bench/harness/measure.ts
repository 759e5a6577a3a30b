import { readFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";

import { messageOf } from "../../src/base/errors.ts";
import { medianOf } from "../../src/base/numbers.ts";
import { createSystemClock } from "../../src/base/time.ts";
import { createChance } from "../../test/simulation/chance.ts";
import type { Benchmark, BenchmarkResult, Circumstances, Readings, SideResult } from "./benchmark.ts";
import { formatNumber } from "./table.ts";

const clock = createSystemClock();
const defaultRepetitions = 5;
// So that all benchmarks together take less than half an hour; each side is measured once in any case.
const measureWithinMs = 150_000;
// A neighbour that takes a tenth moves a ratio by less than two runs differ.
const mostBusyShare = 0.1;
const lookForMs = 2_000;

interface Measured {
  measure: (() => Promise<Readings>) | null;
  readonly readings: Readings[];
  skipped?: string;
  failed?: string;
}

/** Sets every side up and measures them in turns. Missing peers are skipped; a side that fails is left out from then on. */
export async function runBenchmark(benchmark: Benchmark, quick: boolean): Promise<BenchmarkResult> {
  const say = (line: string): void => console.error(`${benchmark.name}: ${line}`);
  const measured = new Map<string, Measured>();
  const attempt = async (name: string, one: Measured, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      Object.assign(one, { measure: null, failed: messageOf(error) });
      say(`${name} failed: ${one.failed}`);
    }
  };
  {
    await using releases = new AsyncDisposableStack();
    for (const side of benchmark.sides) {
      const skipped = side.missing?.() ?? null;
      const one: Measured = { measure: null, readings: [], ...(skipped === null ? {} : { skipped }) };
      measured.set(side.name, one);
      say(skipped === null ? `setting up ${side.name}` : `${side.name} is not installed: ${skipped}`);
      if (skipped === null)
        await attempt(side.name, one, async () => {
          one.measure = await side.start(quick, releases.use(new AsyncDisposableStack()));
        });
    }
    const repetitions = quick ? 1 : (benchmark.repetitions ?? defaultRepetitions);
    const startedAtMs = performance.now();
    for (let turn = 0; turn < repetitions; turn++) {
      const elapsedMs = performance.now() - startedAtMs;
      if (elapsedMs + elapsedMs / Math.max(turn, 1) > measureWithinMs) break;
      // Another one begins each time, so that what drifts (heat, caches, a neighbour) hits all of them.
      const order = [...measured];
      for (const [name, one] of [...order.slice(turn % order.length), ...order.slice(0, turn % order.length)])
        await attempt(name, one, async () => {
          if (one.measure === null) return;
          const readings = await one.measure();
          one.readings.push(readings);
          const said = Object.entries(readings).map(([metric, value]) => `${metric} ${formatNumber(value)}`);
          say(`${name} ${turn + 1}/${repetitions}: ${said.join(", ")}`);
        });
    }
  }
  const sides = benchmark.sides.map((side): SideResult => {
    const { readings = [], skipped, failed } = measured.get(side.name) ?? {};
    const metrics = benchmark.metrics.flatMap(({ name }) => {
      const values = readings.flatMap((one) => (Number.isFinite(one[name]) ? [one[name] ?? 0] : []));
      return values.length === 0 ? [] : [[name, { median: median(values), repetitions: values }]];
    });
    const version = skipped === undefined && failed === undefined ? side.version?.() : undefined;
    return {
      name: side.name,
      ...(version === undefined ? {} : { version }),
      ...(skipped === undefined ? {} : { skipped }),
      ...(failed === undefined ? {} : { failed }),
      metrics: Object.fromEntries(metrics) as SideResult["metrics"],
    };
  });
  return { name: benchmark.name, ...circumstances(), sides };
}

/** Returns why nothing that is measured now could be judged, or null: looks for two seconds what others take of the processors. */
export async function busyMachine(): Promise<string | null> {
  const before = processorTimes();
  await clock.sleep(lookForMs);
  const after = processorTimes();
  const share = 1 - (after.idle - before.idle) / (after.all - before.all);
  return share <= mostBusyShare ? null : `others take ${Math.round(100 * share)} % of the machine's processors`;
}

function processorTimes(): { readonly idle: number; readonly all: number } {
  const times = cpus().map((cpu) => cpu.times);
  const all = times.flatMap((one) => Object.values(one)).reduce((sum, one) => sum + one, 0);
  return { idle: times.reduce((sum, one) => sum + one.idle, 0), all };
}

/** Returns where and when this is. */
export function circumstances(): Circumstances {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return {
    measuredAt: new Date(clock.nowMs()).toISOString(),
    machine: {
      cpu: cpus()[0]?.model ?? "unknown",
      cores: cpus().length,
      memoryGiB: Math.round((totalmem() / 2 ** 30) * 10) / 10,
      kernel: release(),
    },
    versions: { node: process.versions.node, flatline: (JSON.parse(text) as { version: string }).version },
  };
}

/** Numbers of 0 to 1 that a seed decides. */
export function randomOf(seed: number): () => number {
  const chance = createChance(seed);
  return () => chance.next();
}

/** The median; NaN of nothing. */
export function median(values: readonly number[]): number {
  return medianOf(values) ?? Number.NaN;
}
