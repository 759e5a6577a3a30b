import { existsSync, readFileSync } from "node:fs";

import type { Benchmark } from "./harness/benchmark.ts";

/** The names of all benchmarks: package.json's scripts `bench:NAME`, each the file bench/NAME.ts. */
export function benchmarkNames(): readonly string[] {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  const { scripts } = JSON.parse(text) as { scripts: Record<string, string> };
  return Object.keys(scripts).flatMap((script) => /^bench:(.+)$/.exec(script)?.[1] ?? []);
}

/** Whether bench/NAME.ts is there. */
export function hasBenchmark(name: string): boolean {
  return existsSync(benchmarkUrl(name));
}

/** What bench/NAME.ts exports as `benchmark`. */
export async function loadBenchmark(name: string): Promise<Benchmark> {
  const { benchmark } = (await import(benchmarkUrl(name).href)) as { benchmark: Benchmark };
  return benchmark;
}

function benchmarkUrl(name: string): URL {
  return new URL(`${name}.ts`, import.meta.url);
}
