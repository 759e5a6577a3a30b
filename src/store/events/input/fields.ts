import { isUtf8 } from "node:buffer";
import { excerpt } from "../../../base/cut-text.ts";
import { longestSlug } from "../../../contract/slug.ts";

// The rules of an event's fields, the same for CSV, NDJSON and JSON (CONTRACT 10). The limits are ours: far above the
// platform's values, far below a risk for the store.

const longestName = 64;
/** UTF-8 bytes. */
export const longestAssetBytes = 4_096;
/** UTF-8 bytes. */
export const longestIdBytes = 512;
/** Largest `count` of an event: a million of them still add up exactly. */
export const largestCount = 1_000_000_000;

export const eventFields = ["at", "slug", "assetType", "asset", "status", "id", "count"] as const;
export type EventField = (typeof eventFields)[number];

/** The status that counts as a death (CONTRACT 1). */
export const deadStatus = "DETECTED_AS_DEAD";

export function isEventField(name: string): name is EventField {
  return (eventFields as readonly string[]).includes(name);
}

/** Returns the problem of a slug; null if it is valid. */
export function slugProblem(slug: string): string | null {
  if (slug === "") return "slug is missing";
  if (slug.length > longestSlug) return `slug is longer than ${longestSlug} characters`;
  if (hasControlCharacter(slug)) return "slug has a control character";
  // It would not match the configured organization.
  if (slug.trim() !== slug) return `slug ${JSON.stringify(slug)} begins or ends with a space`;
  return null;
}

/** Returns the problem of an asset type; null if it is valid. Any upper-case name is accepted, so that new types are. */
export function assetTypeProblem(name: string): string | null {
  if (/^[A-Z0-9_]+$/.test(name) && name.length <= longestName) return null;
  return `assetType ${excerpt(name)} is not 1 to ${longestName} upper-case letters, digits and underscores`;
}

/** Returns the problem of a status; null if it is valid: any name is accepted (CONTRACT 10). */
export function statusProblem(name: string): string | null {
  if (name.trim() !== "" && !hasControlCharacter(name) && name.length <= longestName) return null;
  return `status ${excerpt(name)} is not a name of 1 to ${longestName} characters`;
}

export function hasControlCharacter(text: string): boolean {
  // eslint-disable-next-line no-control-regex -- that is what is looked for
  return /[\u0000-\u001f\u007f]/.test(text);
}

/** Returns the problem of an asset; null if it is valid. Line breaks and tabs are accepted: they occur in foreign text. */
export function assetProblem(asset: string): string | null {
  return hasControlCharacter(asset.replace(/[\t\n\r]/g, "")) ? "asset has a control character" : null;
}

/** Returns the problem of an id; null if it is valid. */
export function idProblem(id: string): string | null {
  return hasControlCharacter(id) ? "id has a control character" : null;
}

/** A rejected name with the reason; returned by NameTable.indexOf, reported where the line is known. */
export class FieldProblem {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

// A file with more distinct names is not a liveness record; limits the memory of names.
const mostNames = 1_000_000;

/**
 * Maps names to small integers by their bytes: a name is checked and decoded once, however many rows have it. Indexes count
 * from 0 in order of appearance.
 */
export class NameTable {
  readonly names: string[] = [];
  readonly #bytes: Uint8Array[] = [];
  readonly #problemOf: (name: string) => string | null;
  readonly #label: string;
  #slots = new Int32Array(1_024);
  #last = -1;

  constructor(label: string, problemOf: (name: string) => string | null, known: readonly string[] = []) {
    this.#label = label;
    this.#problemOf = problemOf;
    for (const name of known) this.#add(Buffer.from(name), name);
  }

  /** Returns the index of the name in bytes[start, end), or a FieldProblem if it is invalid. */
  indexOf(bytes: Uint8Array, start: number, end: number): number | FieldProblem {
    if (this.#last >= 0 && this.#matches(this.#last, bytes, start, end)) return this.#last;
    const mask = this.#slots.length - 1;
    for (let slot = hashBytes(bytes, start, end) & mask; ; slot = (slot + 1) & mask) {
      const index = (this.#slots[slot] ?? 0) - 1;
      if (index < 0) break;
      if (this.#matches(index, bytes, start, end)) return (this.#last = index);
    }
    const own = Uint8Array.prototype.slice.call(bytes, start, end);
    if (!isUtf8(own)) return new FieldProblem(`${this.#label} is not valid UTF-8`);
    const name = Buffer.from(own.buffer).toString("utf8");
    const reason = this.#problemOf(name);
    if (reason !== null) return new FieldProblem(reason);
    if (this.names.length >= mostNames)
      return new FieldProblem(`more than ${mostNames} different values of ${this.#label}`);
    return (this.#last = this.#add(own, name));
  }

  #add(bytes: Uint8Array, name: string): number {
    const index = this.names.push(name) - 1;
    this.#bytes.push(bytes);
    if (this.names.length * 2 > this.#slots.length) this.#grow();
    else this.#place(index);
    return index;
  }

  #grow(): void {
    this.#slots = new Int32Array(this.#slots.length * 4);
    for (let index = 0; index < this.names.length; index++) this.#place(index);
  }

  #place(index: number): void {
    const bytes = this.#bytes[index] ?? new Uint8Array();
    const mask = this.#slots.length - 1;
    let slot = hashBytes(bytes, 0, bytes.length) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = index + 1;
  }

  #matches(index: number, bytes: Uint8Array, start: number, end: number): boolean {
    const own = this.#bytes[index];
    if (own === undefined || own.length !== end - start) return false;
    for (let at = 0; at < own.length; at++) if (own[at] !== bytes[start + at]) return false;
    return true;
  }
}

/** FNV-1a, 32 bits: fast, and the table compares the bytes anyway. */
function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}
