import { cellNumbers } from "../sqlite/changes.ts";
import { OrganizationSums } from "./organization-sums.ts";
import type { EventSumsSize } from "./event-sums.ts";

/** Returns the name of an asset type by its number; null: events without one. */
export type TypeNames = (typeId: number) => string | null;

/** The sums of all organizations that have some, and the queue of those to be loaded. Independent of a database. */
export class SumTable {
  readonly #maxBytes: number;
  readonly #ids = new Map<string, number>();
  readonly #sums = new Map<number, OrganizationSums>();
  /** Organizations to be loaded, with their first minute. */
  readonly #wanted = new Map<number, number>();
  /** Organizations that do not fit into memory. */
  readonly #refused = new Set<number>();
  #bytes = 0;
  #changes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** How often any counts changed so far. */
  get changes(): number {
    return this.#changes;
  }

  idOf(slug: string): number | null {
    return this.#ids.get(slug) ?? null;
  }

  learn(slug: string, slugId: number): void {
    this.#ids.set(slug, slugId);
  }

  /** Returns the sums of an organization if they reach back to `firstMinute`; otherwise queues them if they are wanted. */
  sumsFor(slugId: number, firstMinute: number, spareMinutes: number, isWanted: boolean): OrganizationSums | null {
    const sums = this.#sums.get(slugId);
    if (sums !== undefined && sums.isLoaded && sums.reachesTo(firstMinute)) {
      const bytes = sums.bytes;
      sums.trim(firstMinute, spareMinutes);
      this.#bytes += sums.bytes - bytes;
      return sums.isExact ? sums : null;
    }
    if (isWanted && !this.#refused.has(slugId) && (sums === undefined || !sums.reachesTo(firstMinute))) {
      const from = Number.isFinite(firstMinute) ? Math.max(firstMinute - spareMinutes, 0) : 0;
      this.#wanted.set(slugId, Math.min(from, this.#wanted.get(slugId) ?? Infinity));
    }
    return null;
  }

  /** Returns the sums of an organization if they are loaded from `firstMinute` on. */
  loadedSums(slug: string, firstMinute: number): OrganizationSums | null {
    const sums = this.#sums.get(this.#ids.get(slug) ?? -1);
    return sums?.isLoaded === true && sums.isExact && sums.reachesTo(firstMinute) ? sums : null;
  }

  /** Starts the sums of the organization that has waited longest, or continues the current one. */
  nextToLoad(): { readonly slugId: number; readonly sums: OrganizationSums } | null {
    for (const [slugId, fromMinute] of this.#wanted) {
      let sums = this.#sums.get(slugId);
      if (sums === undefined || sums.isLoaded || !sums.reachesTo(fromMinute)) {
        this.forget(slugId);
        sums = new OrganizationSums(fromMinute);
        this.#sums.set(slugId, sums);
        this.#bytes += sums.bytes;
      }
      return { slugId, sums };
    }
    return null;
  }

  /** Adds loaded cells of the current organization; `nextMinute` is the first one that is not loaded, null at the end. */
  load(slugId: number, cells: readonly number[], nextMinute: number | null, typeName: TypeNames): void {
    const sums = this.#sums.get(slugId);
    if (sums === undefined) return;
    sums.loadedTo(nextMinute);
    this.#addTo(sums, cells, 0, cells.length, typeName);
    if (nextMinute === null) this.#wanted.delete(slugId);
    if (this.#bytes <= this.#maxBytes) return;
    this.forget(slugId);
    this.#wanted.delete(slugId);
    this.#refused.add(slugId);
  }

  /** Adds cells of the journal, grouped by organization. */
  add(detail: readonly number[], typeName: TypeNames): void {
    for (let start = 0; start < detail.length;) {
      let end = start + cellNumbers;
      while (end < detail.length && detail[end] === detail[start]) end += cellNumbers;
      const sums = this.#sums.get(detail[start] ?? 0);
      if (sums !== undefined) this.#addTo(sums, detail, start, end, typeName);
      start = end;
    }
  }

  dropBefore(minute: number): void {
    this.#changes++;
    this.#bytes = 0;
    for (const sums of this.#sums.values()) {
      sums.dropBefore(minute);
      this.#bytes += sums.bytes;
    }
    // There may be room again.
    this.#refused.clear();
  }

  /** Drops an organization; it is loaded again when it is queried. */
  forget(slugId: number): void {
    const sums = this.#sums.get(slugId);
    if (sums === undefined) return;
    this.#changes++;
    this.#sums.delete(slugId);
    sums.end();
    this.#bytes -= sums.bytes;
    this.#refused.clear();
  }

  clear(): void {
    this.#changes++;
    for (const sums of this.#sums.values()) sums.end();
    this.#sums.clear();
    this.#wanted.clear();
    this.#refused.clear();
    this.#ids.clear();
    this.#bytes = 0;
  }

  size(): EventSumsSize {
    let cells = 0;
    let organizations = 0;
    for (const sums of this.#sums.values()) {
      cells += sums.cells;
      if (sums.isLoaded) organizations++;
    }
    return { organizations, cells, bytes: this.#bytes };
  }

  #addTo(sums: OrganizationSums, cells: readonly number[], start: number, end: number, typeName: TypeNames): void {
    this.#changes++;
    const bytes = sums.bytes;
    sums.add(cells, start, end, typeName);
    this.#bytes += sums.bytes - bytes;
  }
}
