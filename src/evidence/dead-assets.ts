/** One event of an asset: a death, or a look that found it alive. */
export interface AssetLook {
  readonly asset: string;
  readonly atMs: number;
  readonly isDeath: boolean;
  /** How many deaths it stands for; 0: none. */
  readonly count: number;
}

/** An asset that died, by its last death in the interval. */
export interface DeadAsset<Death extends AssetLook> {
  readonly death: Death;
  /** When it was first found alive after that death; null: not yet. */
  readonly revivedAtMs: number | null;
}

interface Entry<Death> {
  death: Death;
  revivedAtMs: number | null;
}

export interface DeadAssetLedgerOptions<Death> {
  /** Deaths of (afterMs, untilMs] are listed. */
  readonly deaths: { readonly afterMs: number; readonly untilMs: number };
  /** What distinguishes two assets of one name: the type. */
  readonly kindOf: (death: Death) => string | number;
  /** When there are more assets, it gives up. */
  readonly mostAssets: number;
}

/**
 * Lists the assets that died in an interval, each once with its last death, from events in the order of time. An asset is
 * found alive by its name, whatever type the look names, as in regret; alive at the very instant of a death undoes nothing.
 */
export class DeadAssetLedger<Death extends AssetLook> {
  readonly #options: DeadAssetLedgerOptions<Death>;
  readonly #entries = new Map<string, Map<string | number, Entry<Death>>>();
  #size = 0;

  constructor(options: DeadAssetLedgerOptions<Death>) {
    this.#options = options;
  }

  /** Returns false when there are too many assets. */
  add(look: Death): boolean {
    const { deaths, kindOf, mostAssets } = this.#options;
    const known = this.#entries.get(look.asset);
    if (!look.isDeath) {
      for (const entry of known?.values() ?? [])
        if (entry.revivedAtMs === null && look.atMs > entry.death.atMs) entry.revivedAtMs = look.atMs;
      return true;
    }
    if (look.count === 0 || look.atMs <= deaths.afterMs || look.atMs > deaths.untilMs) return true;
    const entry = { death: look, revivedAtMs: null };
    const kind = kindOf(look);
    if (known?.has(kind) !== true) this.#size++;
    if (known === undefined) this.#entries.set(look.asset, new Map([[kind, entry]]));
    else known.set(kind, entry);
    return this.#size <= mostAssets;
  }

  /** Returns the listed assets, in no order. */
  assets(): DeadAsset<Death>[] {
    const assets: DeadAsset<Death>[] = [];
    for (const byKind of this.#entries.values()) assets.push(...byKind.values());
    return assets;
  }
}
