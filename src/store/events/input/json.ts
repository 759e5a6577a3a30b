import { isUtf8 } from "node:buffer";

import { excerpt } from "../../../base/cut-text.ts";
import { latestInstantMs, readInstant } from "../../../base/instant.ts";
import { attributeNameProblem, attributesKey, byName } from "./attributes.ts";
import {
  assetProblem,
  eventFields,
  FieldProblem,
  idProblem,
  isEventField,
  largestCount,
  longestAssetBytes,
  longestIdBytes,
  type NameTable,
} from "./fields.ts";
import {
  createEventRow,
  deadStatusIndex,
  longestLineBytes,
  type EventNames,
  type EventRow,
  type RowParser,
  type RowSink,
} from "./rows.ts";

const lineFeed = 0x0a;
const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openingBracket = 0x5b;
const closingBracket = 0x5d;
const openingBrace = 0x7b;
const closingBrace = 0x7d;

/** Parses NDJSON: one event per line, blank lines skipped; every other line is a problem. */
export class NdjsonParser implements RowParser {
  readonly #reader: EventReader;
  readonly #sink: RowSink;
  #rest: Buffer = Buffer.alloc(0);
  #line = 0;
  #isStopped = false;

  constructor(names: EventNames, sink: RowSink) {
    this.#reader = new EventReader(names);
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    while (!this.#isStopped) {
      const end = bytes.indexOf(lineFeed, start);
      if (end < 0) break;
      this.#one(bytes.subarray(start, end));
      start = end + 1;
    }
    this.#rest = this.#isStopped ? Buffer.alloc(0) : Buffer.from(bytes.subarray(start));
    if (this.#rest.length <= longestLineBytes) return;
    this.#sink.problem(this.#line + 1, `is longer than ${longestLineBytes} bytes`);
    this.#isStopped = true;
  }

  end(): void {
    if (this.#rest.length > 0 && !this.#isStopped) this.#one(this.#rest);
  }

  #one(bytes: Buffer): void {
    this.#line++;
    if (bytes.length > longestLineBytes)
      return this.#sink.problem(this.#line, `is longer than ${longestLineBytes} bytes`);
    if (!isUtf8(bytes)) return this.#sink.problem(this.#line, "is not valid UTF-8");
    const text = bytes.toString("utf8").trim();
    if (text === "") return;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return this.#sink.problem(this.#line, "is not valid JSON");
    }
    const row = this.#reader.read(value);
    if (typeof row === "string") this.#sink.problem(this.#line, row);
    else this.#sink.row(row);
  }
}

/**
 * Parses a JSON array of events, one element after the other: parsed as a whole, 16 MiB of brackets would take 600 MB. A
 * problem's line is the element's number, from 1. White space before the array is skipped.
 */
export class JsonArrayParser implements RowParser {
  readonly #reader: EventReader;
  readonly #sink: RowSink;
  #rest: Buffer = Buffer.alloc(0);
  #elements = 0;
  #place: "before" | "inside" | "behind" | "nowhere" = "before";

  constructor(names: EventNames, sink: RowSink) {
    this.#reader = new EventReader(names);
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    if (this.#place === "before") {
      while (isSpace(bytes[start])) start++;
      if (start === bytes.length) return;
      if (bytes[start++] !== openingBracket) return this.#refuse();
      this.#place = "inside";
    }
    while (this.#place === "inside") {
      const end = elementEnd(bytes, start);
      if (end < 0) break;
      this.#one(bytes.subarray(start, end), bytes[end]);
      start = end + 1;
    }
    if (this.#place === "behind" && !bytes.subarray(start).every(isSpace)) this.#refuse();
    this.#rest = this.#place === "inside" ? Buffer.from(bytes.subarray(start)) : Buffer.alloc(0);
    if (this.#rest.length > longestLineBytes)
      this.#stop(this.#elements + 1, `is longer than ${longestLineBytes} bytes`);
  }

  end(): void {
    if (this.#place === "before" || this.#place === "inside") this.#refuse();
  }

  /** Reads an element, and what ends it. */
  #one(bytes: Buffer, end: number | undefined): void {
    if (end !== comma && end !== closingBracket) return this.#refuse();
    if (end === closingBracket) this.#place = "behind";
    if (end === closingBracket && this.#elements === 0 && bytes.every(isSpace)) return;
    this.#elements++;
    if (bytes.length > longestLineBytes) return this.#stop(this.#elements, `is longer than ${longestLineBytes} bytes`);
    let value: unknown;
    try {
      value = isUtf8(bytes) ? JSON.parse(bytes.toString("utf8")) : undefined;
    } catch {
      value = undefined;
    }
    // JSON has no undefined.
    if (value === undefined) return this.#refuse();
    const row = this.#reader.read(value);
    if (typeof row === "string") this.#sink.problem(this.#elements, row);
    else this.#sink.row(row);
  }

  #refuse(): void {
    this.#stop(1, "the body is not a valid JSON array");
  }

  /** Reports a problem that makes the rest unreadable, and ignores the rest. */
  #stop(element: number, reason: string): void {
    this.#sink.problem(element, reason);
    this.#place = "nowhere";
    this.#rest = Buffer.alloc(0);
  }
}

/** Returns the position of the comma or bracket that ends the element at `start`; -1 if it is not in `bytes` yet. */
function elementEnd(bytes: Buffer, start: number): number {
  let depth = 0;
  let isText = false;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (isText) {
      if (byte === backslash) at++;
      else if (byte === quote) isText = false;
    } else if (byte === quote) isText = true;
    else if (byte === openingBracket || byte === openingBrace) depth++;
    else if (byte === closingBracket || byte === closingBrace) {
      if (depth === 0) return at;
      depth--;
    } else if (byte === comma && depth === 0) return at;
  }
  return -1;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === lineFeed || byte === 0x0d;
}

/** Validates JSON values and converts them to rows. */
class EventReader {
  readonly #names: EventNames;
  readonly #row: EventRow = createEventRow();
  readonly #text = Buffer.alloc(longestAssetBytes + longestIdBytes);
  readonly #name = Buffer.alloc(1_024);

  constructor(names: EventNames) {
    this.#names = names;
    this.#row.bytes = this.#text;
  }

  /** Returns the row, or the problem of the value. null is an absent field. */
  read(value: unknown): EventRow | string {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return "is not a JSON object";
    for (const key of Object.keys(value)) {
      if (!isEventField(key) && key !== "attributes")
        return `unknown field ${excerpt(key)}; the fields are ${eventFields.join(", ")}, attributes`;
    }
    const { at, slug, assetType, asset, status, id, count, attributes } = value as Readonly<Record<string, unknown>>;
    const row = this.#row;

    const atMs = instantOf(at);
    if (typeof atMs === "string") return atMs;
    row.atMs = atMs;

    if (isAbsent(slug)) return "slug is missing";
    const slugIndex = this.#nameIndex("slug", this.#names.slugs, slug);
    if (typeof slugIndex === "string") return slugIndex;
    row.slug = slugIndex;

    const type = isAbsent(assetType) ? -1 : this.#nameIndex("assetType", this.#names.assetTypes, assetType);
    if (typeof type === "string") return type;
    row.assetType = type;

    const statusIndex = isAbsent(status) ? deadStatusIndex : this.#nameIndex("status", this.#names.statuses, status);
    if (typeof statusIndex === "string") return statusIndex;
    row.status = statusIndex;

    const set = isAbsent(attributes) ? -1 : this.#attributes(attributes);
    if (typeof set === "string") return set;
    row.attributes = set;

    const assetBytes = this.#write("asset", asset, 0, longestAssetBytes);
    if (typeof assetBytes === "string") return assetBytes;
    row.assetStart = 0;
    row.assetEnd = assetBytes;
    const idBytes = this.#write("id", id, assetBytes, longestIdBytes);
    if (typeof idBytes === "string") return idBytes;
    row.idStart = assetBytes;
    row.idEnd = assetBytes + idBytes;

    if (isAbsent(count)) row.count = 1;
    else if (typeof count !== "number" || !Number.isInteger(count) || count < 0 || count > largestCount) {
      return `count ${shown(count)} is not a whole number up to ${largestCount}`;
    } else row.count = count;
    return row;
  }

  #nameIndex(field: string, table: NameTable, value: unknown): number | string {
    if (typeof value !== "string") return `${field} ${shown(value)} is not a string`;
    if (!value.isWellFormed()) return `${field} is not valid Unicode`;
    const length = Buffer.byteLength(value);
    // Longer than any valid name; the table reports it.
    const bytes = length <= this.#name.length ? this.#name : Buffer.from(value);
    if (bytes === this.#name) bytes.write(value);
    const index = table.indexOf(bytes, 0, length);
    return index instanceof FieldProblem ? index.reason : index;
  }

  /** Returns the index of the attributes, -1 without any, or their problem. */
  #attributes(value: unknown): number | string {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return `attributes ${shown(value)} is not an object`;
    const entries: [string, string][] = [];
    for (const [name, text] of Object.entries(value)) {
      const problem = attributeNameProblem(name);
      if (problem !== null) return problem;
      if (isAbsent(text)) continue;
      // flatline cannot know whether 1 and "1", true and "true" are the same.
      if (typeof text !== "string") return `attribute ${name} ${shown(text)} is not a string`;
      if (text === "") return `attribute ${name} is empty; leave it out instead`;
      if (text.includes("\n")) return `attribute ${name} has a control character`;
      entries.push([name, text]);
    }
    if (entries.length === 0) return -1;
    return this.#nameIndex("attributes", this.#names.attributes, attributesKey(entries.toSorted(byName)));
  }

  /** Writes an optional text at `start`; returns its bytes, 0 if it is absent, or its problem. */
  #write(field: "asset" | "id", value: unknown, start: number, longestBytes: number): number | string {
    if (isAbsent(value)) return 0;
    if (typeof value !== "string") return `${field} ${shown(value)} is not a string`;
    if (value === "") return `${field} is empty; leave it out instead`;
    const problem = field === "asset" ? assetProblem(value) : idProblem(value);
    if (problem !== null) return problem;
    if (!value.isWellFormed()) return `${field} is not valid Unicode`;
    if (Buffer.byteLength(value) > longestBytes) return `${field} is longer than ${longestBytes} bytes`;
    return this.#text.write(value, start);
  }
}

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

function instantOf(at: unknown): number | string {
  if (isAbsent(at)) return "at is missing";
  if (typeof at === "number") {
    if (Number.isInteger(at) && at >= 0 && at <= latestInstantMs) return at;
    return `at ${at} is not integer epoch ms between 1970 and 9999`;
  }
  if (typeof at !== "string") return `at ${shown(at)} is neither a string nor a number`;
  const reading = readInstant(at);
  return reading.kind === "instant" ? reading.atMs : `at ${reading.problem}`;
}

/** A list or an object by its kind alone: its text may be long, and one that is nested deeply has none. */
function shown(value: unknown): string {
  if (typeof value === "string") return excerpt(value);
  if (Array.isArray(value)) return "[…]";
  return typeof value === "object" && value !== null ? "{…}" : String(value);
}
