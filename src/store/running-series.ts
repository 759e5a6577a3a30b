// A minute of the year 9999 needs 32 bits without a sign; so do sums until some thousand million deaths are in them.
const largestSmallSum = 2 ** 32 - 1;
const smallestCapacity = 4;
// Room for an hour or two of new minutes, so that not every one of them copies the arrays.
const growth = 1.125;

/**
 * Deaths of one organization and asset type by minute, as running sums: how many there were between two minutes is the
 * difference of two numbers, each found by binary search. 8 bytes for each minute that has deaths, 12 once the sum is beyond
 * 32 bits; a late event moves up what follows it.
 */
export class RunningSeries {
  #minutes = new Uint32Array(smallestCapacity);
  #sums: Uint32Array | Float64Array = new Uint32Array(smallestCapacity);
  #length = 0;
  /** The sum before the first minute. */
  #base = 0;

  /** Minutes that have deaths. */
  get cells(): number {
    return this.#length;
  }

  get bytes(): number {
    return this.#minutes.byteLength + this.#sums.byteLength;
  }

  /** All that was ever added: beyond Number.MAX_SAFE_INTEGER the differences are no longer exact. */
  get total(): number {
    return this.#sumBefore(this.#length);
  }

  /** The place of the first minute at or after `minute`. */
  placeOf(minute: number): number {
    const minutes = this.#minutes;
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((minutes[middle] ?? 0) < minute) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The running sum of the minutes before a place. */
  sumBefore(place: number): number {
    return this.#sumBefore(place);
  }

  /** Whether the minute at a place is `minute`. */
  isAt(place: number, minute: number): boolean {
    return place < this.#length && this.#minutes[place] === minute;
  }

  /** Adds deaths by minute; `minutes` ascends without repeats. */
  add(minutes: readonly number[], deaths: readonly number[]): void {
    const first = minutes[0];
    if (first === undefined) return;
    const start = this.placeOf(first);
    const oldMinutes = this.#minutes.slice(start, this.#length);
    const oldSums = this.#sums.slice(start, this.#length);
    this.#reserve(
      this.#length + minutes.length,
      deaths.reduce((sum, count) => sum + count, this.total),
    );
    let oldSum = this.#sumBefore(start);
    let sum = oldSum;
    let place = start;
    let old = 0;
    for (let added = 0; old < oldMinutes.length || added < minutes.length; place++) {
      const oldMinute = oldMinutes[old] ?? Infinity;
      const addedMinute = minutes[added] ?? Infinity;
      if (addedMinute <= oldMinute) sum += deaths[added++] ?? 0;
      if (oldMinute <= addedMinute) {
        const next = oldSums[old++] ?? 0;
        sum += next - oldSum;
        oldSum = next;
      }
      this.#minutes[place] = Math.min(oldMinute, addedMinute);
      this.#sums[place] = sum;
    }
    this.#length = place;
  }

  /** Forgets the minutes before `minute`. */
  dropBefore(minute: number): void {
    const start = this.placeOf(minute);
    if (start === 0) return;
    this.#base = this.#sumBefore(start);
    const minutes = this.#minutes.subarray(start, this.#length);
    const sums = this.#sums.subarray(start, this.#length);
    this.#length -= start;
    // Half empty: the room is given back.
    if (this.#length * 2 < this.#minutes.length) {
      const capacity = Math.max(Math.ceil(this.#length * growth), smallestCapacity);
      this.#minutes = resized(new Uint32Array(capacity), minutes);
      this.#sums = resized(this.#newSums(capacity), sums);
      return;
    }
    this.#minutes.set(minutes);
    this.#sums.set(sums);
  }

  #sumBefore(place: number): number {
    return place === 0 ? this.#base : (this.#sums[place - 1] ?? 0);
  }

  #reserve(length: number, total: number): void {
    const isWide = this.#sums instanceof Float64Array || total > largestSmallSum;
    const isLongEnough = length <= this.#minutes.length;
    if (isLongEnough && isWide === this.#sums instanceof Float64Array) return;
    const capacity = isLongEnough ? this.#minutes.length : Math.ceil(length * growth) + smallestCapacity;
    this.#minutes = resized(new Uint32Array(capacity), this.#minutes.subarray(0, this.#length));
    const sums = isWide ? new Float64Array(capacity) : new Uint32Array(capacity);
    this.#sums = resized(sums, this.#sums.subarray(0, this.#length));
  }

  #newSums(capacity: number): Uint32Array | Float64Array {
    return this.#sums instanceof Float64Array ? new Float64Array(capacity) : new Uint32Array(capacity);
  }
}

function resized<Numbers extends Uint32Array | Float64Array>(into: Numbers, from: ArrayLike<number>): Numbers {
  into.set(from);
  return into;
}
