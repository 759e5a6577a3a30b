// Measures: node bench/run.ts [NAME] [--quick]; without a name every script `bench:…`, each in a process of its own.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

import type { Benchmark } from "./harness/benchmark.ts";
import { busyMachine, runBenchmark } from "./harness/measure.ts";
import { goalHead, goalRows, sideTable, table } from "./harness/table.ts";
import { buildProgram } from "./processes.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false } },
});
const [name] = positionals;
if (name === undefined) runAll();
else await runOne(name, values.quick);
process.exit();

/** One after the other: what one leaves behind in memory must not weigh on the next, nor its failure end the others. */
function runAll(): void {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  const { scripts } = JSON.parse(text) as { scripts: Record<string, string> };
  const failed = Object.keys(scripts).filter((script) => {
    if (!script.startsWith("bench:")) return false;
    console.error(`\n${script}`);
    return (
      spawnSync("npm", ["run", script, "--", ...(values.quick ? ["--quick"] : [])], { stdio: "inherit" }).status !== 0
    );
  });
  if (failed.length === 0) return;
  console.error(`\nfailed: ${failed.join(", ")}`);
  process.exitCode = 1;
}

/** Nothing is stored of a quick run, and of a machine that others use. */
async function runOne(named: string, quick: boolean): Promise<void> {
  const { benchmark } = (await import(`./${named}.ts`)) as { benchmark: Benchmark };
  const busyBefore = await busyMachine();
  buildProgram();
  const result = await runBenchmark(benchmark, quick);
  const noVerdict = quick ? "quick" : (busyBefore ?? (await busyMachine()));
  console.log(`\n${benchmark.title}\n\n${sideTable(benchmark, result)}\n`);
  console.log(`${table(goalHead, goalRows(benchmark, result, noVerdict === null ? null : "no verdict"))}\n`);
  if (noVerdict !== null) console.log(`no verdict, and nothing is stored: ${noVerdict}`);
  else writeFileSync(new URL(`results/${named}.json`, import.meta.url), `${JSON.stringify(result, null, 2)}\n`);
  if (result.sides.some(({ failed }) => failed !== undefined)) process.exitCode = 1;
}
