import { AssetBook, type AssetLook } from "../contract/assets.ts";

/** Deaths of known assets, and those of them whose asset was found alive later: false deaths. */
export interface Regret {
  readonly judgedCount: number;
  readonly revivedCount: number;
}

interface Pending {
  /** Time of the latest death. */
  atMs: number;
  /** Deaths at that instant: an asset alive at the same instant does not undo them. */
  atOnce: number;
  before: number;
}

/**
 * Counts false deaths over events in the order of time. It keeps an entry for each asset that died and was not found
 * alive since, and gives up when there are more than `mostAssets`: a part of the count would be wrong.
 */
export class RegretCounter {
  readonly #mostAssets: number;
  readonly #pending = new AssetBook<Pending>();
  #judgedCount = 0;
  #revivedCount = 0;

  constructor(mostAssets: number) {
    this.#mostAssets = mostAssets;
  }

  /** Takes the next event in the order of time; returns false when there are too many assets. */
  add(look: AssetLook): boolean {
    const { atMs, isDeath, count } = look;
    if (isDeath) {
      const known = this.#pending.get(look);
      this.#judgedCount += count;
      if (known === undefined) this.#pending.set(look, { atMs, atOnce: count, before: 0 });
      else if (known.atMs === atMs) known.atOnce += count;
      else {
        known.before += known.atOnce;
        known.atOnce = count;
        known.atMs = atMs;
      }
      return this.#pending.size <= this.#mostAssets;
    }
    for (const [name, known] of this.#pending.meant(look)) {
      this.#revivedCount += known.before;
      known.before = 0;
      if (atMs <= known.atMs) continue;
      this.#revivedCount += known.atOnce;
      this.#pending.delete(name);
    }
    return true;
  }

  get regret(): Regret {
    return { judgedCount: this.#judgedCount, revivedCount: this.#revivedCount };
  }
}
