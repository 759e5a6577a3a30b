import { isUtf8 } from "node:buffer";

import { excerpt } from "../../../base/cut-text.ts";
import { readInstant } from "../../../base/instant.ts";
import { AttributeColumns, isAttributeColumn } from "./csv-attributes.ts";
import { countOf, instantOf } from "./csv-values.ts";
import {
  eventFields,
  FieldProblem,
  idProblem,
  isEventField,
  largestCount,
  longestAssetBytes,
  longestIdBytes,
  type EventField,
} from "./fields.ts";
import {
  createEventRow,
  deadStatusIndex,
  longestLineBytes,
  type EventNames,
  type RowParser,
  type RowSink,
} from "./rows.ts";

const comma = 0x2c;
const quote = 0x22;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const tab = 0x09;
const mostFields = 64;
// With a carriage return and a line feed.
const lineEndBytes = 2;
const tooLong = `is longer than ${longestLineBytes} bytes (is a quote left open?)`;

/**
 * Parses CSV with a header (RFC 4180), on bytes: 5 million rows take a few seconds (measured together with
 * store/events/import). Blank lines are skipped; every other line that is not an event is a problem.
 */
export class CsvParser implements RowParser {
  readonly #names: EventNames;
  readonly #sink: RowSink;
  readonly #row = createEventRow();
  #rest: Buffer = Buffer.alloc(0);
  #line = 1;
  #columns: Readonly<Record<EventField, number>> | null = null;
  readonly #attributes: AttributeColumns;
  #width = 0;
  #isStopped = false;
  // The current record: bounds of its fields, which of them have doubled quotes, and its kinds of bytes.
  readonly #starts = new Int32Array(mostFields);
  readonly #ends = new Int32Array(mostFields);
  #escaped: number[] = [];
  #fields = 0;
  #lines = 0;
  #hasHighBytes = false;
  #hasBreaks = false;
  #fault: string | null = null;

  constructor(names: EventNames, sink: RowSink) {
    this.#names = names;
    this.#attributes = new AttributeColumns(names.attributes);
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    this.#parse(this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]), false);
  }

  end(): void {
    this.#parse(this.#rest, true);
    if (this.#columns === null && !this.#isStopped) this.#sink.problem(1, "has no header (at,slug,…)");
  }

  #parse(bytes: Buffer, isEnd: boolean): void {
    let start = 0;
    while (start < bytes.length && !this.#isStopped) {
      const next = this.#scan(bytes, start, isEnd);
      if (next < 0) break;
      if (next - start > longestLineBytes + lineEndBytes) return this.#stop(tooLong);
      this.#record(bytes);
      this.#line += this.#lines;
      start = next;
    }
    this.#rest = this.#isStopped ? Buffer.alloc(0) : Buffer.from(bytes.subarray(start));
    if (this.#rest.length > longestLineBytes + lineEndBytes) this.#stop(tooLong);
  }

  /** Finds the fields of the record at `start`; returns the start of the next one, or -1 if `bytes` ends before it. */
  #scan(bytes: Buffer, start: number, isEnd: boolean): number {
    this.#fields = 0;
    this.#lines = 1;
    this.#hasHighBytes = false;
    this.#hasBreaks = false;
    this.#fault = null;
    if (this.#escaped.length > 0) this.#escaped = [];
    const { length } = bytes;
    let fieldStart = start;
    let at = start;
    for (; at < length; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === comma) {
        this.#field(fieldStart, at);
        fieldStart = at + 1;
      } else if (byte === lineFeed) {
        this.#field(fieldStart, at);
        return at + 1;
      } else if (byte === quote) {
        if (at !== fieldStart) {
          this.#fault ??= "has a quote inside an unquoted field";
          continue;
        }
        const close = this.#quoted(bytes, at);
        if (close < 0) {
          if (isEnd) this.#stop("has a quote that is never closed");
          return -1;
        }
        const after = this.#afterQuote(bytes, close + 1);
        if (after < 0 && !isEnd) return -1;
        this.#field(at + 1, close);
        if (after < 0) return length;
        if (bytes[after] === lineFeed) return after + 1;
        if (bytes[after] !== comma) this.#fault ??= "has text after a closing quote";
        fieldStart = after + 1;
        at = after;
      } else if (byte < 0x20 || byte === 0x7f) {
        if (byte !== carriageReturn) this.#fault ??= "has a control character";
        else if (at + 1 === length) {
          if (!isEnd) return -1;
          this.#field(fieldStart, at);
          return length;
        } else if (bytes[at + 1] === lineFeed) {
          this.#field(fieldStart, at);
          return at + 2;
        } else this.#fault ??= "has a carriage return inside";
      } else if (byte >= 0x80) this.#hasHighBytes = true;
    }
    if (!isEnd) return -1;
    this.#field(fieldStart, length);
    return length;
  }

  #field(start: number, end: number): void {
    if (this.#fields >= mostFields) {
      this.#fault ??= `has more than ${mostFields} fields`;
      return;
    }
    this.#starts[this.#fields] = start;
    this.#ends[this.#fields] = end;
    this.#fields++;
  }

  /** Returns the position of the quote that closes the one at `open`; -1 if it is not in `bytes` yet. */
  #quoted(bytes: Buffer, open: number): number {
    for (let at = open + 1; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === quote) {
        if (bytes[at + 1] !== quote) return at;
        if (this.#escaped.at(-1) !== this.#fields) this.#escaped.push(this.#fields);
        at++;
      } else if (byte === lineFeed || byte === carriageReturn || byte === tab) {
        // Which fields may contain them is decided when the fields are known.
        if (byte === lineFeed) this.#lines++;
        this.#hasBreaks = true;
      } else if (byte < 0x20 || byte === 0x7f) this.#fault ??= "has a control character";
      else if (byte >= 0x80) this.#hasHighBytes = true;
    }
    return -1;
  }

  /** Returns the position of the comma or line feed after a quoted field, of unexpected text, or -1 at the end. */
  #afterQuote(bytes: Buffer, at: number): number {
    if (at >= bytes.length) return -1;
    if (bytes[at] !== carriageReturn) return at;
    if (at + 1 >= bytes.length) return -1;
    return bytes[at + 1] === lineFeed ? at + 1 : at;
  }

  #record(bytes: Buffer): void {
    const start = this.#starts[0] ?? 0;
    const isBlank = this.#fields === 1 && this.#ends[0] === start && bytes[start - 1] !== quote && this.#fault === null;
    if (isBlank) return;
    if (this.#hasHighBytes && !isUtf8(bytes.subarray(start, this.#ends[this.#fields - 1]))) {
      this.#fault ??= "is not valid UTF-8";
    }
    if (this.#fault === null && this.#columns !== null && this.#fields !== this.#width) {
      this.#fault = `has ${this.#fields} ${this.#fields === 1 ? "field" : "fields"}, the header has ${this.#width}`;
    }
    if (this.#fault !== null) {
      if (this.#columns === null) this.#stop(this.#fault);
      else this.#sink.problem(this.#line, this.#fault);
      return;
    }
    for (const field of this.#escaped) this.#unescape(bytes, field);
    if (this.#columns === null) this.#header(bytes);
    else this.#event(bytes, this.#columns);
  }

  /** Removes doubled quotes of a field in place: the record is complete, and its bytes are not read again. */
  #unescape(bytes: Buffer, field: number): void {
    let to = this.#starts[field] ?? 0;
    const end = this.#ends[field] ?? 0;
    for (let from = to; from < end; from++) {
      if (bytes[from] === quote) from++;
      bytes[to++] = bytes[from] ?? 0;
    }
    this.#ends[field] = to;
  }

  #header(bytes: Buffer): void {
    const columns: Record<EventField, number> = {
      at: -1,
      slug: -1,
      assetType: -1,
      asset: -1,
      status: -1,
      id: -1,
      count: -1,
    };
    for (let field = 0; field < this.#fields; field++) {
      const name = this.#text(bytes, field);
      if (isAttributeColumn(name)) {
        const problem = this.#attributes.add(name, field);
        if (problem !== null) return this.#stop(problem);
        continue;
      }
      if (!isEventField(name))
        return this.#stop(`unknown column ${excerpt(name)}; the columns are ${eventFields.join(", ")}, attr.NAME`);
      if (columns[name] >= 0) return this.#stop(`column ${name} is there twice`);
      columns[name] = field;
    }
    for (const name of ["at", "slug"] as const) if (columns[name] < 0) return this.#stop(`column ${name} is missing`);
    this.#columns = columns;
    this.#width = this.#fields;
  }

  #event(bytes: Buffer, columns: Readonly<Record<EventField, number>>): void {
    const reason = this.#fill(bytes, columns);
    if (reason === null) this.#sink.row(this.#row);
    else this.#sink.problem(this.#line, reason);
  }

  /** Fills the row; returns its problem, or null. */
  #fill(bytes: Buffer, columns: Readonly<Record<EventField, number>>): string | null {
    const row = this.#row;
    const starts = this.#starts;
    const ends = this.#ends;
    row.bytes = bytes;
    row.isAscii = !this.#hasHighBytes;

    row.atMs = instantOf(bytes, starts[columns.at] ?? 0, ends[columns.at] ?? 0);
    if (Number.isNaN(row.atMs)) {
      const text = this.#text(bytes, columns.at);
      const reading = text === "" ? null : readInstant(text);
      if (reading === null) return "at is missing";
      if (reading.kind === "problem") return `at ${reading.problem}`;
      row.atMs = reading.atMs;
    }

    const slug = this.#names.slugs.indexOf(bytes, starts[columns.slug] ?? 0, ends[columns.slug] ?? 0);
    if (slug instanceof FieldProblem) return slug.reason;
    row.slug = slug;

    row.assetType = -1;
    if (columns.assetType >= 0 && starts[columns.assetType] !== ends[columns.assetType]) {
      const type = this.#names.assetTypes.indexOf(bytes, starts[columns.assetType] ?? 0, ends[columns.assetType] ?? 0);
      if (type instanceof FieldProblem) return type.reason;
      row.assetType = type;
    }

    row.status = deadStatusIndex;
    if (columns.status >= 0 && starts[columns.status] !== ends[columns.status]) {
      const status = this.#names.statuses.indexOf(bytes, starts[columns.status] ?? 0, ends[columns.status] ?? 0);
      if (status instanceof FieldProblem) return status.reason;
      row.status = status;
    }

    row.attributes = -1;
    if (!this.#attributes.isEmpty) {
      const attributes = this.#attributes.read(bytes, starts, ends);
      if (typeof attributes === "string") return attributes;
      row.attributes = attributes;
    }

    row.assetStart = columns.asset < 0 ? 0 : (starts[columns.asset] ?? 0);
    row.assetEnd = columns.asset < 0 ? 0 : (ends[columns.asset] ?? 0);
    if (row.assetEnd - row.assetStart > longestAssetBytes) return `asset is longer than ${longestAssetBytes} bytes`;
    row.idStart = columns.id < 0 ? 0 : (starts[columns.id] ?? 0);
    row.idEnd = columns.id < 0 ? 0 : (ends[columns.id] ?? 0);
    if (row.idEnd - row.idStart > longestIdBytes) return `id is longer than ${longestIdBytes} bytes`;
    if (this.#hasBreaks && columns.id >= 0) {
      const problem = idProblem(this.#text(bytes, columns.id));
      if (problem !== null) return problem;
    }

    row.count = 1;
    if (columns.count >= 0 && starts[columns.count] !== ends[columns.count]) {
      row.count = countOf(bytes, starts[columns.count] ?? 0, ends[columns.count] ?? 0);
      if (row.count < 0) {
        return `count ${excerpt(this.#text(bytes, columns.count))} is not a whole number up to ${largestCount}`;
      }
    }
    return null;
  }

  #text(bytes: Buffer, field: number): string {
    return bytes.toString("utf8", this.#starts[field], this.#ends[field]);
  }

  /** Reports a problem that makes the rest unreadable, and ignores the rest. */
  #stop(reason: string): void {
    this.#sink.problem(this.#line, reason);
    this.#isStopped = true;
  }
}
