import { stripVTControlCharacters } from "node:util";
import { escapeUnseen } from "../base/outside-text.ts";
import { severities } from "../contract/severity.ts";
import { painterFor, type CliContext } from "./context.ts";

export interface TableOptions {
  /** Heads of the columns whose cells are aligned right. */
  readonly right?: readonly string[];
  /** Heads of columns that a narrow terminal drops, in this order [none]. */
  readonly dispensable?: readonly string[];
  /** The text in place of a table without rows [its heads]. */
  readonly empty?: string;
  readonly context: Pick<CliContext, "stdout" | "env">;
}

const gap = "  ";

/**
 * Renders a list as a plain table; `cellsOf` has the head and the cell of each column. A line is cut to the terminal,
 * and a severity in the first column is coloured.
 */
export function renderTable<Item>(
  items: readonly Item[],
  cellsOf: Readonly<Record<string, (item: Item) => string | null>>,
  { right = [], dispensable = [], empty, context: { stdout, env } }: TableOptions,
): string {
  if (items.length === 0 && empty !== undefined) return `${empty}\n`;
  let columns = Object.entries(cellsOf).map(([head, cellOf]) => {
    const cells = items.map((item) => printable(cellOf(item) ?? ""));
    return { head, cells, width: cells.reduce((most, { length }) => Math.max(most, length), head.length) };
  });
  for (const name of stdout.isTerminal ? dispensable : []) {
    if (columns.reduce((sum, { width }) => sum + width + gap.length, -gap.length) <= stdout.columns) break;
    columns = columns.filter(({ head }) => head !== name);
  }
  const paint = painterFor(stdout, env);
  const line = (textOf: (column: (typeof columns)[number]) => string): string => {
    const padded = columns.map((column) =>
      right.includes(column.head) ? textOf(column).padStart(column.width) : textOf(column).padEnd(column.width),
    );
    const text = padded.join(gap).trimEnd();
    const cut = stdout.isTerminal && text.length > stdout.columns ? `${text.slice(0, stdout.columns - 1)}…` : text;
    const first = columns[0] === undefined ? "" : textOf(columns[0]);
    const severity = severities.find((one) => one === first);
    return severity === undefined ? cut : `${paint(severity, severity)}${cut.slice(first.length)}`;
  };
  const rows = items.map((_, row) => line(({ cells }) => cells[row] ?? ""));
  return `${[line(({ head }) => head), ...rows].join("\n")}\n`;
}

/** Returns a text without control characters. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is taken out
  return escapeUnseen(stripVTControlCharacters(text)).replaceAll(/[\u0000-\u001f]/g, " ");
}
