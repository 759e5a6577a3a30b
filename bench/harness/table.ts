import type { Benchmark, Goal, SideResult } from "./benchmark.ts";

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
export function sideTable({ metrics }: Benchmark, sides: readonly SideResult[]): string {
  return table(
    ["", ...metrics.map(({ title, unit }) => `${title} (${unit})`)],
    sides.map(({ name, medians, skipped }) => [
      skipped === null ? name : `${name}, not installed`,
      ...metrics.map((metric) => formatMedian(medians[metric.name])),
    ]),
  );
}

/**
 * A row for each goal: median, the peer's median, ratio, and whether it is reached; `noVerdict` says why it is not
 * said.
 */
export function goalTable(benchmark: Benchmark, sides: readonly SideResult[], noVerdict: string | null): string {
  const rows = benchmark.goals.map((goal) => {
    const metric = benchmark.metrics.find(({ name }) => name === goal.metric);
    const medianOf = (name: string | undefined) => sides.find((side) => side.name === name)?.medians[goal.metric];
    const [own, peers] = [medianOf(goal.side ?? "flatline"), medianOf(goal.peer)];
    const isTurned = goal.bound === "at least" && metric?.better === "less";
    const ratio = goal.peer === undefined ? own : isTurned ? quotient(peers, own) : quotient(own, peers);
    const unit = goal.peer === undefined ? ` ${metric?.unit ?? ""}` : "×";
    return [
      `\`${benchmark.name}\``,
      goal.title,
      formatMedian(own),
      goal.peer === undefined ? "" : `${formatMedian(peers)} ${goal.peer}`,
      ratio === undefined ? "–" : `${formatNumber(ratio)}${unit}`,
      `${formatGoal(goal, unit)}, ${noVerdict ?? verdictOf(goal, ratio)}`,
    ];
  });
  return table(["", "", "flatline", "peer", "ratio", "goal"], rows);
}

function quotient(of: number | undefined, by: number | undefined): number | undefined {
  return of === undefined || by === undefined ? undefined : of / by;
}

function formatMedian(value: number | undefined): string {
  return value === undefined ? "–" : formatNumber(value);
}

/** "≥ 8×" */
export function formatGoal({ bound, goal }: Pick<Goal, "bound" | "goal">, unit = "×"): string {
  return `${bound === "at least" ? "≥" : "≤"} ${formatNumber(goal)}${unit}`;
}

/** "met", "missed", "not measured" */
export function verdictOf({ bound, goal }: Pick<Goal, "bound" | "goal">, ratio?: number): string {
  if (ratio === undefined) return "not measured";
  return (bound === "at least" ? ratio >= goal : ratio <= goal) ? "met" : "missed";
}

/** With thousands separators, and as many digits as mean something. */
export function formatNumber(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}
