// Writes the measured values into docs/performance.md, between its markers: node bench/report.ts
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { format, resolveConfig } from "prettier";

import type { BenchmarkResult } from "./benchmark.ts";
import { benchmarkNames, hasBenchmark, loadBenchmark } from "./catalogue.ts";
import { growthPage } from "./growth-report.ts";
import { soakPage, type SoakResult } from "./soak-report.ts";
import { formatBound, formatMet, formatMetric, formatRatio } from "./table.ts";

/** Where the page is. */
export const performanceFile = fileURLToPath(new URL("../docs/performance.md", import.meta.url));

/** What was measured last, by benchmark; those that never ran are not in it. */
export function readResults(): readonly BenchmarkResult[] {
  return benchmarkNames().flatMap((name) => {
    const file = new URL(`results/${name}.json`, import.meta.url);
    const results = existsSync(file) ? [JSON.parse(readFileSync(file, "utf8")) as BenchmarkResult] : [];
    // Without sides it measures no speed, and has a page of its own.
    return results.filter(({ sides }) => sides.length > 0);
  });
}

/** What the soak said last; null when it never ran to its end. */
export function readSoak(): SoakResult | null {
  const file = new URL("results/soak.json", import.meta.url);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as SoakResult) : null;
}

/** The page with everything between `<!-- summary -->`, or `<!-- measured NAME -->`, and its `<!-- end -->` written anew. */
export async function performancePage(
  page: string,
  results: readonly BenchmarkResult[],
  soak: SoakResult | null,
): Promise<string> {
  const blocks: Record<string, string> = { summary: await summary(results, soak) };
  if (soak !== null) blocks["measured soak"] = `${soakPage(soak)}\n\nOne run; ${where(soak)}`;
  for (const result of results)
    blocks[`measured ${result.name}`] =
      result.name === "growth" ? `${growthPage(result)}\n\nMeasured once; ${where(result)}` : details(result);
  const written = page.replaceAll(
    /<!-- (summary|measured [a-z-]+) -->[^]*?<!-- end -->/g,
    (_, key: string) => `<!-- ${key} -->\n\n${blocks[key] ?? "Not measured yet."}\n\n<!-- end -->`,
  );
  return format(written, { ...(await resolveConfig(performanceFile)), parser: "markdown" });
}

async function summary(results: readonly BenchmarkResult[], soak: SoakResult | null): Promise<string> {
  const rows: string[] = [];
  for (const name of benchmarkNames().filter(hasBenchmark)) {
    const measured = results.find((result) => result.name === name)?.goals;
    for (const goal of measured ?? (await loadBenchmark(name)).goals) {
      const [ratio, met] = "ratio" in goal ? [formatRatio(goal.ratio), formatMet(goal)] : ["not measured yet", ""];
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
  writeFileSync(
    performanceFile,
    await performancePage(readFileSync(performanceFile, "utf8"), readResults(), readSoak()),
  );
