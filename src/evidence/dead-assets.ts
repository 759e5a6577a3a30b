import { AssetBook, type AssetLook } from "../contract/assets.ts";

/** An asset that died, by its last death in the interval. */
export interface DeadAsset<Death extends AssetLook> {
  readonly death: Death;
  /** Instant at which it was first found alive after that death; null: not yet. */
  readonly revivedAtMs: number | null;
}

interface Entry<Death> {
  death: Death;
  revivedAtMs: number | null;
}

export interface DeadAssetLedgerOptions {
  /** Deaths of (afterMs, untilMs] are listed. */
  readonly deaths: { readonly afterMs: number; readonly untilMs: number };
  /** The ledger gives up when there are more assets. */
  readonly mostAssets: number;
}

/**
 * Lists the assets that died in an interval, each once with its last death, from events in the order of time. Alive at the very
 * instant of a death undoes nothing.
 */
export class DeadAssetLedger<Death extends AssetLook> {
  readonly #options: DeadAssetLedgerOptions;
  readonly #entries = new AssetBook<Entry<Death>>();

  constructor(options: DeadAssetLedgerOptions) {
    this.#options = options;
  }

  /** Returns false when there are too many assets. */
  add(look: Death): boolean {
    const { deaths, mostAssets } = this.#options;
    if (!look.isDeath) {
      for (const [, entry] of this.#entries.meant(look))
        if (entry.revivedAtMs === null && look.atMs > entry.death.atMs) entry.revivedAtMs = look.atMs;
      return true;
    }
    if (look.count === 0 || look.atMs <= deaths.afterMs || look.atMs > deaths.untilMs) return true;
    this.#entries.set(look, { death: look, revivedAtMs: null });
    return this.#entries.size <= mostAssets;
  }

  /** Returns the listed assets, in no order. */
  assets(): DeadAsset<Death>[] {
    return this.#entries.values();
  }
}
