import { stripVTControlCharacters } from "node:util";
import { escapeUnseen } from "../base/unseen-text.ts";
import { hasColour, type CliContext } from "./context.ts";

export interface TableOptions {
  /** Heads of the columns whose cells are aligned right. */
  readonly right?: readonly string[];
  /** Heads of columns that a terminal goes without, in this order, until the others have room [none]. */
  readonly dispensable?: readonly string[];
  readonly context: Pick<CliContext, "stdout" | "env">;
}

/** Returns what puts a list as a table, of each column its head and its cell; `empty` says that there is nothing. */
export function listing<Item>(
  empty: string,
  columns: Readonly<Record<string, (item: Item) => string | null>>,
  options: TableOptions,
): (items: readonly Item[]) => string {
  const cells = Object.values(columns);
  return (items) =>
    items.length === 0
      ? `${empty}\n`
      : renderTable(
          Object.keys(columns),
          items.map((item) => cells.map((cell) => cell(item) ?? "")),
          options,
        );
}

const severityColours: Readonly<Record<string, string>> = {
  ok: "\u001b[32m",
  warn: "\u001b[33m",
  fail: "\u001b[31m",
  unknown: "\u001b[35m",
};

const gap = "  ";

/** Renders a plain table, columns two spaces apart; the last column is cut to the terminal. Colour only on a terminal without NO_COLOR. */
export function renderTable(
  allHeads: readonly string[],
  rows: readonly (readonly string[])[],
  options: TableOptions,
): string {
  const { stdout, env } = options.context;
  const isColoured = hasColour(stdout, env);
  const all = rows.map((row) => row.map(printable));
  const allWidths = allHeads.map((title, column) =>
    Math.max(title.length, ...all.map((row) => row[column]?.length ?? 0)),
  );
  const columns = fittingColumns(allHeads, allWidths, options);
  const kept = <Cell>(cells: readonly Cell[]): Cell[] => cells.filter((_, column) => columns.has(column));
  const [head, widths, clean] = [kept(allHeads), kept(allWidths), all.map(kept)];
  const line = (cells: readonly string[], paint: (cell: string, padded: string) => string): string => {
    const padded = cells.map((cell, column) => {
      const isRight = options.right?.includes(head[column] ?? "") ?? false;
      const width = widths[column] ?? 0;
      if (column === cells.length - 1 && !isRight) return cell;
      return isRight ? cell.padStart(width) : cell.padEnd(width);
    });
    const text = padded.join(gap).trimEnd();
    const cut = stdout.isTerminal && text.length > stdout.columns ? `${text.slice(0, stdout.columns - 1)}…` : text;
    const [first = ""] = cells;
    return cut.startsWith(first) ? paint(first, cut.slice(0, first.length)) + cut.slice(first.length) : cut;
  };
  const plain = (_cell: string, padded: string): string => padded;
  const coloured = (cell: string, padded: string): string => {
    const colour = severityColours[cell];
    return isColoured && colour !== undefined ? `${colour}${padded}\u001b[0m` : padded;
  };
  return `${[line(head, plain), ...clean.map((row) => line(row, coloured))].join("\n")}\n`;
}

/** The columns that a terminal has room for; without a terminal all of them. */
function fittingColumns(
  head: readonly string[],
  widths: readonly number[],
  { dispensable = [], context: { stdout } }: TableOptions,
): ReadonlySet<number> {
  const columns = new Set(head.keys());
  if (!stdout.isTerminal) return columns;
  for (const name of dispensable) {
    const width = [...columns].reduce((sum, column) => sum + (widths[column] ?? 0) + gap.length, -gap.length);
    if (width <= stdout.columns) break;
    columns.delete(head.indexOf(name));
  }
  return columns;
}

/** Returns a text without the control characters that would steer the terminal. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is taken out
  return escapeUnseen(stripVTControlCharacters(text)).replaceAll(/[\u0000-\u001f]/g, " ");
}
