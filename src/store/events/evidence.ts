import type { AssetTypeDeaths, DeathsQuery, Interval } from "../../contract/liveness-counts.ts";
import type { CountQuery } from "./events.ts";

/** Deaths with one value of an attribute. */
export interface AttributeValueCounts {
  readonly attribute: string;
  readonly value: string;
  readonly currentCount: number;
  readonly baselineCount: number;
}

/** What the deaths of a window and its baseline say of themselves. */
export interface AttributeCounts {
  readonly currentCount: number;
  readonly baselineCount: number;
  /** Of currentCount, those with any attribute. */
  readonly attributedCount: number;
  readonly assetTypes: readonly {
    readonly assetType: string;
    readonly currentCount: number;
    readonly baselineCount: number;
  }[];
  readonly values: readonly AttributeValueCounts[];
}

/** Place of an event among those of its organization, in the order of time. */
export interface EventPlace {
  readonly atMs: number;
  readonly importId: number;
  readonly ordinal: number;
}

/** A death, or a look that found the asset alive. */
export interface AssetEventRow extends EventPlace {
  readonly asset: string;
  /** See EvidenceStore.names. */
  readonly typeId: number;
  readonly attributeSetId: number | null;
  readonly isDeath: boolean;
  readonly count: number;
}

/** What the numbers of {@link AssetEventRow} stand for; a type that is not there is none. */
export interface EventFacts {
  readonly assetTypes: ReadonlyMap<number, string>;
  readonly attributeSets: ReadonlyMap<number, Readonly<Record<string, string>>>;
}

/** Deaths of which organization, interval and asset types. */
export interface NewestDeathsQuery {
  readonly slug: string;
  readonly interval: Interval;
  /** Empty: of any, also of none. */
  readonly assetTypes: readonly string[];
  /** Different assets. */
  readonly limit: number;
}

export interface EvidenceOptions {
  /** Ends a long read between two statements; it rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

/** What only the single events tell; each statement reads a bounded stretch of them. */
export interface EvidenceStore {
  /** Whether any event ever had attributes: without, nothing is to be read of single events for them. */
  hasAttributes(): Promise<boolean>;
  /** Deaths by asset type and attribute; null when they have more different sets of attributes than can be told apart. */
  attributeCounts(query: CountQuery, options: EvidenceOptions): Promise<AttributeCounts | null>;
  /** Deaths by buckets of so many minutes, in the order of time; those without any are left out. */
  deathBuckets(query: {
    readonly slug: string;
    readonly interval: Interval;
    readonly bucketMinutes: number;
  }): Promise<readonly { readonly atMs: number; readonly deaths: number }[]>;
  /** The next events of known assets in the interval, dead or alive, in the order of time; none: that was all. */
  assetEvents(query: {
    readonly slug: string;
    readonly interval: Interval;
    readonly after: EventPlace | null;
  }): Promise<readonly AssetEventRow[]>;
  /** The names of asset types and the attributes of these rows. */
  factsOf(rows: readonly Pick<AssetEventRow, "typeId" | "attributeSetId">[]): Promise<EventFacts>;
  /**
   * The deaths of the assets that died last, each asset once, newest first. Reads the minutes with deaths alone, the latest
   * 2,000 of them at most, so that an alert does not wait for it.
   */
  newestDeaths(query: NewestDeathsQuery): Promise<readonly AssetEventRow[]>;
  /**
   * Deaths as LivenessCounts answers them, of those events alone that had come in at `knownAtMs`. Events that came in before
   * anybody took note of it count as known; what was deleted since is not known any more.
   */
  deathsKnownAt(queries: readonly DeathsQuery[], knownAtMs: number): Promise<readonly (readonly AssetTypeDeaths[])[]>;
  /** Instant of the organization's first event of any status, of those alone that had come in at `knownAtMs`; null without one. */
  firstEventKnownAt(slug: string, knownAtMs: number): Promise<number | null>;
  /** Changes when events come in, for whoever wants to know whether to look again. */
  eventsVersion(): Promise<string>;
}
