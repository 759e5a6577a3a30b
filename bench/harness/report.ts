// Writes the measured values into docs/performance.md and docs/benchmarks.md, between their markers:
// node bench/harness/report.ts
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { format, resolveConfig } from "prettier";

import type { BenchmarkResult } from "./benchmark.ts";
import { benchmarkNames, hasBenchmark, loadBenchmark } from "../catalogue.ts";
import { formatNumber } from "./harness.ts";
import { peersMessages, peersTable, type PeersResult } from "../peers/report.ts";
import { soakPage, type SoakResult } from "../soak/report.ts";
import { formatBound, formatMet, formatMetric, formatRatio } from "./table.ts";

/** The pages with measured values: the summary for users and the benchmarks themselves. */
const reportFiles = ["docs/performance", "docs/benchmarks"].map((name) =>
  fileURLToPath(new URL(`../../${name}.md`, import.meta.url)),
);

/** Everything that was measured last; null: never to its end. */
export interface Measured {
  /** What has sides; each benchmark that ran. */
  readonly results: readonly BenchmarkResult[];
  readonly soak: SoakResult | null;
  readonly peers: PeersResult | null;
}

/** Reads what was measured last from bench/results. */
export function readMeasured(): Measured {
  return { results: readResults(), soak: readResult<SoakResult>("soak"), peers: readResult<PeersResult>("peers") };
}

function readResults(): readonly BenchmarkResult[] {
  return benchmarkNames().flatMap((name) => {
    const result = readResult<Partial<BenchmarkResult>>(name);
    // Without sides it measures no speed, and has a page of its own.
    return result === null || (result.sides ?? []).length === 0 ? [] : [result as BenchmarkResult];
  });
}

function readResult<Result>(name: string): Result | null {
  const file = new URL(`../results/${name}.json`, import.meta.url);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Result) : null;
}

/** Rewrites everything from `<!-- costs -->`, `<!-- summary -->` or `<!-- measured NAME -->` to `<!-- end -->`. */
export async function reportPage(page: string, { results, soak, peers }: Measured): Promise<string> {
  const blocks: Record<string, string> = { costs: costs(results), summary: await summary(results, soak) };
  if (peers !== null)
    blocks["measured peers"] = `${peersTable(peers)}\n\n${peersMessages(peers)}\n\nOne run; ${where(peers)}`;
  if (soak !== null) blocks["measured soak"] = `${soakPage(soak)}\n\nOne run; ${where(soak)}`;
  for (const result of results) blocks[`measured ${result.name}`] = details(result);
  const written = page.replaceAll(
    /<!-- (costs|summary|measured [a-z-]+) -->[^]*?<!-- end -->/g,
    (_, key: string) => `<!-- ${key} -->\n\n${blocks[key] ?? "Not measured yet."}\n\n<!-- end -->`,
  );
  return format(written, { ...(await resolveConfig(import.meta.filename)), parser: "markdown" });
}

/** The rows of the table for users: a benchmark, its metric, and the sides to compare. */
const costRows = [
  [
    "remote",
    "checks",
    "flatline, keep-alive",
    "blackbox_exporter, keep-alive",
    "checks of a remote source, per CPU second",
  ],
  [
    "embedded",
    "checks",
    "flatline, embedded",
    "blackbox_exporter, keep-alive",
    "checks of stored events, per CPU second",
  ],
  ["counts", "minute", "flatline, 10M events", "DuckDB, 10M events", "counts of 1,000 organizations, ms"],
  ["metrics", "render", "flatline", "prom-client", "`/metrics` of 10,000 organizations, ms"],
  ["ingest", "rate", "flatline", "one bare SQLite table with its index", "imported events per second"],
  ["api", "requests", "flatline", "bare node:http", "healthchecks served per second"],
  ["start", "start", "flatline", "bare node:http, ES module", "start until ready, ms"],
  ["start", "memory", "flatline", "bare node:http, ES module", "idle memory, MiB"],
] as const;

/** Returns flatline's costs beside those of its peers, without goals: the table for users. */
function costs(results: readonly BenchmarkResult[]): string {
  const rows = costRows.flatMap(([name, metric, ours, peer, title]) => {
    const sides = results.find((result) => result.name === name)?.sides ?? [];
    const [own, other] = [ours, peer].map((side) => sides.find((one) => one.name === side)?.metrics[metric]);
    if (own === undefined || other === undefined) return [];
    const ratio = own.better === "more" ? own.median / other.median : other.median / own.median;
    return [row([title, formatNumber(own.median), peer, formatNumber(other.median), formatRatio(ratio)])];
  });
  return [row(["", "flatline", "peer", "the peer's", "ratio"]), row(["---", "--:", "---", "--:", "--:"]), ...rows].join(
    "\n",
  );
}

async function summary(results: readonly BenchmarkResult[], soak: SoakResult | null): Promise<string> {
  const rows: string[] = [];
  for (const name of benchmarkNames().filter(hasBenchmark)) {
    const measured = results.find((result) => result.name === name)?.goals;
    for (const goal of measured ?? (await loadBenchmark(name)).goals) {
      const [ratio, met] =
        "ratio" in goal ? [formatRatio(goal.ratio, goal.unit), formatMet(goal)] : ["not measured yet", ""];
      rows.push(row([`\`bench:${name}\``, goal.title, ratio, formatBound(goal), met]));
    }
  }
  return [
    row(["benchmark", "ratio of", "measured", "goal (moonshot)", ""]),
    row(["---", "---", "--:", "--:", "---"]),
    ...rows,
    ...soakRows(soak),
  ].join("\n");
}

function soakRows(soak: SoakResult | null): readonly string[] {
  const name = "`npm run soak`";
  if (soak === null) return [row([name, "memory, file handles and the store over time", "not measured yet", "", ""])];
  return soak.lines.map(({ title, verdict }) =>
    row([name, `${title}, over time`, verdict, "level", verdict === "level" ? "met" : "missed"]),
  );
}

function details(result: BenchmarkResult): string {
  const metrics = result.metrics.filter(({ name }) => result.sides.some((side) => side.metrics[name] !== undefined));
  const head = row(["", ...metrics.map(({ title, unit }) => `${title} (${unit})`)]);
  const rows = result.sides.map((side) =>
    row([
      side.version === undefined ? side.name : `${side.name} ${side.version}`,
      ...metrics.map(({ name }) => {
        if (side.skipped !== undefined) return "not installed";
        return formatMetric(side.metrics[name]) || (side.failed === undefined ? "" : "failed");
      }),
    ]),
  );
  return [
    head,
    row(["---", ...metrics.map(() => "--:")]),
    ...rows,
    "",
    `Medians with the least and the most; ${where(result)}`,
  ].join("\n");
}

function where({
  machine,
  versions,
  measuredAt,
}: Pick<BenchmarkResult, "machine" | "measuredAt"> & {
  readonly versions: { readonly node: string };
}): string {
  return `${measuredAt.slice(0, 10)}, ${machine.cores} × ${machine.cpu}, ${machine.memoryGiB} GiB, Linux ${machine.kernel}, Node.js ${versions.node}.`;
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", String.raw`\|`)).join(" | ")} |`;
}

if (import.meta.main)
  for (const file of reportFiles) writeFileSync(file, await reportPage(readFileSync(file, "utf8"), readMeasured()));
