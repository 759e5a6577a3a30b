// Runs benchmarks: node bench/run.ts [NAME…] [--quick]; without a name all of them, each in a process of its own.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { benchmarkNames, hasBenchmark, loadBenchmark } from "./catalogue.ts";
import { runBenchmark } from "./harness.ts";
import { formatResult } from "./table.ts";

const usageExitCode = 64;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false }, help: { type: "boolean", default: false } },
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
} else if (names.length === 1) await runOne(names[0] ?? "");
else for (const name of names) runInProcess(name);

/** What one benchmark leaves behind in memory must not weigh on the next. */
function runInProcess(name: string): void {
  const args = [...process.execArgv, fileURLToPath(import.meta.url), name, ...(values.quick ? ["--quick"] : [])];
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}

async function runOne(name: string): Promise<void> {
  const benchmark = await loadBenchmark(name);
  if (benchmark.run !== undefined) return benchmark.run(words, { quick: values.quick });
  const result = await runBenchmark(benchmark, { quick: values.quick }, (line) => console.error(line));
  console.log(`\n${formatResult(result)}\n`);
  if (values.quick) return;
  const folder = new URL("results/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify(result, null, 2)}\n`);
  await benchmark.finish?.(result);
}

async function help(): Promise<string> {
  const lines = ["Usage: node bench/run.ts [NAME…] [--quick]", "", "Benchmarks (all of them without a name):"];
  for (const name of benchmarkNames().filter(hasBenchmark)) {
    const { title } = await loadBenchmark(name);
    lines.push(`  ${name.padEnd(10)} ${title}`);
  }
  lines.push("", "--quick  a smoke run of each, its numbers mean nothing and are not stored");
  return lines.join("\n");
}
