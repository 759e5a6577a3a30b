import { isUtf8 } from "node:buffer";

import { excerpt } from "../../base/cut-text.ts";
import {
  attributePrefix,
  FieldProblem,
  instantOfNumber,
  instantOfText,
  knownNames,
  targetOf,
  type EventLayout,
} from "./layout.ts";
import {
  attributeNameProblem,
  attributesKey,
  byName,
  countOfText,
  eventOf,
  largestCount,
  longestLineBytes,
  type EventNames,
  type LivenessEvent,
  type InputParser,
  type LineParser,
  type RowSink,
} from "./rules.ts";

const lineFeed = 0x0a;
const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openingBracket = 0x5b;
const closingBracket = 0x5d;
const openingBrace = 0x7b;
const closingBrace = 0x7d;

const tooLong = `is longer than ${longestLineBytes} bytes`;

/** Parses NDJSON: one event per line, blank lines and comments (#) skipped; every other line is a problem. */
export class NdjsonParser implements LineParser {
  readonly #names: EventNames;
  readonly #sink: RowSink;
  readonly #layout: EventLayout;
  #line = 0;

  constructor(names: EventNames, sink: RowSink, layout: EventLayout) {
    this.#names = names;
    this.#sink = sink;
    this.#layout = layout;
  }

  lines(lines: readonly string[], isText: (index: number) => boolean): boolean {
    for (const [index, line] of lines.entries()) {
      this.#line++;
      const row = isText(index) ? this.#row(line) : new FieldProblem("is not valid UTF-8");
      if (row instanceof FieldProblem) this.#sink.problem(this.#line, row.reason, row.refusal);
      else if (row !== null) this.#sink.row(row);
    }
    return true;
  }

  tooLong(): void {
    this.#sink.problem(this.#line + 1, tooLong);
  }

  end(): void {
    // Every line was complete.
  }

  /** Returns the event of a line, its problem, or null for a blank one. */
  #row(line: string): LivenessEvent | FieldProblem | null {
    if (line.length * 3 > longestLineBytes && Buffer.byteLength(line) > longestLineBytes)
      return new FieldProblem(tooLong);
    const text = line.trim();
    if (text === "" || text.startsWith("#")) return null;
    try {
      return readEvent(this.#names, JSON.parse(text), this.#layout);
    } catch (error) {
      if (error instanceof SyntaxError) return new FieldProblem("is not valid JSON");
      throw error;
    }
  }
}

/**
 * Parses a JSON array of events, one element after the other: parsed as a whole, 16 MiB of brackets would take 600 MB. A
 * problem's line is the element's number, from 1. White space before the array is skipped.
 */
export class JsonArrayParser implements InputParser {
  readonly #names: EventNames;
  readonly #sink: RowSink;
  readonly #layout: EventLayout;
  #rest: Buffer = Buffer.alloc(0);
  #elements = 0;
  #place: "before" | "inside" | "behind" | "nowhere" = "before";

  constructor(names: EventNames, sink: RowSink, layout: EventLayout) {
    this.#names = names;
    this.#sink = sink;
    this.#layout = layout;
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
    if (this.#rest.length > longestLineBytes) this.#stop(this.#elements + 1, tooLong);
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
    if (bytes.length > longestLineBytes) return this.#stop(this.#elements, tooLong);
    let value: unknown;
    try {
      value = isUtf8(bytes) ? JSON.parse(bytes.toString("utf8")) : undefined;
    } catch {
      value = undefined;
    }
    // JSON has no undefined.
    if (value === undefined) return this.#refuse();
    const row = readEvent(this.#names, value, this.#layout);
    if (row instanceof FieldProblem) this.#sink.problem(this.#elements, row.reason, row.refusal);
    else this.#sink.row(row);
  }

  #refuse(): void {
    this.#stop(1, "is not a valid JSON array");
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

/** Returns whether a byte is white space of JSON, which is what an input may begin with. */
export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === lineFeed || byte === 0x0d;
}

/** Returns the event of a JSON value, or its problem. null is an absent field. */
function readEvent(names: EventNames, value: unknown, layout: EventLayout): LivenessEvent | FieldProblem {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return new FieldProblem("is not a JSON object");
  const given: Record<string, unknown> = { ...layout.set };
  const attributes: [name: string, value: unknown][] = [...layout.setAttributes] as [string, unknown][];
  let number: unknown;
  for (const [key, its] of Object.entries(value)) {
    if (key === "number" && layout.hasNumbers) {
      number = its;
      continue;
    }
    const target = key === "attributes" && !layout.ignored.has(key) ? key : targetOf(key, layout);
    if (target === null || isAbsent(its)) continue;
    if (target === undefined)
      return new FieldProblem(`unknown field ${excerpt(key)}; the fields are ${knownNames(layout, "attributes")}`);
    if (target === "attributes") {
      if (typeof its !== "object" || Array.isArray(its))
        return new FieldProblem(`attributes ${shown(its)} is not an object`);
      attributes.push(...Object.entries(its));
    } else if (target.startsWith(attributePrefix)) {
      const text = typeof its === "number" || typeof its === "boolean" ? String(its) : its;
      if (text !== "") attributes.push([target.slice(attributePrefix.length), text]);
    } else given[target] = its;
  }
  if (number !== undefined && !Number.isSafeInteger(number)) return new FieldProblem("number is not a whole number");
  const { at, count } = given;
  return eventOf(
    names,
    {
      at: instantOf(at, layout),
      slug: textOf("slug", given["slug"]),
      assetType: textOf("assetType", given["assetType"]),
      status: statusOf(given["status"], layout),
      attributes: attributes.length === 0 ? null : attributesOf(attributes),
      asset: textOf("asset", given["asset"]),
      id: textOf("id", given["id"]),
      count: countOf(count),
      number: number as number | undefined,
    },
    layout,
  );
}

/** Returns a text; null if it is absent. An empty asset or id is a mistake. */
function textOf(field: string, value: unknown): string | null | FieldProblem {
  if (isAbsent(value)) return null;
  if (field === "id" && typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  if (typeof value !== "string") return new FieldProblem(`${field} ${shown(value)} is not a string`);
  if (value === "" && (field === "asset" || field === "id"))
    return new FieldProblem(`${field} is empty; leave it out instead`);
  return value;
}

/** true, or 404, is a status where it has another name. */
function statusOf(value: unknown, { statuses }: EventLayout): string | null | FieldProblem {
  const text = typeof value === "boolean" || typeof value === "number" ? String(value) : value;
  return textOf("status", typeof text === "string" && statuses.has(text) ? text : value);
}

function attributesOf(given: readonly (readonly [string, unknown])[]): string | null | FieldProblem {
  const entries: [string, string][] = [];
  for (const [name, text] of given) {
    const problem = attributeNameProblem(name);
    if (problem !== null) return new FieldProblem(problem);
    if (isAbsent(text)) continue;
    // flatline cannot know whether 1 and "1", true and "true" are the same.
    if (typeof text !== "string") return new FieldProblem(`attribute ${name} ${shown(text)} is not a string`);
    if (text === "") return new FieldProblem(`attribute ${name} is empty; leave it out instead`);
    if (entries.some(([other]) => other === name)) return new FieldProblem(`attribute ${name} is there twice`);
    entries.push([name, text]);
  }
  return attributesKey(entries.toSorted(byName));
}

function countOf(value: unknown): number | FieldProblem {
  if (isAbsent(value)) return 1;
  // Some databases write large whole numbers as text.
  if (typeof value === "string") return countOfText(value);
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= largestCount) return value;
  return new FieldProblem(`count ${shown(value)} is not a whole number up to ${largestCount}`);
}

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

function instantOf(at: unknown, layout: EventLayout): number | FieldProblem {
  if (isAbsent(at)) return new FieldProblem("at is missing");
  if (typeof at === "number") {
    if (Number.isInteger(at) && at >= 0) return instantOfNumber(at, layout);
    return new FieldProblem(`at ${at} is not a whole number of milliseconds since 1970`);
  }
  if (typeof at !== "string") return new FieldProblem(`at ${shown(at)} is neither a string nor a number`);
  return instantOfText(at, layout);
}

/** A list or an object by its kind alone: its text may be long, and one that is nested deeply has none. */
function shown(value: unknown): string {
  if (typeof value === "string") return excerpt(value);
  if (Array.isArray(value)) return "[…]";
  return typeof value === "object" && value !== null ? "{…}" : String(value);
}
