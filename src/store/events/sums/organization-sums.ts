import { minuteMs } from "../../../base/time.ts";
import type { AssetTypeDeaths } from "../../../contract/liveness-counts.ts";

/** Deaths of one type in one minute. */
export interface SumCell {
  readonly minute: number;
  readonly typeId: number;
  readonly deaths: number;
}

/** All deaths at or before an instant, by the places of types in the order of their names. */
export type CountEnd = number[];

/** A part of a minute whose deaths the database has to count: fromMs ≤ at < toMs. */
export interface CountEdge {
  readonly slugId: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** Adds the deaths of a type to the end of the count. */
  readonly add: (typeId: number, deaths: number) => void;
}

// Room for an hour or two of new minutes, so that not every one copies the arrays.
const growth = 1.125;
const spareMinutes = 8;
/** Size of the objects around the arrays of an organization. */
const overheadBytes = 1_024;

/**
 * Deaths of one type as running sums: the minutes with deaths in order, each with the sum of all deaths through it. What two
 * minutes have between them is the difference of two look-ups, however far they are apart.
 */
class TypeSums {
  minutes = new Uint32Array(spareMinutes);
  readonly typeId: number;
  readonly name: string | null;
  length = 0;
  #sums = new Float64Array(spareMinutes);
  /** Deaths before the first minute, in minutes that were dropped. */
  #dropped = 0;

  constructor(typeId: number, name: string | null) {
    this.typeId = typeId;
    this.name = name;
  }

  get bytes(): number {
    return this.minutes.byteLength + this.#sums.byteLength;
  }

  get total(): number {
    return this.#through(this.length - 1);
  }

  /** Returns the place of the first minute at or after `minute`. */
  placeOf(minute: number): number {
    let low = 0;
    let high = this.length;
    // Most counts end now.
    if (high === 0 || (this.minutes[high - 1] ?? 0) < minute) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.minutes[middle] ?? 0) < minute) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns the deaths before the minute at a place. */
  before(place: number): number {
    return this.#through(place - 1);
  }

  has(minute: number): boolean {
    const place = this.placeOf(minute);
    return place < this.length && this.minutes[place] === minute;
  }

  /** Adds deaths in the order of their minutes; a late one moves those behind it. */
  add(cells: readonly SumCell[]): void {
    const start = this.placeOf(cells[0]?.minute ?? Infinity);
    let sum = this.#through(start - 1);
    const behind: SumCell[] = [];
    for (let place = start, before = sum; place < this.length; place++) {
      const through = this.#through(place);
      behind.push({ minute: this.minutes[place] ?? 0, typeId: 0, deaths: through - before });
      before = through;
    }
    const merged = behind.length === 0 ? cells : [...behind, ...cells].sort((a, b) => a.minute - b.minute);
    this.#resize(start + merged.length);
    this.length = start;
    for (const { minute, deaths } of merged) {
      sum += deaths;
      const isSame = this.length > 0 && this.minutes[this.length - 1] === minute;
      if (!isSame) this.minutes[this.length++] = minute;
      this.#sums[this.length - 1] = sum;
    }
  }

  dropBefore(minute: number): void {
    const start = this.placeOf(minute);
    if (start === 0) return;
    this.#dropped = this.#through(start - 1);
    this.minutes.copyWithin(0, start, this.length);
    this.#sums.copyWithin(0, start, this.length);
    this.length -= start;
    if (this.length * 2 < this.minutes.length) this.#resize(this.length);
  }

  #through(place: number): number {
    return place < 0 ? this.#dropped : (this.#sums[place] ?? 0);
  }

  #resize(length: number): void {
    const isRoomy = length * 2 < this.minutes.length;
    if (length <= this.minutes.length && !isRoomy) return;
    const capacity = Math.ceil(length * growth) + spareMinutes;
    if (isRoomy && capacity >= this.minutes.length) return;
    const [minutes, sums] = [new Uint32Array(capacity), new Float64Array(capacity)];
    minutes.set(this.minutes.subarray(0, Math.min(this.length, length)));
    sums.set(this.#sums.subarray(0, Math.min(this.length, length)));
    [this.minutes, this.#sums] = [minutes, sums];
  }
}

/** The running sums of one organization, from a first minute on. */
export class OrganizationSums {
  fromMinute: number;
  /** The first minute that is not loaded; Infinity: all are. */
  nextMinute: number;
  /** The sums by the number of the type in the store. */
  readonly #types = new Map<number, TypeSums>();
  /** The sums in the order of names: no type comes first. */
  #inOrder: readonly TypeSums[] = [];
  /** The earliest minute that was asked for since the last trim. */
  #askedMinute = Infinity;
  #trimAtMinute = -Infinity;

  constructor(fromMinute: number) {
    this.fromMinute = fromMinute;
    this.nextMinute = fromMinute;
  }

  get isLoaded(): boolean {
    return this.nextMinute === Infinity;
  }

  get cells(): number {
    return this.#inOrder.reduce((sum, { length }) => sum + length, 0);
  }

  get bytes(): number {
    return this.#inOrder.reduce((sum, { bytes }) => sum + bytes, overheadBytes);
  }

  /** False if there are more deaths than safe integers. */
  isExact = true;

  /** Adds deaths in any order; those outside of the loaded minutes are ignored. */
  add(cells: readonly SumCell[], nameOf: (typeId: number) => string | null): void {
    const loaded = cells.filter(({ minute }) => minute >= this.fromMinute && minute < this.nextMinute);
    const byType = Map.groupBy(loaded, ({ typeId }) => typeId);
    for (const [typeId, some] of byType) {
      const sums = this.#types.get(typeId) ?? this.#newType(typeId, nameOf(typeId));
      sums.add(some.sort((a, b) => a.minute - b.minute));
      if (sums.total > Number.MAX_SAFE_INTEGER) this.isExact = false;
    }
  }

  dropBefore(minute: number): void {
    for (const sums of this.#inOrder) sums.dropBefore(minute);
  }

  /** Notes what is asked for; returns whether {@link trim} is due: once in a spare time. */
  noteAsked(minute: number): boolean {
    if (minute < this.#askedMinute) this.#askedMinute = minute;
    return minute >= this.#trimAtMinute && minute !== Infinity;
  }

  /** Drops what was not asked for since the last time but for a spare time. */
  trim(askedMinute: number, spare: number): void {
    if (this.#trimAtMinute !== -Infinity && this.#askedMinute - spare > this.fromMinute) {
      this.fromMinute = this.#askedMinute - spare;
      for (const sums of this.#inOrder) sums.dropBefore(this.fromMinute);
    }
    this.#askedMinute = askedMinute;
    this.#trimAtMinute = askedMinute + spare;
  }

  /** Returns the end of a count at an instant, and adds the part of its minute that has to be read to `edges`. */
  endAt(slugId: number, atMs: number, edges: CountEdge[]): CountEnd {
    const toMs = atMs + 1;
    const minute = Math.floor(toMs / minuteMs);
    const fromMs = minute * minuteMs;
    const end: CountEnd = [];
    let hasDeaths = false;
    for (const sums of this.#inOrder) {
      const place = sums.placeOf(minute);
      if (place < sums.length && sums.minutes[place] === minute) hasDeaths = true;
      end.push(sums.before(place));
    }
    const add = (typeId: number, deaths: number): void => {
      const place = this.#inOrder.findIndex((sums) => sums.typeId === typeId);
      end[place] = (end[place] ?? 0) + deaths;
    };
    if (hasDeaths && toMs > fromMs) edges.push({ slugId, fromMs, toMs, add });
    return end;
  }

  /** Returns the types with a death between one of these pairs of ends; null: nothing is between them. */
  deathsBetween(intervals: readonly (readonly [after: CountEnd, until: CountEnd] | null)[]): AssetTypeDeaths[] {
    const answer: AssetTypeDeaths[] = [];
    let place = 0;
    for (const sums of this.#inOrder) {
      const deaths: number[] = [];
      let total = 0;
      for (const ends of intervals) {
        const count = ends === null ? 0 : (ends[1][place] ?? 0) - (ends[0][place] ?? 0);
        total += count;
        deaths.push(count);
      }
      place++;
      if (total > 0) answer.push({ assetType: sums.name, deaths });
    }
    return answer;
  }

  #newType(typeId: number, name: string | null): TypeSums {
    const sums = new TypeSums(typeId, name);
    this.#types.set(typeId, sums);
    this.#inOrder = [...this.#types.values()].sort((a, b) => ((a.name ?? "") < (b.name ?? "") ? -1 : 1));
    return sums;
  }
}
