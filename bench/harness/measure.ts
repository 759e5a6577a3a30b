import { cpus, release, totalmem } from "node:os";

import { messageOf } from "../../src/base/errors.ts";
import { medianOf } from "../../src/base/numbers.ts";
import { createSystemClock } from "../../src/base/time.ts";
import type { Benchmark, Readings, Side, SideResult } from "./benchmark.ts";
import { formatNumber } from "./table.ts";

const clock = createSystemClock();
const defaultRepetitions = 5;
// So that all benchmarks together take less than half an hour; each side is measured once in any case.
const measureWithinMs = 150_000;
// A neighbour that takes a tenth moves a ratio by less than two runs differ.
const mostBusyShare = 0.1;
const lookForMs = 2_000;

interface Measured extends Side {
  readonly skipped: string | null;
  readonly hasFailed: boolean;
  readonly readings: Readings[];
  measure: (() => Promise<Readings>) | null;
}

/**
 * Sets up every side and measures them in turns. Missing peers are skipped; a side that fails is left out after that.
 */
export async function runBenchmark(benchmark: Benchmark, quick: boolean): Promise<readonly SideResult[]> {
  const say = (line: string): void => console.error(`${benchmark.name}: ${line}`);
  await using releases = new AsyncDisposableStack();
  const all = benchmark.sides.map((side): Measured => {
    const skipped = side.missing?.() ?? null;
    return { ...side, skipped, hasFailed: false, measure: null, readings: [] };
  });
  const attempt = async (one: Measured, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      Object.assign(one, { measure: null, hasFailed: true });
      say(`${one.name} failed: ${messageOf(error)}`);
    }
  };
  for (const one of all) {
    say(one.skipped === null ? `setting up ${one.name}` : `${one.name} is not installed: ${one.skipped}`);
    if (one.skipped !== null) continue;
    await attempt(one, async () => {
      one.measure = await one.start(quick, releases.use(new AsyncDisposableStack()));
    });
  }
  const repetitions = quick ? 1 : (benchmark.repetitions ?? defaultRepetitions);
  const startedAtMs = performance.now();
  for (let turn = 0; turn < repetitions; turn++) {
    const elapsedMs = performance.now() - startedAtMs;
    if (elapsedMs + elapsedMs / Math.max(turn, 1) > measureWithinMs) break;
    // Another one begins each time, so that what drifts (heat, caches, a neighbour) hits all of them.
    const first = turn % all.length;
    for (const one of [...all.slice(first), ...all.slice(0, first)])
      await attempt(one, async () => {
        if (one.measure === null) return;
        const readings = await one.measure();
        one.readings.push(readings);
        const said = Object.entries(readings).map(([metric, value]) => `${metric} ${formatNumber(value)}`);
        say(`${one.name} ${turn + 1}/${repetitions}: ${said.join(", ")}`);
      });
  }
  return all.map(({ name: side, skipped, hasFailed, readings }) => {
    const medians = benchmark.metrics.flatMap(({ name }) => {
      const value = medianOf(readings.map((one) => one[name] ?? Number.NaN).filter(Number.isFinite));
      return value === null ? [] : [[name, value]];
    });
    return { name: side, skipped, hasFailed, medians: Object.fromEntries(medians) as Readings };
  });
}

/**
 * Returns why a measurement would mean nothing now, or null. It watches for two seconds what others take of the CPUs.
 */
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

/** Returns "2026-11-27, 2 × …, Linux …, Node.js …." */
export function where(): string {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "unknown"}, ${formatNumber(totalmem() / 2 ** 30)} GiB`;
  const day = new Date(clock.nowMs()).toISOString().slice(0, 10);
  return `${day}, ${machine}, Linux ${release()}, Node.js ${process.versions.node}.`;
}

/** The median; NaN of nothing. */
export function median(values: readonly number[]): number {
  return medianOf(values) ?? Number.NaN;
}
