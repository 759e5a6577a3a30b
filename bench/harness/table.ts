import type { BenchmarkResult, GoalResult, MetricResult } from "./benchmark.ts";
import { formatNumber } from "./harness.ts";

/** A result for the terminal: the sides' medians with their range, then the ratios. */
export function formatResult(result: BenchmarkResult): string {
  const metrics = result.metrics.filter(({ name }) => result.sides.some((side) => side.metrics[name] !== undefined));
  const head = ["", ...metrics.map(({ title, unit }) => `${title} (${unit})`)];
  const rows = result.sides.map((side) => [
    side.version === undefined ? side.name : `${side.name} ${side.version}`,
    ...metrics.map(({ name }) =>
      side.skipped === undefined ? formatMetric(side.metrics[name]) : `skipped: ${side.skipped}`,
    ),
  ]);
  const goals = result.goals.map((goal) => [
    goal.title,
    formatRatio(goal.ratio, goal.unit),
    formatBound(goal),
    formatMet(goal),
  ]);
  const failures = result.sides.flatMap(({ name, failed }) =>
    failed === undefined ? [] : [`${name} failed: ${failed}`],
  );
  return [
    result.title,
    alignRows([head, ...rows]),
    alignRows([["", "ratio", "goal (moonshot)", ""], ...goals]),
    ...failures,
  ].join("\n\n");
}

/** "12.3×"; of a number that is no ratio, "12.3 ms". */
export function formatRatio(ratio: number | null, unit?: string): string {
  if (ratio === null) return "–";
  return unit === undefined ? `${formatNumber(ratio)}×` : `${formatNumber(ratio)} ${unit}`;
}

/** "≥ 8× (12×)" */
export function formatBound({
  bound,
  goal,
  moonshot,
  unit,
}: Pick<GoalResult, "bound" | "goal" | "moonshot" | "unit">): string {
  const sign = bound === "at least" ? "≥" : "≤";
  return `${sign} ${formatRatio(goal, unit)}${moonshot === undefined ? "" : ` (${formatRatio(moonshot, unit)})`}`;
}

/** "moonshot", "met", "missed", "not measured" */
export function formatMet({ goalMet, moonshotMet }: GoalResult): string {
  if (goalMet === null) return "not measured";
  if (moonshotMet === true) return "moonshot";
  return goalMet ? "met" : "missed";
}

/** "1,234 (1,200–1,300)" */
export function formatMetric(metric: MetricResult | undefined): string {
  if (metric === undefined) return "";
  return `${formatNumber(metric.median)} (${formatNumber(metric.min)}–${formatNumber(metric.max)})`;
}

function alignRows(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join("  "),
    )
    .join("\n");
}
