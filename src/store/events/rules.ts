import { excerpt } from "../../base/cut-text.ts";
import type { Refusal } from "../../contract/refusals.ts";
import { longestSlug } from "../../contract/slug.ts";
import { FieldProblem, isNullMarker, type EventLayout } from "./layout.ts";

// What an event may be, the same for CSV, NDJSON and JSON (CONTRACT 10). The limits are ours: far above the platform's values,
// far below a risk for the store.

const longestName = 64;
const longestAssetBytes = 4_096;
const longestIdBytes = 512;
/** Largest `count` of an event: a million of them still add up exactly. */
export const largestCount = 1_000_000_000;
const mostAttributes = 16;
/** Maximum length of an attribute's value, in characters. */
const longestValue = 256;
const isShort = new RegExp(`^[^]{0,${longestValue}}$`, "u");
// A file with more distinct names is not a liveness record; limits the memory of names.
const mostNames = 1_000_000;

/** Maximum length of a line or an element, in bytes: the longest asset, escaped, with a margin. */
export const longestLineBytes = 64 * 1_024;

/** The status that counts as a death (CONTRACT 1). */
export const deadStatus = "DETECTED_AS_DEAD";
/** Its number in event_statuses, as in the migration. */
export const deadStatusId = 1;
/** Its index in EventNames.statuses; also that of an absent status. */
export const deadStatusIndex = 0;

/** A checked event. Names are indexes in EventNames. */
export interface EventRow {
  readonly atMs: number;
  readonly slug: number;
  /** -1: none. */
  readonly assetType: number;
  readonly status: number;
  /** -1: none. */
  readonly attributes: number;
  readonly asset: string | null;
  readonly id: string | null;
  readonly count: number;
}

/** Receives the rows and problems that a parser finds. */
export interface RowSink {
  row(row: EventRow): void;
  /** `line` counts from 1; in a JSON array it is the element's number. */
  problem(line: number, reason: string, refusal?: Refusal): void;
}

/** Turns bytes into rows; `push` and `end` call the sink before they return. */
export interface InputParser {
  push(chunk: Buffer): void;
  end(): void;
}

/** Turns lines into rows. */
export interface LineParser {
  /** Reads whole lines, without their line feeds; those that are no text have replacement characters. false: the rest is ignored. */
  lines(lines: readonly string[], isText: (index: number) => boolean): boolean;
  /** A line is longer than any may be; the rest is ignored. */
  tooLong(): void;
  end(): void;
}

/** The fields of an event as a format has them: present values, absent ones (null), or what is wrong with them. */
export interface GivenFields {
  readonly at: number | FieldProblem;
  readonly slug: string | null | FieldProblem;
  readonly assetType: string | null | FieldProblem;
  readonly status: string | null | FieldProblem;
  /** The key of the set. */
  readonly attributes: string | null | FieldProblem;
  readonly asset: string | null | FieldProblem;
  readonly id: string | null | FieldProblem;
  readonly count: number | FieldProblem;
}

/** Different names of one kind, each checked once. */
export class NameTable {
  readonly names: string[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #label: string;
  readonly #problemOf: (name: string) => string | null;

  constructor(label: string, problemOf: (name: string) => string | null) {
    this.#label = label;
    this.#problemOf = problemOf;
  }

  /** Returns the index of a name, which is kept if it is new, or its problem. */
  indexOf(name: string): number | FieldProblem {
    const known = this.#indexes.get(name);
    if (known !== undefined) return known;
    const reason = name.isWellFormed() ? this.#problemOf(name) : `${this.#label} is not valid Unicode`;
    if (reason !== null) return new FieldProblem(reason);
    if (this.names.length >= mostNames)
      return new FieldProblem(`more than ${mostNames} different values of ${this.#label}`);
    return this.keep(name);
  }

  /** Returns the index of a name that needs no check. */
  keep(name: string): number {
    const known = this.#indexes.get(name);
    if (known !== undefined) return known;
    // A copy is made, because a part of a text keeps the whole text in memory.
    const kept = Buffer.from(name).toString();
    this.#indexes.set(kept, this.names.length);
    return this.names.push(kept) - 1;
  }
}

/** The names of an import, shared by its files. */
export type EventNames = ReturnType<typeof createEventNames>;

export function createEventNames() {
  const statuses = new NameTable("status", statusProblem);
  statuses.indexOf(deadStatus);
  return {
    slugs: new NameTable("slug", slugProblem),
    assetTypes: new NameTable("assetType", assetTypeProblem),
    statuses,
    /** Sets of attributes by their keys. */
    attributes: new NameTable("attributes", attributesProblem),
  };
}

/** Returns the event with these fields, or the problem of the first field that has one. */
export function eventRow(
  names: EventNames,
  given: GivenFields,
  { statuses }: Pick<EventLayout, "statuses">,
): EventRow | FieldProblem {
  const { at, asset, id, count } = given;
  if (at instanceof FieldProblem) return at;
  const slug = indexIn(names.slugs, given.slug ?? "");
  if (slug instanceof FieldProblem) return slug;
  const assetType = indexIn(names.assetTypes, given.assetType);
  if (assetType instanceof FieldProblem) return assetType;
  const named = typeof given.status === "string" ? (statuses.get(given.status) ?? given.status) : given.status;
  const status = named === null ? deadStatusIndex : indexIn(names.statuses, named);
  if (status instanceof FieldProblem) return status;
  const attributes = indexIn(names.attributes, given.attributes);
  if (attributes instanceof FieldProblem) return attributes;
  if (asset instanceof FieldProblem) return asset;
  const assetProblem = asset === null ? null : textProblem("asset", asset, controlInAsset, longestAssetBytes);
  if (assetProblem !== null) return new FieldProblem(assetProblem);
  if (id instanceof FieldProblem) return id;
  const idProblem = id === null ? null : textProblem("id", id, controlCharacter, longestIdBytes);
  if (idProblem !== null) return new FieldProblem(idProblem);
  if (id !== null && isNullMarker(id))
    return new FieldProblem(`id is ${id}, which stands for no id; leave it out instead`, "null_id");
  if (count instanceof FieldProblem) return count;
  return { atMs: at, slug, assetType, status, attributes, asset, id, count };
}

function indexIn(table: NameTable, given: string | null | FieldProblem): number | FieldProblem {
  return given === null ? -1 : given instanceof FieldProblem ? given : table.indexOf(given);
}

// eslint-disable-next-line no-control-regex -- that is what is looked for
const controlCharacter = /[\u0000-\u001f\u007f]/;
// Line breaks and tabs occur in foreign text.
// eslint-disable-next-line no-control-regex -- that is what is looked for
const controlInAsset = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

function textProblem(field: string, text: string, refused: RegExp, longestBytes: number): string | null {
  if (refused.test(text)) return `${field} has a control character`;
  if (!text.isWellFormed()) return `${field} is not valid Unicode`;
  if (text.length * 3 > longestBytes && Buffer.byteLength(text) > longestBytes)
    return `${field} is longer than ${longestBytes} bytes`;
  return null;
}

function slugProblem(slug: string): string | null {
  if (slug === "") return "slug is missing";
  if (slug.length > longestSlug) return `slug is longer than ${longestSlug} characters`;
  if (controlCharacter.test(slug)) return "slug has a control character";
  // Such a slug would not match the configured organization.
  if (slug.trim() !== slug) return `slug ${JSON.stringify(slug)} begins or ends with a space`;
  return null;
}

/** Any upper-case name is accepted, so that new types are. */
function assetTypeProblem(name: string): string | null {
  if (/^[A-Z0-9_]+$/.test(name) && name.length <= longestName) return null;
  return `assetType ${excerpt(name)} is not 1 to ${longestName} upper-case letters, digits and underscores`;
}

/** Any name is accepted (CONTRACT 10). */
function statusProblem(name: string): string | null {
  if (name.trim() === "" || controlCharacter.test(name) || name.length > longestName)
    return `status ${excerpt(name)} is not a name of 1 to ${longestName} characters`;
  // A death would not count as one.
  return name.trim() === name ? null : `status ${JSON.stringify(name)} begins or ends with a space`;
}

// Attributes describe an event beyond its fields, for example the checker or the reason of a failure. Many events share the
// same values; the store keeps each distinct set once. A set has one text as its key: a line for each name, in order, and one
// for its value.

/** Returns the problem of an attribute's name; null if it is valid. */
export function attributeNameProblem(name: string): string | null {
  if (/^[a-z][a-z0-9_]*$/.test(name) && name.length <= longestName) return null;
  return `attribute ${excerpt(name)} is not a lower-case name of 1 to ${longestName} letters, digits and underscores`;
}

/** Returns the number of a count that is written as text. */
export function countOfText(text: string): number | FieldProblem {
  const count = /^\d{1,10}$/.test(text) ? Number(text) : -1;
  if (count >= 0 && count <= largestCount) return count;
  return new FieldProblem(`count ${excerpt(text)} is not a whole number up to ${largestCount}`);
}

/** Returns the key of a set of attributes, of entries in the order of their names; null without any. */
export function attributesKey(entries: readonly (readonly [string, string])[]): string | null | FieldProblem {
  let key = "";
  for (const [name, value] of entries) {
    // A line feed would split the key in the wrong place.
    if (value.includes("\n")) return new FieldProblem(`attribute ${name} has a control character`);
    key += `${name}\n${value}\n`;
  }
  return key === "" ? null : key;
}

/** Names are checked by the parsers. */
function attributesProblem(key: string): string | null {
  const entries = entriesOf(key);
  if (entries.length > mostAttributes) return `has more than ${mostAttributes} attributes`;
  for (const [name, value] of entries) {
    if (!isShort.test(value)) return `attribute ${name} is longer than ${longestValue} characters`;
    if (controlCharacter.test(value)) return `attribute ${name} has a control character`;
  }
  return null;
}

/** Returns the JSON object that the store keeps for a key, names in order. */
export function attributesJson(key: string): string {
  return JSON.stringify(Object.fromEntries(entriesOf(key)));
}

/** Compares by code units, independent of the locale. */
export function byName([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function entriesOf(key: string): [string, string][] {
  const lines = key.split("\n");
  const entries: [string, string][] = [];
  for (let line = 0; line + 1 < lines.length; line += 2) entries.push([lines[line] ?? "", lines[line + 1] ?? ""]);
  return entries;
}

/** Label values of flatline_events_ingested_total (CONTRACT 6). */
export const ingestedStatuses = [deadStatus, "DETECTED_AS_ALIVE", "other"] as const;
export type IngestedStatus = (typeof ingestedStatuses)[number];

/** Number of events by the label of their status. */
export type StatusTally = Record<IngestedStatus, number>;

export function createTally(): StatusTally {
  return { DETECTED_AS_DEAD: 0, DETECTED_AS_ALIVE: 0, other: 0 };
}

export function ingestedStatus(status: string): IngestedStatus {
  return ingestedStatuses.find((known) => known === status) ?? "other";
}
