// Measures: node bench/run.ts [NAME] [--quick]; without a name all of them, each in a process of its own.
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

import type { Benchmark } from "./harness/benchmark.ts";
import { busyMachine, runBenchmark, where } from "./harness/measure.ts";
import { goalTable, sideTable } from "./harness/table.ts";
import { buildProgram } from "./processes.ts";

const names = ["remote", "embedded", "counts", "metrics", "ingest", "api", "start", "postgres", "night", "pages"];
const { values, positionals } = readArguments();
const [name] = positionals;
if (name === undefined) runAll();
else await runOne(name, values.quick);
process.exit();

function readArguments() {
  const wrong = (message: string): never => {
    console.error(`${message}\nusage: node bench/run.ts [${names.join("|")}] [--quick]`);
    process.exit(64);
  };
  try {
    const options = { quick: { type: "boolean", default: false } } as const;
    const read = parseArgs({ allowPositionals: true, options });
    const [named] = read.positionals;
    const isKnown = named === undefined || names.includes(named);
    return isKnown && read.positionals.length < 2 ? read : wrong(`no benchmark ${read.positionals.join(" ")}`);
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error));
  }
}

/** One after the other: what one leaves behind in memory must not weigh on the next, nor its failure end the others. */
function runAll(): void {
  const failed = names.filter((one) => {
    console.error(`\n${one}`);
    const args = ["bench/run.ts", one, ...(values.quick ? ["--quick"] : [])];
    return spawnSync(process.execPath, args, { stdio: "inherit" }).status !== 0;
  });
  if (failed.length === 0) return;
  console.error(`\nfailed: ${failed.join(", ")}`);
  process.exitCode = 1;
}

/** A quick run, and a machine that others use, give no verdict. */
async function runOne(named: string, quick: boolean): Promise<void> {
  const { benchmark } = (await import(`./${named}.ts`)) as { benchmark: Benchmark };
  const busyBefore = await busyMachine();
  buildProgram();
  const sides = await runBenchmark(benchmark, quick);
  const noVerdict = quick ? "quick" : (busyBefore ?? (await busyMachine()));
  console.log(`\n${benchmark.title}\n\n${sideTable(benchmark, sides)}\n`);
  console.log(`${goalTable(benchmark, sides, noVerdict === null ? null : "no verdict")}\n`);
  console.log(where());
  if (sides.some(({ hasFailed }) => hasFailed)) process.exitCode = 1;
}
