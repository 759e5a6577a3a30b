import papaparse from "papaparse";

import { excerpt } from "../../base/cut-text.ts";
import {
  attributePrefix,
  eventFields,
  FieldProblem,
  instantOfText,
  knownNames,
  targetOf,
  type EventField,
  type EventLayout,
} from "./layout.ts";
import {
  attributeNameProblem,
  attributesKey,
  byName,
  countOfText,
  eventOf,
  longestLineBytes,
  type EventNames,
  type LineParser,
  type RowSink,
} from "./rules.ts";

const mostFields = 64;
// These characters may stand in a quoted field only, or nowhere.
// eslint-disable-next-line no-control-regex -- that is what is looked for
const unusual = /["\u0000-\u001f\u007f]/;

/**
 * Parses CSV with a header (RFC 4180), which may be the last of the comments (#) before the first event. Blank lines, comments
 * and a spreadsheet's first line `sep=,` are skipped; every other line that is not an event is a problem. papaparse
 * splits what has passed {@link Quotes}: by itself it takes a quote inside an unquoted field, and does not say where a line began.
 */
export class CsvParser implements LineParser {
  readonly #names: EventNames;
  readonly #sink: RowSink;
  readonly #layout: EventLayout;
  readonly #quotes = new Quotes();
  #columns: Columns | null = null;
  /** The last comment before the header. */
  #comment: string | null = null;
  /** Lines read so far. */
  #line = 0;
  /** The record whose quote is open. */
  #open: { text: string; readonly line: number; isText: boolean } | null = null;
  #isStopped = false;

  constructor(names: EventNames, sink: RowSink, layout: EventLayout) {
    this.#names = names;
    this.#sink = sink;
    this.#layout = layout;
  }

  lines(lines: readonly string[], isText: (index: number) => boolean): boolean {
    const records: string[] = [];
    const places: number[] = [];
    for (const [index, given] of lines.entries()) {
      const line = given.endsWith("\r") ? given.slice(0, -1) : given;
      this.#line++;
      if (this.#open === null && line.startsWith("#")) {
        // What comes before it is read first: the header says whether it is a comment.
        this.#cells(records.splice(0), places.splice(0));
        if (this.#columns === null) this.#comment = line;
        if (this.#columns === null || line.split(",").length !== this.#columns.width) continue;
      }
      if (this.#open === null && this.#columns === null && records.length === 0 && /^"?sep=,"?$/i.test(line)) continue;
      if (this.#open !== null || line !== "") this.#add(line, given, isText(index), records, places);
      if (this.#isStopped) break;
    }
    this.#cells(records, places);
    return !this.#isStopped;
  }

  tooLong(): void {
    this.#stop(this.#open?.line ?? this.#line + 1, `is longer than ${longestLineBytes} bytes (is a quote left open?)`);
  }

  end(): void {
    if (this.#isStopped) return;
    if (this.#open !== null) this.#stop(this.#open.line, "has a quote that is never closed");
    else if (this.#columns === null && !this.#hasNames(this.#commentCells()))
      this.#sink.problem(1, "has no header (at,slug,…)");
  }

  /** Adds a line to its record, and the record to those that are whole. `given` has the carriage return at its end. */
  #add(line: string, given: string, isText: boolean, records: string[], places: number[]): void {
    const open = (this.#open ??= { text: "", line: this.#line, isText: true });
    const isFirst = open.line === this.#line;
    open.isText &&= isText;
    if (isFirst) this.#quotes.begin();
    if (!isFirst || unusual.test(line)) this.#quotes.read(line);
    // Within quotes the line's end belongs to the field.
    open.text += this.#quotes.isOpen ? `${given}\n` : line;
    if (open.text.length * 3 > longestLineBytes && Buffer.byteLength(open.text) > longestLineBytes)
      return this.tooLong();
    if (this.#quotes.isOpen) return;
    this.#open = null;
    const separator = this.#columns === null && records.length === 0 ? foreignSeparator(open.text) : null;
    if (separator !== null)
      return this.#stop(
        open.line,
        `separates its columns by ${separator}; write them with commas, as in at,slug,asset`,
      );
    const fault = this.#quotes.fault ?? (open.isText ? null : "is not valid UTF-8");
    if (fault === null) {
      records.push(open.text);
      places.push(open.line);
      return;
    }
    // Earlier lines are read first, so that problems are in the order of lines.
    this.#cells(records.splice(0), places.splice(0));
    if (this.#columns === null) this.#stop(open.line, fault);
    else this.#sink.problem(open.line, fault);
  }

  #cells(records: readonly string[], places: readonly number[]): void {
    if (records.length === 0 || this.#isStopped) return;
    // papaparse removes a byte order mark from the beginning: the text begins with an empty row of its own.
    const { data } = papaparse.parse<string[]>(`\n${records.join("\n")}`, { delimiter: ",", newline: "\n" });
    for (const [index, line] of places.entries()) {
      const cells = data[index + 1] ?? [];
      if (this.#columns === null) {
        const comment = this.#commentCells();
        const isInComment = !this.#hasNames(cells) && this.#hasNames(comment);
        const problem = this.#header(isInComment ? comment : cells);
        if (problem !== null) return this.#stop(line, problem);
        if (!isInComment) continue;
      }
      const problem = this.#columns === null ? null : this.#event(cells, this.#columns);
      if (problem !== null) this.#sink.problem(line, problem.reason, problem.refusal);
    }
  }

  /** The last comment before the header, as a header. */
  #commentCells(): readonly string[] {
    const text = this.#comment?.replace(/^[#\s]+/, "") ?? "";
    return papaparse.parse<string[]>(text, { delimiter: "," }).data[0] ?? [];
  }

  #hasNames(cells: readonly string[]): boolean {
    return cells.some((cell) => this.#layout.targets.has(cell));
  }

  /** Reads the header; returns its problem, or null. */
  #header(cells: readonly string[]): string | null {
    if (cells.length > mostFields) return `has more than ${mostFields} fields`;
    const layout = this.#layout;
    const fields = new Map<string, number>();
    for (const [cell, column] of cells.entries()) {
      const target = targetOf(column, layout);
      if (target === null) continue;
      if (target === undefined)
        return `unknown column ${excerpt(column)}; the columns are ${knownNames(layout, "attr.NAME")}`;
      const problem = target.startsWith(attributePrefix)
        ? attributeNameProblem(target.slice(attributePrefix.length))
        : null;
      if (problem !== null) return `column ${excerpt(column)}: ${problem}`;
      if (fields.has(target)) return `column ${column} is there twice`;
      fields.set(target, cell);
    }
    for (const [name, target] of layout.targets) {
      // A column that was named by hand is one that the file has.
      const isNeeded = target === "at" || target === "slug" || target !== name;
      if (isNeeded && !fields.has(target))
        return `column ${name} is missing${target === name ? "" : `, which --map names as ${target}`}`;
    }
    const attributes = [...fields].flatMap(([target, cell]): [string, number][] =>
      target.startsWith(attributePrefix) ? [[target.slice(attributePrefix.length), cell]] : [],
    );
    const columns = Object.fromEntries(eventFields.map((field) => [field, fields.get(field) ?? -1]));
    this.#columns = {
      ...(columns as Record<EventField, number>),
      width: cells.length,
      attributes: attributes.toSorted(byName),
    };
    return null;
  }

  /** Passes on an event; returns its problem, or null. */
  #event(cells: readonly string[], columns: Columns): FieldProblem | null {
    if (cells.length > mostFields) return new FieldProblem(`has more than ${mostFields} fields`);
    if (cells.length !== columns.width)
      return new FieldProblem(
        `has ${cells.length} ${cells.length === 1 ? "field" : "fields"}, the header has ${columns.width}`,
      );
    const layout = this.#layout;
    // An empty cell is an absent field.
    const textOf = (field: EventField): string | null => cells[columns[field]] || (layout.set[field] ?? null);
    const at = textOf("at");
    const count = textOf("count");
    const row = eventOf(
      this.#names,
      {
        at: at === null ? new FieldProblem("at is missing") : instantOfText(at, layout),
        slug: textOf("slug"),
        assetType: textOf("assetType"),
        status: textOf("status"),
        attributes: attributesOf(cells, columns, layout),
        asset: textOf("asset"),
        id: textOf("id"),
        count: count === null ? 1 : countOfText(count),
      },
      layout,
    );
    if (row instanceof FieldProblem) return row;
    this.#sink.row(row);
    return null;
  }

  /** Reports a problem that makes the rest unreadable, and ignores the rest. */
  #stop(line: number, reason: string): void {
    this.#sink.problem(line, reason);
    this.#isStopped = true;
  }
}

/** The places of the fields in a row; -1: there is none. */
interface Columns extends Readonly<Record<EventField, number>> {
  readonly width: number;
  /** The attributes in the order of their names. */
  readonly attributes: readonly (readonly [name: string, cell: number])[];
}

/** Follows the quotes of a record, from line to line, and finds what RFC 4180 does not know. */
class Quotes {
  /** Whether the record goes on in the next line. */
  isOpen = false;
  fault: string | null = null;

  begin(): void {
    this.isOpen = false;
    this.fault = null;
  }

  read(line: string): void {
    let isStart = !this.isOpen;
    for (let at = 0; at < line.length; at++) {
      const character = line[at] ?? "";
      if (character === '"') {
        if (!this.isOpen && !isStart) this.fault ??= "has a quote inside an unquoted field";
        else if (!this.isOpen) this.isOpen = true;
        else if (line[at + 1] === '"') at++;
        else {
          this.isOpen = false;
          if (at + 1 < line.length && line[at + 1] !== ",") this.fault ??= "has text after a closing quote";
        }
        isStart = false;
      } else if (character === "," && !this.isOpen) isStart = true;
      else {
        isStart = false;
        const isBreak = character === "\r" || character === "\t";
        if ((character >= " " && character !== "\u007f") || (this.isOpen && isBreak)) continue;
        this.fault ??= character === "\r" ? "has a carriage return inside" : "has a control character";
      }
    }
  }
}

/** Returns what a header has in place of commas, in words; null where it has commas, or one column. */
function foreignSeparator(header: string): string | null {
  const separator = header.includes(",") ? undefined : /[;\t|]/.exec(header)?.[0];
  if (separator === undefined) return null;
  return separator === "\t" ? "tabs" : `"${separator}"`;
}

function attributesOf(
  cells: readonly string[],
  { attributes }: Columns,
  { setAttributes }: EventLayout,
): string | null | FieldProblem {
  if (attributes.length === 0 && setAttributes.length === 0) return null;
  const own = attributes.flatMap(([name, cell]): [string, string][] => (cells[cell] ? [[name, cells[cell]]] : []));
  return attributesKey(setAttributes.length === 0 ? own : [...own, ...setAttributes].toSorted(byName));
}
