import { stripVTControlCharacters } from "node:util";
import { escapeUnseen } from "../base/unseen-text.ts";
import { hasColour, type CliContext } from "./context.ts";

export interface TableOptions {
  /** Heads of the columns whose cells are aligned right. */
  readonly right?: readonly string[];
  readonly context: Pick<CliContext, "stdout" | "env">;
}

const severityColours: Readonly<Record<string, string>> = {
  ok: "\u001b[32m",
  warn: "\u001b[33m",
  fail: "\u001b[31m",
  unknown: "\u001b[35m",
};

/** Renders a plain table, columns two spaces apart; the last column is cut to the terminal. Colour only on a terminal without NO_COLOR. */
export function renderTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  options: TableOptions,
): string {
  const { stdout, env } = options.context;
  const isColoured = hasColour(stdout, env);
  const clean = rows.map((row) => row.map(printable));
  const widths = head.map((title, column) => Math.max(title.length, ...clean.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[], paint: (cell: string, padded: string) => string): string => {
    const padded = cells.map((cell, column) => {
      const isRight = options.right?.includes(head[column] ?? "") ?? false;
      const width = widths[column] ?? 0;
      if (column === cells.length - 1 && !isRight) return cell;
      return isRight ? cell.padStart(width) : cell.padEnd(width);
    });
    const text = padded.join("  ").trimEnd();
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

/** Returns a text without the control characters that would steer the terminal. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is taken out
  return escapeUnseen(stripVTControlCharacters(text)).replaceAll(/[\u0000-\u001f]/g, " ");
}
