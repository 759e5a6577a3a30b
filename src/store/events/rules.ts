import { excerpt, hasAtMost } from "../../base/outside-text.ts";
import { aliveStatus, deadStatus } from "../../contract/liveness-status.ts";
import { longestSlug } from "../../contract/slug.ts";
import { BadRow, instantOfNumber, instantOfText, isNullMarker, type EventField, type EventLayout } from "./layout.ts";

// CSV, NDJSON and JSON have the same rules for events (CONTRACT 10). The limits are ours: far above the platform's
// values, far below a risk for the store.

const longestName = 64;
const longestAssetBytes = 4_096;
const longestIdBytes = 512;
// A million of them still add up exactly.
const largestCount = 1_000_000_000;
const mostAttributes = 16;
/** Maximum length of an attribute's value, in characters. */
const longestValue = 256;
// A file with more distinct names is not a liveness record; limits the memory of names.
const mostNames = 1_000_000;

/** The number of DETECTED_AS_DEAD in event_statuses, as in the migration. */
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
  /** Lower-case names with texts, in the order of the names [none]; equal sets of one input share an object. */
  readonly attributes?: Readonly<Record<string, string>> | undefined;
  /** Its place among equal events without id and asset, if the events come in several parts [counted in the part]. */
  readonly number?: number | undefined;
}

/** How an input is read, and where its events go. */
export interface Reading {
  readonly names: EventNames;
  readonly layout: EventLayout;
  readonly row: (event: LivenessEvent) => void;
}

/** The fields of a row: the texts of CSV, or any values of JSON; undefined and null are absent. */
export type GivenFields = Readonly<Partial<Record<EventField | "number", unknown>>> & {
  readonly attributes: readonly (readonly [name: string, value: unknown])[];
};

/** Different texts of one kind: each is checked once, and kept once. */
class NameTable<Value extends object | string> {
  readonly #known = new Map<string, Value>();
  readonly #label: string;
  readonly #valueOf: (text: string) => Value;

  /** `valueOf` throws BadRow for a text that may not be. */
  constructor(label: string, valueOf: (text: string) => Value) {
    this.#label = label;
    this.#valueOf = valueOf;
  }

  /** Returns the value of a text. @throws BadRow */
  of(text: string): Value {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    if (!text.isWellFormed()) throw new BadRow(`${this.#label} is not valid Unicode`);
    // A copy is made, because a part of a text keeps the whole text in memory.
    const copy = Buffer.from(text).toString();
    const value = this.#valueOf(copy);
    if (this.#known.size >= mostNames) throw new BadRow(`more than ${mostNames} different values of ${this.#label}`);
    this.#known.set(copy, value);
    return value;
  }
}

/** The names of an input. */
export type EventNames = ReturnType<typeof createEventNames>;

export function createEventNames() {
  return {
    slugs: new NameTable("slug", checkedSlug),
    assetTypes: new NameTable("assetType", checkedAssetType),
    statuses: new NameTable("status", checkedStatus),
    /** Sets of attributes, by their entries as JSON. */
    attributes: new NameTable("attributes", attributesOfKey),
  };
}

/** Returns the event with these fields. @throws BadRow */
export function eventOf({ names, layout }: Pick<Reading, "names" | "layout">, given: GivenFields): LivenessEvent {
  const atMs = instantOf(given.at, layout);
  const assetType = textOf("assetType", given.assetType);
  const { number } = given;
  const event: LivenessEvent = {
    atMs,
    slug: names.slugs.of(textOf("slug", given.slug) ?? ""),
    assetType: assetType === null ? null : names.assetTypes.of(assetType),
    status: names.statuses.of(statusOf(given.status, layout)),
    attributes: attributesOf(names, given.attributes),
    asset: boundedTextOf("asset", given.asset, controlInAsset, longestAssetBytes),
    id: boundedTextOf("id", given.id, controlCharacter, longestIdBytes),
    count: countOf(given.count),
    number: number as number | undefined,
  };
  if (event.id !== null && isNullMarker(event.id))
    throw new BadRow(`id is ${event.id}, which stands for no id; leave it out instead`, "null_id");
  if (number !== undefined && !Number.isSafeInteger(number)) throw new BadRow("number is not a whole number");
  return event;
}

// eslint-disable-next-line no-control-regex -- that is what is looked for
const controlCharacter = /[\u0000-\u001f\u007f]/;
// Line breaks and tabs occur in foreign text.
// eslint-disable-next-line no-control-regex -- that is what is looked for
const controlInAsset = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** Shows a value; a list or an object only by its kind: its text may be long, and a deeply nested one has none. */
export function shown(value: unknown): string {
  if (typeof value === "string") return excerpt(value);
  if (Array.isArray(value)) return "[…]";
  return typeof value === "object" && value !== null ? "{…}" : String(value);
}

function instantOf(at: unknown, layout: EventLayout): number {
  if (typeof at === "string") return instantOfText(at, layout);
  if (isAbsent(at)) throw new BadRow("at is missing");
  if (typeof at !== "number") throw new BadRow(`at ${shown(at)} is neither a string nor a number`);
  if (Number.isInteger(at) && at >= 0) return instantOfNumber(at, layout);
  throw new BadRow(`at ${at} is not a whole number of milliseconds since 1970`);
}

function textOf(field: string, value: unknown): string | null {
  if (typeof value === "string") return value;
  if (isAbsent(value)) return null;
  throw new BadRow(`${field} ${shown(value)} is not a string`);
}

/** Returns the text of an asset or an id; an empty one is a mistake. */
function boundedTextOf(field: "asset" | "id", value: unknown, refused: RegExp, longestBytes: number): string | null {
  const isNumber = field === "id" && Number.isSafeInteger(value);
  const text = textOf(field, isNumber ? String(value) : value);
  if (text === null) return null;
  if (text === "") throw new BadRow(`${field} is empty; leave it out instead`);
  if (refused.test(text)) throw new BadRow(`${field} has a control character`);
  if (!text.isWellFormed()) throw new BadRow(`${field} is not valid Unicode`);
  if (text.length * 3 > longestBytes && Buffer.byteLength(text) > longestBytes)
    throw new BadRow(`${field} is longer than ${longestBytes} bytes`);
  return text;
}

/** A boolean or a number is a status if the layout gives it a name. */
function statusOf(value: unknown, { statuses }: EventLayout): string {
  const own = typeof value === "boolean" || typeof value === "number" ? String(value) : value;
  const other = typeof own === "string" ? statuses.get(own) : undefined;
  return other ?? textOf("status", value) ?? deadStatus;
}

function countOf(value: unknown): number {
  if (isAbsent(value)) return 1;
  // Some databases write large whole numbers as text.
  const count = typeof value === "string" && /^\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof count === "number" && Number.isInteger(count) && count >= 0 && count <= largestCount) return count;
  throw new BadRow(`count ${shown(value)} is not a whole number up to ${largestCount}`);
}

function checkedSlug(slug: string): string {
  if (slug === "") throw new BadRow("slug is missing");
  if (slug.length > longestSlug) throw new BadRow(`slug is longer than ${longestSlug} characters`);
  if (controlCharacter.test(slug)) throw new BadRow("slug has a control character");
  // Such a slug would not match the configured organization.
  if (slug.trim() !== slug) throw new BadRow(`slug ${JSON.stringify(slug)} begins or ends with a space`);
  return slug;
}

/** Any upper-case name is accepted: the platform may have new types. */
function checkedAssetType(name: string): string {
  if (/^[A-Z0-9_]+$/.test(name) && name.length <= longestName) return name;
  throw new BadRow(`assetType ${excerpt(name)} is not 1 to ${longestName} upper-case letters, digits and underscores`);
}

/** Any name is accepted (CONTRACT 10). */
function checkedStatus(name: string): string {
  if (name.trim() === "" || controlCharacter.test(name) || name.length > longestName)
    throw new BadRow(`status ${excerpt(name)} is not a name of 1 to ${longestName} characters`);
  // A death would not count as one.
  if (name.trim() !== name) throw new BadRow(`status ${JSON.stringify(name)} begins or ends with a space`);
  return name;
}

// Attributes describe an event beyond its fields, for example the checker or the reason of a failure. Many events share
// the same values: each distinct set is checked once, and the store keeps it once.

function attributesOf(names: EventNames, given: GivenFields["attributes"]): LivenessEvent["attributes"] {
  if (given.length === 0) return undefined;
  const entries = given.filter(([, value]) => !isAbsent(value));
  if (entries.length === 0) return undefined;
  // flatline cannot know whether 1 and "1", true and "true" are the same.
  for (const [name, value] of entries)
    if (typeof value !== "string") throw new BadRow(`attribute ${name} ${shown(value)} is not a string`);
  return names.attributes.of(JSON.stringify(entries.sort(([left], [right]) => (left < right ? -1 : 1))));
}

function attributesOfKey(key: string): Readonly<Record<string, string>> {
  const entries = JSON.parse(key) as [string, string][];
  if (entries.length > mostAttributes) throw new BadRow(`has more than ${mostAttributes} attributes`);
  for (const [index, [name, value]] of entries.entries()) {
    const problem = attributeNameProblem(name);
    if (problem !== null) throw new BadRow(problem);
    if (value === "") throw new BadRow(`attribute ${name} is empty; leave it out instead`);
    if (entries[index - 1]?.[0] === name) throw new BadRow(`attribute ${name} is there twice`);
    if (!hasAtMost(value, longestValue))
      throw new BadRow(`attribute ${name} is longer than ${longestValue} characters`);
    if (controlCharacter.test(value)) throw new BadRow(`attribute ${name} has a control character`);
    if (!value.isWellFormed()) throw new BadRow(`attribute ${name} is not valid Unicode`);
  }
  return Object.fromEntries(entries);
}

/** Returns the problem of an attribute's name; null if it is valid. */
export function attributeNameProblem(name: string): string | null {
  if (/^[a-z][a-z0-9_]*$/.test(name) && name.length <= longestName) return null;
  return `attribute ${excerpt(name)} is not a lower-case name of 1 to ${longestName} letters, digits and underscores`;
}

/** Label values of flatline_events_ingested_total (CONTRACT 6). */
export type IngestedStatus = typeof deadStatus | typeof aliveStatus | "other";

export function ingestedStatus(status: string): IngestedStatus {
  return status === deadStatus || status === aliveStatus ? status : "other";
}

/** Returns the numbers of events whose status is neither a death nor a sign of life. */
export function otherStatuses(byStatus: ReadonlyMap<string, number>): Readonly<Record<string, number>> {
  return Object.fromEntries([...byStatus].filter(([status]) => ingestedStatus(status) === "other"));
}
