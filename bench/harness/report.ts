// Writes the measured values into docs/benchmarks.md and docs/comparison.md, between their markers:
// node bench/harness/report.ts
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { format, resolveConfig } from "prettier";

import type { BenchmarkResult } from "./benchmark.ts";
import { benchmarkNames } from "../catalogue.ts";
import { formatNumber } from "./harness.ts";
import { peersTable, type PeersResult } from "../peers/report.ts";
import { soakPage, type SoakResult } from "../soak/report.ts";
import { formatBound, formatMet, formatRatio } from "./table.ts";

const reportFiles = ["benchmarks", "comparison"].map((name) =>
  fileURLToPath(new URL(`../../docs/${name}.md`, import.meta.url)),
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

/** Rewrites everything from `<!-- measured NAME -->` to `<!-- end -->`. */
export async function reportPage(page: string, { results, soak, peers }: Measured): Promise<string> {
  const blocks: Record<string, string> = { costs: costs(results) };
  const incidents = results.find(({ name }) => name === "incidents");
  if (incidents !== undefined) blocks["incidents"] = `${incidentsTable(incidents)}\n\n${where(incidents)}`;
  if (peers !== null) blocks["peers"] = `${peersTable(peers)}\n\nOne run; ${where(peers)}`;
  if (soak !== null) blocks["soak"] = `${soakPage(soak)}\n\nOne run; ${where(soak)}`;
  const written = page.replaceAll(
    /<!-- measured ([a-z]+) -->[^]*?<!-- end -->/g,
    (_, key: string) => `<!-- measured ${key} -->\n\n${blocks[key] ?? "Not measured yet."}\n\n<!-- end -->`,
  );
  return format(written, { ...(await resolveConfig(import.meta.filename)), parser: "markdown" });
}

/** The rows of the table of costs: a benchmark, its metric, flatline's side, its peer's, the goal, and what it says. */
const costRows = [
  [
    "remote",
    "checks",
    "flatline, keep-alive",
    "blackbox_exporter, keep-alive",
    "remote checks, keep-alive",
    "checks of a remote source per CPU second",
  ],
  [
    "remote",
    "checks",
    "flatline, close",
    "blackbox_exporter, close",
    "remote checks, keep-alive off",
    "the same without keep-alive",
  ],
  [
    "embedded",
    "checks",
    "flatline, embedded",
    "blackbox_exporter, keep-alive",
    "embedded checks",
    "checks of stored events per CPU second",
  ],
  [
    "counts",
    "minute",
    "flatline, 10M events",
    "DuckDB, 10M events",
    "DuckDB, whole minute",
    "counts of 1,000 organizations, ms",
  ],
  ["counts", "minute", "flatline, 10M events", "PostgreSQL, 10M events", "PostgreSQL, whole minute", "the same"],
  [
    "counts",
    "minute",
    "flatline, 10M events",
    "flatline, 1M events",
    "10M ÷ 1M events, whole minute",
    "the same, with a tenth of the events",
  ],
  ["metrics", "render", "flatline", "prom-client", "one rendering", "`/metrics` of 10,000 organizations, ms"],
  [
    "metrics",
    "scrape",
    "flatline, scraped",
    "prom-client, scraped",
    "scraped by Prometheus",
    "the same, scraped by Prometheus, ms",
  ],
  [
    "ingest",
    "rate",
    "flatline",
    "one bare SQLite table with its index",
    "events stored a second",
    "imported events a second",
  ],
  ["api", "requests", "flatline", "bare node:http", "requests a second", "healthchecks served a second"],
  ["start", "start", "flatline", "bare node:http, ES module", "start", "start until ready, ms"],
  ["start", "check", "flatline", "bare node:http, ES module", "config check", "`config check`, ms"],
  ["start", "memory", "flatline", "bare node:http, ES module", "idle memory", "idle memory, MiB"],
  [
    "postgres",
    "cpu",
    "always busy, on PostgreSQL",
    "",
    "processor time of the server per check, always busy",
    "PostgreSQL's processor time per check, always busy, µs",
  ],
  [
    "postgres",
    "cpu",
    "500 checks a second, spread, on PostgreSQL",
    "",
    "processor time of the server per check, spread",
    "the same, 500 spread checks a second, µs",
  ],
] as const;

/** Returns flatline's costs beside those of its peers, and whether they reach their goals. */
function costs(results: readonly BenchmarkResult[]): string {
  const rows = costRows.flatMap(([name, metric, ours, peer, goalTitle, title]) => {
    const result = results.find((one) => one.name === name);
    const [own, other] = [ours, peer].map((side) => result?.sides.find((one) => one.name === side)?.metrics[metric]);
    const goal = result?.goals.find((one) => one.title === goalTitle);
    if (own === undefined || goal === undefined) return [];
    return [
      row([
        `\`${name}\``,
        title,
        formatNumber(own.median),
        other === undefined ? "" : `${formatNumber(other.median)} ${peer}`,
        formatRatio(goal.ratio, goal.unit),
        `${formatBound(goal)}, ${formatMet(goal)}`,
      ]),
    ];
  });
  const [measured] = results;
  const head = [
    row(["", "", "flatline", "peer", "ratio", "goal (moonshot)"]),
    row(["---", "---", "--:", "--:", "--:", "---"]),
  ];
  return `${[...head, ...rows].join("\n")}${measured === undefined ? "" : `\n\nMedians; ${where(measured)}`}`;
}

/** The columns of the table of incidents: how many years, verdicts by chance, and breaks that got one. */
const incidentColumns = ["years", "chance", "found5", "found10", "found30", "late"];

function incidentsTable(result: BenchmarkResult): string {
  const metrics = incidentColumns.flatMap((name) => result.metrics.filter((metric) => metric.name === name));
  const rows = result.sides.map((side) =>
    row([side.name, ...metrics.map(({ name }) => formatNumber(side.metrics[name]?.median ?? 0))]),
  );
  const head = row(["organizations", ...metrics.map(({ title, unit }) => `${title} (${unit})`)]);
  return [head, row(["---", ...metrics.map(() => "--:")]), ...rows].join("\n");
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
