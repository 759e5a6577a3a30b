import { excerpt } from "../../base/outside-text.ts";
import { attributePrefix, BadRow, eventFields, knownNames, targetOf, type EventField } from "./layout.ts";
import { cutLines, longestItemBytes, type Format } from "./items.ts";
import { attributeNameProblem, eventOf, type Reading } from "./rules.ts";

const mostFields = 64;

/** The places of the fields in a row; -1: there is none. */
interface Columns extends Readonly<Record<EventField, number>> {
  readonly width: number;
  readonly attributes: readonly (readonly [name: string, cell: number])[];
}

/**
 * Reads CSV with a header (RFC 4180), which may be the last of the comments (#) before the first event. Blank lines,
 * comments and a spreadsheet's first line `sep=,` are skipped; every other line that is not an event is a bad one.
 */
export function readCsv(reading: Reading): Format {
  const { layout, row } = reading;
  let columns: Columns | null = null;
  /** The last comment before the header. */
  let comment = "";
  let open: CsvRecord | null = null;

  const hasNames = (cells: readonly string[]): boolean => cells.some((cell) => layout.targets.has(cell));
  const commentCells = (): readonly string[] => {
    const record = new CsvRecord(0);
    record.add(comment.replace(/^[#\s]+/, ""), "");
    return record.fault === null ? record.cells : [];
  };

  function isSkipped(line: string): boolean {
    if (line === "" || (columns === null && /^"?sep=,"?$/i.test(line))) return true;
    if (!line.startsWith("#")) return false;
    if (columns === null) comment = line;
    return line.split(",").length !== columns?.width;
  }

  /** Takes the cells of a record; the first ones may be the header. */
  function takeCells(cells: readonly string[]): void {
    if (columns === null) {
      const commented = commentCells();
      const isInComment = !hasNames(cells) && hasNames(commented);
      columns = columnsOf(isInComment ? commented : cells, reading);
      if (!isInComment) return;
    }
    if (cells.length > mostFields) throw new BadRow(`has more than ${mostFields} fields`);
    const { width, attributes } = columns;
    if (cells.length !== width)
      throw new BadRow(`has ${cells.length} ${cells.length === 1 ? "field" : "fields"}, the header has ${width}`);
    // An empty cell is an absent field.
    const cellOf = (field: EventField): string | undefined =>
      cells[columns?.[field] ?? -1] || layout.set[field] || undefined;
    const own = attributes.flatMap(([name, cell]): [string, string][] => (cells[cell] ? [[name, cells[cell]]] : []));
    row(
      eventOf(reading, {
        at: cellOf("at"),
        slug: cellOf("slug"),
        assetType: cellOf("assetType"),
        asset: cellOf("asset"),
        status: cellOf("status"),
        id: cellOf("id"),
        count: cellOf("count"),
        attributes: layout.setAttributes.length === 0 ? own : [...own, ...layout.setAttributes],
      }),
    );
  }

  return {
    item: "line",
    cut: cutLines,
    take: (given, number) => {
      const line = given.endsWith("\r") ? given.slice(0, -1) : given;
      if (open === null) {
        if (isSkipped(line)) return;
        const separator = columns === null && !line.includes(",") ? /[;\t|]/.exec(line)?.[0] : undefined;
        if (separator !== undefined) {
          const its = separator === "\t" ? "tabs" : `"${separator}"`;
          throw new BadRow(`separates its columns by ${its}; write them with commas, as in at,slug,asset`).ending();
        }
      }
      const record = open ?? new CsvRecord(number);
      record.add(line, given === line ? "\n" : "\r\n");
      open = record.isOpen ? record : null;
      if (record.letters > longestItemBytes)
        throw new BadRow(`is longer than ${longestItemBytes} bytes (is a quote left open?)`).at(record.line).ending();
      if (record.isOpen) return;
      try {
        if (record.fault !== null) throw new BadRow(record.fault);
        takeCells(record.cells);
      } catch (error) {
        if (!(error instanceof BadRow)) throw error;
        // Without a header nothing can be read.
        throw columns === null ? error.at(record.line).ending() : error.at(record.line);
      }
    },
    end: () => {
      if (open !== null) throw new BadRow("has a quote that is never closed").at(open.line);
      if (columns === null && !hasNames(commentCells())) throw new BadRow("has no header (at,slug,…)").at(1);
    },
  };
}

/** Reads a header. @throws BadRow */
function columnsOf(cells: readonly string[], { layout }: Reading): Columns {
  if (cells.length > mostFields) throw new BadRow(`has more than ${mostFields} fields`);
  const fields = new Map<string, number>();
  for (const [cell, column] of cells.entries()) {
    const target = targetOf(column, layout);
    if (target === null) continue;
    if (target === undefined)
      throw new BadRow(`unknown column ${excerpt(column)}; the columns are ${knownNames(layout, "attr.NAME")}`);
    const isAttribute = target.startsWith(attributePrefix);
    const problem = isAttribute ? attributeNameProblem(target.slice(attributePrefix.length)) : null;
    if (problem !== null) throw new BadRow(`column ${excerpt(column)}: ${problem}`);
    if (fields.has(target)) throw new BadRow(`column ${column} is there twice`);
    fields.set(target, cell);
  }
  for (const [name, target] of layout.targets) {
    // A column that was named by hand is one that the file has.
    const isNeeded = target === "at" || target === "slug" || target !== name;
    if (isNeeded && !fields.has(target))
      throw new BadRow(`column ${name} is missing${target === name ? "" : `, which --map names as ${target}`}`);
  }
  const attributes = [...fields].filter(([target]) => target.startsWith(attributePrefix));
  return {
    ...(Object.fromEntries(eventFields.map((field) => [field, fields.get(field) ?? -1])) as Record<EventField, number>),
    width: cells.length,
    attributes: attributes.map(([target, cell]) => [target.slice(attributePrefix.length), cell]),
  };
}

/** A record of RFC 4180, which is split line by line. */
class CsvRecord {
  readonly line: number;
  cells: string[] = [];
  letters = 0;
  /** Whether it goes on in the next line: a quote is open. */
  isOpen = false;
  /** Why it is no record of RFC 4180; null: it is one. */
  fault: string | null = null;
  #quoted = "";

  constructor(line: number) {
    this.line = line;
  }

  /** Adds a line. Within quotes its end belongs to the cell. */
  add(line: string, lineEnd: string): void {
    this.letters += line.length + lineEnd.length;
    if (!this.isOpen && !line.includes('"')) {
      this.cells = line.split(",");
      return;
    }
    for (let at = 0; at <= line.length && this.fault === null; at++) {
      // Some write a blank between a comma and a quote, as abuse.ch does.
      if (!this.isOpen && line[at] === " ") at += /^ +(?=")/.exec(line.slice(at))?.[0].length ?? 0;
      if (!this.isOpen && line[at] !== '"') {
        const comma = line.indexOf(",", at);
        const cell = line.slice(at, comma < 0 ? line.length : comma);
        if (cell.includes('"')) this.fault = "has a quote inside an unquoted field";
        this.cells.push(cell);
        at += cell.length;
        continue;
      }
      const from = this.isOpen ? at : at + 1;
      let end = line.indexOf('"', from);
      while (end >= 0 && line[end + 1] === '"') end = line.indexOf('"', end + 2);
      this.isOpen = end < 0;
      this.#quoted += line.slice(from, this.isOpen ? line.length : end).replaceAll('""', '"');
      if (this.isOpen) {
        this.#quoted += lineEnd;
        return;
      }
      if (end + 1 < line.length && line[end + 1] !== ",") this.fault = "has text after a closing quote";
      this.cells.push(this.#quoted);
      this.#quoted = "";
      at = end + 1;
    }
  }
}
