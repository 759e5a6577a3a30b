import { attributesProblem } from "./attributes.ts";
import { assetTypeProblem, deadStatus, NameTable, slugProblem, statusProblem } from "./fields.ts";

/**
 * One parsed event. Parsers reuse the same object for each row, so values must be copied to be kept. Texts are UTF-8 in
 * `bytes`; an empty one is absent.
 */
export interface EventRow {
  atMs: number;
  /** Index in EventNames.slugs. */
  slug: number;
  /** Index in EventNames.assetTypes; -1: none. */
  assetType: number;
  /** Index in EventNames.statuses. */
  status: number;
  /** Index in EventNames.attributes; -1: none. */
  attributes: number;
  count: number;
  bytes: Buffer;
  /** Known to be ASCII, which decodes faster. */
  isAscii: boolean;
  assetStart: number;
  assetEnd: number;
  idStart: number;
  idEnd: number;
}

/** The names of an import, shared by its files and by both passes over them. */
export interface EventNames {
  readonly slugs: NameTable;
  readonly assetTypes: NameTable;
  /** Index 0 is DETECTED_AS_DEAD. */
  readonly statuses: NameTable;
  /** Sets of attributes by their keys (store/events/input/attributes.ts). */
  readonly attributes: NameTable;
}

/** Index of DETECTED_AS_DEAD in EventNames.statuses; also used for an absent status. */
export const deadStatusIndex = 0;

export function createEventNames(): EventNames {
  return {
    slugs: new NameTable("slug", slugProblem),
    assetTypes: new NameTable("assetType", assetTypeProblem),
    statuses: new NameTable("status", statusProblem, [deadStatus]),
    attributes: new NameTable("attributes", attributesProblem),
  };
}

export function createEventRow(): EventRow {
  return {
    atMs: 0,
    slug: 0,
    assetType: -1,
    status: deadStatusIndex,
    attributes: -1,
    count: 1,
    bytes: Buffer.alloc(0),
    isAscii: false,
    assetStart: 0,
    assetEnd: 0,
    idStart: 0,
    idEnd: 0,
  };
}

/** Receives the rows and problems that a parser finds. */
export interface RowSink {
  row(row: EventRow): void;
  /** `line` counts from 1; in a JSON array it is the element's number. */
  problem(line: number, reason: string): void;
}

/** Turns bytes into rows; `push` and `end` call the sink before they return. */
export interface RowParser {
  push(chunk: Buffer): void;
  end(): void;
}

// Maximum length of a line: the longest asset, escaped, with a margin.
export const longestLineBytes = 64 * 1_024;
