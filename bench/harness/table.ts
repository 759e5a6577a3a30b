import type { Benchmark, BenchmarkResult, Circumstances, Goal } from "./benchmark.ts";

/** A table in Markdown, which a terminal shows as one, too; columns of numbers are aligned at the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", "<br>")));
  const columns = head.map((_, column) => {
    const width = Math.max(3, ...lines.map((line) => line[column]?.length ?? 0));
    return { width, isNumber: column > 0 && rows.every((row) => /^([<+\-–]?\d.*|–)?$/.test(row[column] ?? "")) };
  });
  const written = lines.map((line) =>
    columns.map(({ width, isNumber }, column) => {
      const cell = line[column] ?? "";
      return isNumber ? cell.padStart(width) : cell.padEnd(width);
    }),
  );
  const rule = columns.map(({ width, isNumber }) => (isNumber ? `${"-".repeat(width - 1)}:` : "-".repeat(width)));
  return [...written.slice(0, 1), rule, ...written.slice(1)].map((line) => `| ${line.join(" | ")} |`).join("\n");
}

/** The sides' medians. */
export function sideTable({ metrics }: Benchmark, { sides }: BenchmarkResult): string {
  return table(
    ["", ...metrics.map(({ title, unit }) => `${title} (${unit})`)],
    sides.map(({ name, metrics: measured, skipped }) => [
      skipped === undefined ? name : `${name}, not installed`,
      ...metrics.map((metric) => formatMedian(measured[metric.name]?.median)),
    ]),
  );
}

/** The head of rows of goals. */
export const goalHead = ["", "", "flatline", "peer", "ratio", "goal (moonshot)"];

/** A row for each goal: flatline's median, its peer's, their ratio, and whether it is reached; `noVerdict` says why that is not said. */
export function goalRows(benchmark: Benchmark, result: BenchmarkResult, noVerdict: string | null): string[][] {
  return benchmark.goals.map((goal) => {
    const metric = benchmark.metrics.find(({ name }) => name === goal.metric);
    const sideOf = (name?: string) => result.sides.find((side) => side.name === name);
    const own = sideOf(goal.side)?.metrics[goal.metric]?.median;
    const peer = sideOf(goal.peer);
    const peers = peer?.metrics[goal.metric]?.median;
    const isTurned = goal.bound === "at least" && metric?.better === "less";
    const ratio = goal.peer === undefined ? own : isTurned ? quotient(peers, own) : quotient(own, peers);
    const unit = goal.peer === undefined ? ` ${metric?.unit ?? ""}` : "×";
    const missing = peer?.skipped === undefined ? formatMedian(peers) : "not installed:";
    return [
      `\`${benchmark.name}\``,
      goal.title,
      formatMedian(own),
      goal.peer === undefined ? "" : `${missing} ${goal.peer}`,
      ratio === undefined ? "–" : `${formatNumber(ratio)}${unit}`,
      `${formatGoal(goal, unit)}, ${noVerdict ?? verdictOf(goal, ratio)}`,
    ];
  });
}

function quotient(of: number | undefined, by: number | undefined): number | undefined {
  return of === undefined || by === undefined ? undefined : of / by;
}

function formatMedian(value: number | undefined): string {
  return value === undefined ? "–" : formatNumber(value);
}

/** "≥ 8× (12×)" */
export function formatGoal({ bound, goal, moonshot }: Pick<Goal, "bound" | "goal" | "moonshot">, unit = "×"): string {
  const far = moonshot === undefined ? "" : ` (${formatNumber(moonshot)}${unit})`;
  return `${bound === "at least" ? "≥" : "≤"} ${formatNumber(goal)}${unit}${far}`;
}

/** "moonshot", "met", "missed", "not measured" */
export function verdictOf(
  { bound, goal, moonshot }: Pick<Goal, "bound" | "goal" | "moonshot">,
  ratio?: number,
): string {
  const reaches = (limit: number): boolean => (bound === "at least" ? (ratio ?? 0) >= limit : (ratio ?? 0) <= limit);
  if (ratio === undefined) return "not measured";
  if (moonshot !== undefined && reaches(moonshot)) return "moonshot";
  return reaches(goal) ? "met" : "missed";
}

/** With thousands separators, and as many digits as mean something. */
export function formatNumber(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

/** "2026-11-27, 2 × …, Linux …, Node.js …." */
export function where({ machine, versions, measuredAt }: Circumstances): string {
  return `${measuredAt.slice(0, 10)}, ${machine.cores} × ${machine.cpu}, ${machine.memoryGiB} GiB, Linux ${machine.kernel}, Node.js ${versions.node}.`;
}
