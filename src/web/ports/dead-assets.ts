import type { Actor } from "../../contract/actor.ts";
import type { AlertCost } from "../../store/alerts/alerts.ts";
import type { EventPlace } from "../../store/events/asset-events.ts";

/** An asset that died in an alert, by its last death there. */
export interface ListedAsset {
  readonly asset: string;
  /** null: its event named none. */
  readonly assetType: string | null;
  readonly deadAtMs: number;
  readonly attributes: Readonly<Record<string, string>>;
  /** When it was first found alive after that; null: not yet. */
  readonly revivedAtMs: number | null;
}

export interface AssetFilter {
  /** Without those that were found alive since. */
  readonly stillDead?: boolean;
  /** Only those that were found alive since. */
  readonly aliveAgain?: boolean;
  readonly assetType?: string;
}

/** Where the next page begins; deaths after `toMs` are not of this listing. */
export interface AssetCursor {
  readonly toMs: number;
  readonly after: EventPlace;
}

export interface AssetPage {
  readonly alertId: string;
  /** The deaths are those of (fromMs, toMs]. */
  readonly fromMs: number;
  readonly toMs: number;
  /** All deaths, and how many different assets of them are known; whatever the filters are. */
  readonly count: number;
  readonly knownCount: number;
  /** Newest first. */
  readonly assets: readonly ListedAsset[];
  /** null: that was all. */
  readonly next: AssetCursor | null;
}

/** The assets of one alert. */
export interface AlertAssets {
  readonly slug: string;
  /** @throws FlatlineError too_large, unavailable (not in time) */
  page(query: AssetFilter & { readonly limit: number; readonly cursor?: AssetCursor }): Promise<AssetPage>;
  /** All of them, with the names of their attributes; an act of `author`. @throws as page */
  all(
    filter: AssetFilter,
    author: Actor,
  ): Promise<{
    readonly attributes: readonly string[];
    readonly pieces: AsyncIterable<readonly ListedAsset[]>;
  }>;
}

export interface AlertAssetsPort {
  /** null: as in `of`. @throws as page */
  costOf(alertId: string): Promise<AlertCost | null>;
  /** Those that died in the alert, from its onset on where one is known; null: as in `of`. @throws as page */
  diedIn(
    alertId: string,
  ): Promise<
    readonly { readonly asset: string; readonly assetType: string | null; readonly isUndone: boolean }[] | null
  >;
  /** null: no such alert, or one that has no assets. */
  of(alertId: string): Promise<AlertAssets | null>;
}
