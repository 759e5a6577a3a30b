import type { Actor } from "../../contract/actor.ts";
import type { LookAnswer } from "../../contract/second-opinion.ts";
import type { AlertCost } from "../../store/alerts/alerts.ts";
import type { EventPlace } from "../../store/events/asset-events.ts";

/** An asset of an organization that died in an alert, by its last death there. */
export interface ListedAsset {
  readonly slug: string;
  readonly asset: string;
  /** null: its event named none. */
  readonly assetType: string | null;
  readonly deadAtMs: number;
  readonly attributes: Readonly<Record<string, string>>;
  /** When it was first found alive after that; null: not yet. */
  readonly revivedAtMs: number | null;
  /** What the verifier said of it, in the list of an incident; null: nothing. */
  readonly answer: LookAnswer | null;
}

export interface AssetFilter {
  /** Without those that were found alive since. */
  readonly stillDead?: boolean;
  readonly assetType?: string;
}

/** What a whole list was asked for with: `toRestore`, of an incident, for the audit. */
export type WholeListFilter = AssetFilter & { readonly toRestore?: boolean };

/** Where the next page begins; deaths after `toMs` are not of this listing. */
export interface AssetCursor {
  readonly toMs: number;
  /** The rank of the last one; what comes first in the list has the smallest. */
  readonly rank: number;
  readonly after: EventPlace;
}

export interface AssetPage {
  /** The deaths are those of (fromMs, toMs]. */
  readonly fromMs: number;
  readonly toMs: number;
  /** All deaths, and how many different assets of them are known; whatever the filters are. */
  readonly count: number;
  readonly knownCount: number;
  /** How many of these showed life to the verifier, and how many events found alive since. */
  readonly seenAliveCount: number;
  readonly revivedCount: number;
  /** Newest first; of an incident first what answered, then what was found alive since, then the rest. */
  readonly assets: readonly ListedAsset[];
  /** null: that was all. */
  readonly next: AssetCursor | null;
}

/** The assets that died in one alert, or in some of an incident. */
export interface DeadAssets {
  /** @throws FlatlineError too_large, unavailable (not in time) */
  page(query: AssetFilter & { readonly limit: number; readonly cursor?: AssetCursor }): Promise<AssetPage>;
  /** All of them, with the names of their attributes; an act of `author`. @throws as page */
  all(
    filter: WholeListFilter,
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
  of(alertId: string): Promise<DeadAssets | null>;
  /** Those that died in these alerts of an incident, from the onset of each on; null: the events are not ours. */
  ofIncident(
    incident: { readonly number: number; readonly id: string },
    alertIds: readonly string[],
  ): Promise<DeadAssets | null>;
}
