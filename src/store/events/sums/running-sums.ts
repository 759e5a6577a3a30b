/** Deaths of one type in one minute. */
export interface SumCell {
  readonly minute: number;
  /** From 0, below `mostTypes`. */
  readonly type: number;
  readonly deaths: number;
}

/** Organizations with more types are not summed; the API has about sixty. */
export const mostTypes = 256;

// Cells between two rows of sums: a look-up reads one row and about four cache lines after it. With 64, the sums take 1 byte
// per cell less and a look-up a third longer.
const blockCells = 32;
// The low 8 bits of a cell are the type.
const largestSmallDeaths = 2 ** 24 - 1;
// Reserve for an hour or two of new minutes, so that not every one copies the arrays.
const growth = 1.125;
const spareCells = 4;

/**
 * Deaths of one organization by minute and type as running sums: the number between two instants is the difference of two
 * look-ups. Cells are sorted by minute, 8 bytes each; before every 32nd cell there is a row with the sums of all types so
 * far. A late event shifts the cells after it.
 */
export class RunningSums {
  #minutes = new Uint32Array(spareCells);
  /** deaths × 256 + type; doubles once a minute has 2^24 deaths of a type. */
  #cells: Uint32Array | Float64Array = new Uint32Array(spareCells);
  #length = 0;
  #types = 0;
  /** Sums before the first cell, of dropped minutes. */
  #base: number[] = [];
  /** Per block: the minute of its first cell, and the sums before it. */
  #firstMinutes = new Uint32Array(0);
  #sums = new Float64Array(0);

  /** Returns the number of types, and so of the sums that a look-up writes. */
  get types(): number {
    return this.#types;
  }

  get cells(): number {
    return this.#length;
  }

  get bytes(): number {
    return this.#minutes.byteLength + this.#cells.byteLength + this.#firstMinutes.byteLength + this.#sums.byteLength;
  }

  /**
   * Writes the sums of all deaths before `minute` to into[start…], one per type; returns whether the minute itself has any.
   */
  before(minute: number, into: Float64Array, start: number): boolean {
    const types = this.#types;
    const block = this.#blockBefore(minute);
    if (block < 0) {
      for (let type = 0; type < types; type++) into[start + type] = this.#base[type] ?? 0;
      return this.#length > 0 && this.#minutes[0] === minute;
    }
    for (let type = 0, from = block * types; type < types; type++) into[start + type] = this.#sums[from + type] ?? 0;
    const minutes = this.#minutes;
    const cells = this.#cells;
    const isWide = cells instanceof Float64Array;
    const length = this.#length;
    let place = block * blockCells;
    for (; place < length && (minutes[place] ?? 0) < minute; place++) {
      const cell = cells[place] ?? 0;
      const to = start + (isWide ? cell % mostTypes : cell & (mostTypes - 1));
      into[to] = (into[to] ?? 0) + (isWide ? Math.floor(cell / mostTypes) : cell >>> 8);
    }
    return place < length && minutes[place] === minute;
  }

  /** Returns the minutes around `minute` without deaths, up to before `until`; null if it has some itself. */
  quietAround(minute: number): { readonly from: number; readonly until: number } | null {
    const place = this.#placeOf(minute);
    const until = place < this.#length ? (this.#minutes[place] ?? 0) : Infinity;
    if (until === minute) return null;
    return { from: place === 0 ? -Infinity : (this.#minutes[place - 1] ?? 0) + 1, until };
  }

  /** Adds cells in the order of minute and type, each pair once. */
  add(added: readonly SumCell[]): void {
    const [first] = added;
    if (first === undefined) return;
    const types = added.reduce((most, { type }) => Math.max(most, type + 1), this.#types);
    const start = this.#placeOf(first.minute);
    const oldMinutes = this.#minutes.slice(start, this.#length);
    const oldCells = this.#cells.slice(start, this.#length);
    this.#reserve(this.#length + added.length, added);
    let place = start;
    let old = 0;
    let next = 0;
    while (old < oldMinutes.length || next < added.length) {
      const cell = added[next];
      const oldMinute = oldMinutes[old] ?? Infinity;
      const oldCell = oldCells[old] ?? 0;
      const order = cell === undefined ? 1 : cell.minute - oldMinute || cell.type - (oldCell % mostTypes);
      const value = cell === undefined || order > 0 ? 0 : cell.deaths * mostTypes;
      this.#minutes[place] = order > 0 ? oldMinute : (cell?.minute ?? 0);
      this.#put(place++, value + (order < 0 ? (cell?.type ?? 0) : oldCell));
      if (order <= 0) next++;
      if (order >= 0) old++;
    }
    this.#length = place;
    const isWider = types > this.#types;
    this.#types = types;
    while (this.#base.length < types) this.#base.push(0);
    this.#sumFrom(isWider ? 0 : Math.floor(start / blockCells));
  }

  /** Drops the minutes before `minute`. */
  dropBefore(minute: number): void {
    const start = this.#placeOf(minute);
    if (start === 0) return;
    const base = new Float64Array(this.#types);
    this.before(minute, base, 0);
    this.#base = [...base];
    const length = this.#length - start;
    const isHalfEmpty = length * 2 < this.#minutes.length;
    const capacity = isHalfEmpty ? Math.ceil(length * growth) + spareCells : this.#minutes.length;
    this.#minutes = resized(this.#minutes.subarray(start, this.#length), capacity);
    this.#cells = resized(this.#cells.subarray(start, this.#length), capacity);
    this.#length = length;
    this.#firstMinutes = new Uint32Array(0);
    this.#sums = new Float64Array(0);
    this.#sumFrom(0);
  }

  /** Returns the last block that starts before `minute`; -1 if there is none. */
  #blockBefore(minute: number): number {
    const firsts = this.#firstMinutes;
    let low = 0;
    let high = Math.ceil(this.#length / blockCells);
    // Most queries end now, in the last block.
    if (high > 0 && (firsts[high - 1] ?? 0) < minute) return high - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((firsts[middle] ?? 0) < minute) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** Returns the first cell at or after `minute`. */
  #placeOf(minute: number): number {
    const block = this.#blockBefore(minute);
    if (block < 0) return 0;
    let place = block * blockCells;
    while (place < this.#length && (this.#minutes[place] ?? 0) < minute) place++;
    return place;
  }

  #put(place: number, cell: number): void {
    if (cell > 2 ** 32 - 1 && this.#cells instanceof Uint32Array) this.#widen();
    this.#cells[place] = cell;
  }

  #widen(): void {
    this.#cells = Float64Array.from(this.#cells);
  }

  #reserve(length: number, added: readonly SumCell[]): void {
    if (this.#cells instanceof Uint32Array && added.some(({ deaths }) => deaths > largestSmallDeaths)) this.#widen();
    if (length <= this.#minutes.length) return;
    const capacity = Math.ceil(length * growth) + spareCells;
    this.#minutes = resized(this.#minutes.subarray(0, this.#length), capacity);
    this.#cells = resized(this.#cells.subarray(0, this.#length), capacity);
  }

  /** Rewrites the rows of sums from a block on. */
  #sumFrom(block: number): void {
    const types = this.#types;
    const blocks = Math.ceil(this.#length / blockCells);
    if (blocks > this.#firstMinutes.length || blocks * types > this.#sums.length) {
      const capacity = Math.ceil(this.#minutes.length / blockCells);
      this.#firstMinutes = resized(this.#firstMinutes, capacity);
      this.#sums = resized(this.#sums, capacity * types);
    }
    const sums = Float64Array.from(this.#base);
    if (block > 0) {
      const before = (block - 1) * blockCells;
      for (let type = 0; type < types; type++) sums[type] = this.#sums[(block - 1) * types + type] ?? 0;
      this.#addUp(before, before + blockCells, sums);
    }
    for (let one = block; one < blocks; one++) {
      this.#firstMinutes[one] = this.#minutes[one * blockCells] ?? 0;
      this.#sums.set(sums, one * types);
      this.#addUp(one * blockCells, Math.min((one + 1) * blockCells, this.#length), sums);
    }
  }

  #addUp(from: number, to: number, sums: Float64Array): void {
    for (let place = from; place < to; place++) {
      const cell = this.#cells[place] ?? 0;
      sums[cell % mostTypes] = (sums[cell % mostTypes] ?? 0) + Math.floor(cell / mostTypes);
    }
  }
}

/** Returns a copy of the numbers with the given capacity. */
function resized<Numbers extends Uint32Array | Float64Array>(numbers: Numbers, capacity: number): Numbers {
  const copy = (numbers instanceof Uint32Array ? new Uint32Array(capacity) : new Float64Array(capacity)) as Numbers;
  copy.set(numbers);
  return copy;
}
