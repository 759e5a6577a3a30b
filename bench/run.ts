// Runs benchmarks: node bench/run.ts [NAME…] [--quick] [--keep]; without a name all of them, each in a process of its own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { cacheFolder, useCache } from "./harness/cache.ts";
import { benchmarkNames, hasBenchmark, loadBenchmark } from "./catalogue.ts";
import { runBenchmark } from "./harness/harness.ts";
import { missingExitCode } from "./harness/installed.ts";
import { formatResult } from "./harness/table.ts";

const usageExitCode = 64;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const [first = "", ...words] = positionals;
const own = hasBenchmark(first) ? (await loadBenchmark(first)).run : undefined;
const given = own === undefined ? positionals : [first];
const names = given.length > 0 ? given : benchmarkNames().filter(hasBenchmark);
const unknown = names.filter((name) => !benchmarkNames().includes(name) || !hasBenchmark(name));

if (values.help) console.log(await help());
else if (unknown.length > 0) {
  console.error(`no such benchmark: ${unknown.join(", ")}; there are: ${benchmarkNames().join(", ")}`);
  process.exitCode = usageExitCode;
} else {
  // Children end with this process, whatever ends it.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
  useCache(values.keep);
  if (names.length === 1) await runOne(names[0] ?? "");
  else await runAll();
  // What a side left running must not keep this process.
  process.exit();
}

/** One after the other. What one of them leaves behind in memory must not weigh on the next, nor its failure end the others. */
async function runAll(): Promise<void> {
  const failed: string[] = [];
  const skipped: string[] = [];
  const startedAtMs = performance.now();
  const minutes = (): string => `${((performance.now() - startedAtMs) / 60_000).toFixed(1)} min`;
  for (const [index, name] of names.entries()) {
    console.error(`\n[${index + 1}/${names.length}, ${minutes()}] ${name}`);
    // They share what takes minutes to build.
    const args = [...process.execArgv, fileURLToPath(import.meta.url), name, "--keep"];
    const child = spawn(process.execPath, [...args, ...(values.quick ? ["--quick"] : [])], { stdio: "inherit" });
    const end = (): void => void child.kill();
    process.once("exit", end);
    const [status] = (await once(child, "close")) as [number | null];
    process.off("exit", end);
    if (status === missingExitCode) skipped.push(name);
    else if (status !== 0) failed.push(name);
  }
  const listed = (what: string, those: readonly string[]): string =>
    those.length === 0 ? "" : `; ${what}: ${those.join(", ")}`;
  console.error(`\n${names.length} benchmarks in ${minutes()}${listed("skipped", skipped)}${listed("failed", failed)}`);
  if (failed.length > 0) process.exitCode = 1;
}

async function runOne(name: string): Promise<void> {
  const benchmark = await loadBenchmark(name);
  if (benchmark.run !== undefined) return benchmark.run(words, { quick: values.quick });
  const result = await runBenchmark(benchmark, { quick: values.quick }, (line) => console.error(line));
  console.log(`\n${formatResult(result)}\n`);
  if (result.sides.some(({ failed }) => failed !== undefined)) process.exitCode = 1;
  // Where nothing was measured, what was measured before still says more.
  if (values.quick || result.sides.every(({ metrics }) => Object.keys(metrics).length === 0)) return;
  const folder = new URL("results/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify(result, null, 2)}\n`);
  await benchmark.finish?.(result);
}

async function help(): Promise<string> {
  const lines = ["Usage: node bench/run.ts [NAME…] [--quick] [--keep]", "", "Benchmarks (all of them without a name):"];
  for (const name of benchmarkNames().filter(hasBenchmark)) {
    const { title } = await loadBenchmark(name);
    lines.push(`  ${name.padEnd(10)} ${title}`);
  }
  lines.push("", "--quick  a smoke run of each, its numbers mean nothing and are not stored");
  lines.push(`--keep   leaves ${cacheFolder} for the next run: some 6 GB that take minutes to build`);
  return lines.join("\n");
}
