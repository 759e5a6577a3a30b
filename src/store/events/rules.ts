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

/** One liveness event (CONTRACT 10). */
export interface LivenessEvent {
  readonly atMs: number;
  readonly slug: string;
  readonly assetType: string | null;
  readonly asset: string | null;
  /** Any name; only DETECTED_AS_DEAD counts as a death. */
  readonly status: string;
  readonly id: string | null;
  /** Number of events, for data that is already aggregated; 0: an empty bucket. */
  readonly count: number;
  /** Lower-case names with texts, in the order of the names [none]; events of one input with the same ones share an object. */
  readonly attributes?: Readonly<Record<string, string>> | undefined;
  /** Its place among equal events without id and asset, where the events come in several parts [counted in the part]. */
  readonly number?: number | undefined;
}

/** Receives the rows and problems that a parser finds. */
export interface RowSink {
  row(row: LivenessEvent): void;
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
  readonly number?: number | undefined;
}

/** Different texts of one kind: each is checked once, and kept once. */
class NameTable<Value extends object | string> {
  readonly #known = new Map<string, Value>();
  readonly #label: string;
  readonly #valueOf: (text: string) => Value | FieldProblem;

  constructor(label: string, valueOf: (text: string) => Value | FieldProblem) {
    this.#label = label;
    this.#valueOf = valueOf;
  }

  /** Returns the value of a text, or its problem. */
  of(text: string): Value | FieldProblem {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    if (!text.isWellFormed()) return new FieldProblem(`${this.#label} is not valid Unicode`);
    // A copy is made, because a part of a text keeps the whole text in memory.
    const copy = Buffer.from(text).toString();
    const value = this.#valueOf(copy);
    if (value instanceof FieldProblem) return value;
    if (this.#known.size >= mostNames)
      return new FieldProblem(`more than ${mostNames} different values of ${this.#label}`);
    this.#known.set(copy, value);
    return value;
  }
}

/** The names of an input. */
export type EventNames = ReturnType<typeof createEventNames>;

export function createEventNames() {
  const checked = (label: string, problemOf: (text: string) => string | null): NameTable<string> =>
    new NameTable(label, (text) => {
      const problem = problemOf(text);
      return problem === null ? text : new FieldProblem(problem);
    });
  return {
    slugs: checked("slug", slugProblem),
    assetTypes: checked("assetType", assetTypeProblem),
    statuses: checked("status", statusProblem),
    /** Sets of attributes by their keys. */
    attributes: new NameTable("attributes", attributesOfKey),
  };
}

/** Returns the event with these fields, or the problem of the first field that has one. */
export function eventOf(
  names: EventNames,
  given: GivenFields,
  { statuses }: Pick<EventLayout, "statuses">,
): LivenessEvent | FieldProblem {
  const { at, asset, id, count, number } = given;
  if (at instanceof FieldProblem) return at;
  const slug = nameIn(names.slugs, given.slug ?? "");
  if (slug instanceof FieldProblem) return slug;
  const assetType = nameIn(names.assetTypes, given.assetType);
  if (assetType instanceof FieldProblem) return assetType;
  const named = typeof given.status === "string" ? (statuses.get(given.status) ?? given.status) : given.status;
  const status = nameIn(names.statuses, named);
  if (status instanceof FieldProblem) return status;
  const attributes = nameIn(names.attributes, given.attributes);
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
  return {
    atMs: at,
    slug: slug ?? "",
    assetType,
    asset,
    status: status ?? deadStatus,
    id,
    count,
    attributes: attributes ?? undefined,
    number,
  };
}

function nameIn<Value extends object | string>(
  table: NameTable<Value>,
  given: string | null | FieldProblem,
): Value | null | FieldProblem {
  return given === null ? null : given instanceof FieldProblem ? given : table.of(given);
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
function attributesOfKey(key: string): Readonly<Record<string, string>> | FieldProblem {
  const entries = entriesOf(key);
  if (entries.length > mostAttributes) return new FieldProblem(`has more than ${mostAttributes} attributes`);
  for (const [name, value] of entries) {
    if (!isShort.test(value)) return new FieldProblem(`attribute ${name} is longer than ${longestValue} characters`);
    if (controlCharacter.test(value)) return new FieldProblem(`attribute ${name} has a control character`);
  }
  return Object.fromEntries(entries);
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
