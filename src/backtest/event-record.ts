import { AssetBook, type AssetName } from "../contract/assets.ts";
import type { HistoryEvent } from "../store/events/events.ts";

/** All events of one organization in sorted arrays, for counting over long stretches without a query each. */
export interface EventRecord {
  readonly slug: string;
  /** Instants of deaths, ascending, epoch ms. */
  readonly deathAtMs: Float64Array;
  /** Deaths before the one with that index; one entry more than there are instants. */
  readonly deathsBefore: Float64Array;
  /** The number of the asset of each death; -1: it names none. */
  readonly deathAsset: Int32Array;
  /** Instant at which the asset of each death was found alive; NaN: never. */
  readonly revivedAtMs: Float64Array;
  /** Instants of events of any status, ascending. */
  readonly seenAtMs: Float64Array;
  /** How many different assets the events name. */
  readonly assets: number;
}

const deadStatus = "DETECTED_AS_DEAD";
const aliveStatus = "DETECTED_AS_ALIVE";
const otherKind = 0;
const deadKind = 1;
const aliveKind = 2;

/** Collects the events of one organization, in any order. */
export class EventRecorder {
  readonly #slug: string;
  readonly #assets = new AssetBook<number>();
  /** The names by their number in #assets. */
  readonly #names: AssetName[] = [];
  #capacity = 1_024;
  #length = 0;
  #isSorted = true;
  #at = new Float64Array(this.#capacity);
  #count = new Float64Array(this.#capacity);
  #kind = new Uint8Array(this.#capacity);
  #asset = new Int32Array(this.#capacity);

  constructor(slug: string) {
    this.#slug = slug;
  }

  get length(): number {
    return this.#length;
  }

  add({ atMs, status, count, typeId, asset }: HistoryEvent): void {
    if (this.#length === this.#capacity) this.#grow();
    const index = this.#length++;
    if (index > 0 && atMs < (this.#at[index - 1] ?? 0)) this.#isSorted = false;
    this.#at[index] = atMs;
    this.#count[index] = count;
    this.#kind[index] = status === deadStatus ? deadKind : status === aliveStatus ? aliveKind : otherKind;
    this.#asset[index] = asset === null ? -1 : this.#numberOf({ typeId, asset });
  }

  /** Returns the collected events; those at one instant keep the order in which they were added. */
  finish(): EventRecord {
    const order = this.#order();
    const seenAtMs = new Float64Array(this.#length);
    const deathAtMs: number[] = [];
    const deathsBefore: number[] = [0];
    const deathAsset: number[] = [];
    const revivedAtMs: number[] = [];
    // Deaths of each asset since it was last found alive, as a chain from the latest one.
    const latestDeath = new AssetBook<number>();
    const earlierDeath: number[] = [];
    for (let place = 0; place < this.#length; place++) {
      const index = order?.[place] ?? place;
      const atMs = this.#at[index] ?? 0;
      const count = this.#count[index] ?? 0;
      const asset = this.#asset[index] ?? -1;
      const name = this.#names[asset];
      seenAtMs[place] = atMs;
      if (this.#kind[index] === deadKind && count > 0) {
        const death = deathAtMs.length;
        deathAtMs.push(atMs);
        deathsBefore.push((deathsBefore[death] ?? 0) + count);
        deathAsset.push(asset);
        revivedAtMs.push(Number.NaN);
        earlierDeath.push(name === undefined ? -1 : (latestDeath.get(name) ?? -1));
        if (name !== undefined) latestDeath.set(name, death);
      } else if (this.#kind[index] === aliveKind && name !== undefined) {
        for (const [dead, latest] of latestDeath.meant(name)) {
          for (let death = latest; death >= 0; death = earlierDeath[death] ?? -1) revivedAtMs[death] = atMs;
          latestDeath.delete(dead);
        }
      }
    }
    return {
      slug: this.#slug,
      deathAtMs: Float64Array.from(deathAtMs),
      deathsBefore: Float64Array.from(deathsBefore),
      deathAsset: Int32Array.from(deathAsset),
      revivedAtMs: Float64Array.from(revivedAtMs),
      seenAtMs,
      assets: this.#names.length,
    };
  }

  /** null: as they were added. */
  #order(): Uint32Array | null {
    if (this.#isSorted) return null;
    const order = Uint32Array.from({ length: this.#length }, (_, index) => index);
    const at = this.#at;
    return order.sort((left, right) => (at[left] ?? 0) - (at[right] ?? 0) || left - right);
  }

  #numberOf(name: AssetName): number {
    const known = this.#assets.get(name);
    if (known !== undefined) return known;
    this.#assets.set(name, this.#names.length);
    return this.#names.push(name) - 1;
  }

  #grow(): void {
    this.#capacity *= 2;
    const grown = <Values extends Float64Array | Uint8Array | Int32Array>(old: Values, fresh: Values): Values => {
      fresh.set(old);
      return fresh;
    };
    this.#at = grown(this.#at, new Float64Array(this.#capacity));
    this.#count = grown(this.#count, new Float64Array(this.#capacity));
    this.#kind = grown(this.#kind, new Uint8Array(this.#capacity));
    this.#asset = grown(this.#asset, new Int32Array(this.#capacity));
  }
}
