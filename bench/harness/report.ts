// Writes the measured values into docs/benchmarks.md and docs/comparison.md, between `<!-- measured NAME -->` and `<!-- end -->`:
// node bench/harness/report.ts
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { format, resolveConfig } from "prettier";

import { benchmark as incidents } from "../incidents.ts";
import { peersTable, type PeersResult } from "../peers/report.ts";
import { stormTable, type StormResult } from "../peers/storm.ts";
import { soakTable, type SoakResult } from "../soak/report.ts";
import type { Benchmark, BenchmarkResult } from "./benchmark.ts";
import { goalHead, goalRows, sideTable, table, where } from "./table.ts";

/** The benchmarks in the order of their rows. */
const costs = ["remote", "embedded", "counts", "metrics", "ingest", "api", "start", "postgres"];

const rows: string[][] = [];
for (const name of costs) {
  const { benchmark } = (await import(`../${name}.ts`)) as { benchmark: Benchmark };
  rows.push(...goalRows(benchmark, resultOf<BenchmarkResult>(name), null));
}
const incidentsResult = resultOf<BenchmarkResult>("incidents");
const peers = resultOf<PeersResult>("peers");
const storm = resultOf<StormResult>("storm");
const soak = resultOf<SoakResult>("soak");
const blocks: Readonly<Record<string, string>> = {
  costs: `${table(goalHead, rows)}\n\nMedians; ${where(resultOf<BenchmarkResult>("remote"))}`,
  incidents: `${sideTable(incidents, incidentsResult)}\n\n${where(incidentsResult)}`,
  peers: `${peersTable(peers, null)}\n\nOne run; ${where(peers)}`,
  storm: `${stormTable(storm)}\n\nOne run; ${where(storm)}`,
  soak: `${soakTable(soak)}\n\nOne run; ${where(soak)}`,
};
for (const page of ["benchmarks", "comparison"]) {
  const path = fileURLToPath(new URL(`../../docs/${page}.md`, import.meta.url));
  const written = readFileSync(path, "utf8").replaceAll(
    /<!-- measured ([a-z]+) -->[^]*?<!-- end -->/g,
    (_, name: string) => `<!-- measured ${name} -->\n\n${blocks[name] ?? ""}\n\n<!-- end -->`,
  );
  writeFileSync(path, await format(written, { ...(await resolveConfig(path)), parser: "markdown" }));
}

function resultOf<Result>(name: string): Result {
  return JSON.parse(readFileSync(new URL(`../results/${name}.json`, import.meta.url), "utf8")) as Result;
}
