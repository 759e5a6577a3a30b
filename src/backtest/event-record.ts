/** What of an event a replay needs. */
export interface RecordedEvent {
  /** Epoch ms. */
  readonly atMs: number;
  /** DETECTED_AS_DEAD is a death, DETECTED_AS_ALIVE undoes those of its asset, any other only shows that the asset was looked at. */
  readonly status: string;
  readonly count: number;
  readonly asset: string | null;
}

/** All events of one organization in sorted arrays, for counting over long stretches without a query each. */
export interface EventRecord {
  readonly slug: string;
  /** Instants of deaths, ascending, epoch ms. */
  readonly deathAtMs: Float64Array;
  /** Deaths before the one with that index; one entry more than there are instants. */
  readonly deathsBefore: Float64Array;
  /** When the asset of each death was found alive again; NaN: never. */
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
  readonly #assets = new Map<string, number>();
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

  add({ atMs, status, count, asset }: RecordedEvent): void {
    if (this.#length === this.#capacity) this.#grow();
    const index = this.#length++;
    if (index > 0 && atMs < (this.#at[index - 1] ?? 0)) this.#isSorted = false;
    this.#at[index] = atMs;
    this.#count[index] = count;
    this.#kind[index] = status === deadStatus ? deadKind : status === aliveStatus ? aliveKind : otherKind;
    this.#asset[index] = asset === null ? -1 : this.#numberOf(asset);
  }

  /** What was collected; events at one instant keep the order in which they were added. */
  finish(): EventRecord {
    const order = this.#order();
    const seenAtMs = new Float64Array(this.#length);
    const deathAtMs: number[] = [];
    const deathsBefore: number[] = [0];
    const revivedAtMs: number[] = [];
    // Deaths of each asset since it was last found alive, as a chain from the latest one.
    const latestDeath = new Int32Array(this.#assets.size).fill(-1);
    const earlierDeath: number[] = [];
    for (let place = 0; place < this.#length; place++) {
      const index = order?.[place] ?? place;
      const atMs = this.#at[index] ?? 0;
      const count = this.#count[index] ?? 0;
      const asset = this.#asset[index] ?? -1;
      seenAtMs[place] = atMs;
      if (this.#kind[index] === deadKind && count > 0) {
        const death = deathAtMs.length;
        deathAtMs.push(atMs);
        deathsBefore.push((deathsBefore[death] ?? 0) + count);
        revivedAtMs.push(Number.NaN);
        earlierDeath.push(asset < 0 ? -1 : (latestDeath[asset] ?? -1));
        if (asset >= 0) latestDeath[asset] = death;
      } else if (this.#kind[index] === aliveKind && asset >= 0) {
        for (let death = latestDeath[asset] ?? -1; death >= 0; death = earlierDeath[death] ?? -1)
          revivedAtMs[death] = atMs;
        latestDeath[asset] = -1;
      }
    }
    return {
      slug: this.#slug,
      deathAtMs: Float64Array.from(deathAtMs),
      deathsBefore: Float64Array.from(deathsBefore),
      revivedAtMs: Float64Array.from(revivedAtMs),
      seenAtMs,
      assets: this.#assets.size,
    };
  }

  /** null: as they were added. */
  #order(): Uint32Array | null {
    if (this.#isSorted) return null;
    const order = Uint32Array.from({ length: this.#length }, (_, index) => index);
    const at = this.#at;
    return order.sort((left, right) => (at[left] ?? 0) - (at[right] ?? 0) || left - right);
  }

  #numberOf(asset: string): number {
    const known = this.#assets.get(asset);
    if (known !== undefined) return known;
    this.#assets.set(asset, this.#assets.size);
    return this.#assets.size - 1;
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
