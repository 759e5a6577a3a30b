import type { AssetLook } from "../../contract/assets.ts";
import type { AssetTypeDeaths, DeathsQuery, Interval } from "../../contract/liveness-counts.ts";

/** Deaths with one value of an attribute. */
export interface AttributeValueCounts {
  readonly attribute: string;
  readonly value: string;
  readonly currentCount: number;
  readonly baselineCount: number;
}

/** Deaths of a window, and of what it is compared with; the intervals do not overlap. */
export interface AttributeQuery {
  readonly slug: string;
  readonly window: Interval;
  readonly baseline: readonly Interval[];
}

/** Attributes of the deaths in a window and its baseline. */
export interface AttributeCounts {
  readonly currentCount: number;
  readonly baselineCount: number;
  /** Deaths of currentCount with any attribute. */
  readonly attributedCount: number;
  readonly assetTypes: readonly {
    readonly assetType: string;
    readonly currentCount: number;
    readonly baselineCount: number;
  }[];
  readonly values: readonly AttributeValueCounts[];
}

/** Position of an event among those of its organization, by time. */
export interface EventPlace {
  readonly atMs: number;
  readonly importId: number;
  readonly ordinal: number;
}

/** A death, or an event that found the asset alive. */
export interface AssetEventRow extends EventPlace, AssetLook {
  readonly attributeSetId: number | null;
}

/** What the numbers of {@link AssetEventRow} stand for; a type that is not there is none. */
export interface EventFacts {
  readonly assetTypes: ReadonlyMap<number, string>;
  readonly attributeSets: ReadonlyMap<number, Readonly<Record<string, string>>>;
}

/** A page of the events of an organization's assets. */
export interface AssetEventsQuery {
  readonly slug: string;
  readonly interval: Interval;
  readonly after: EventPlace | null;
  /** Only of events that had arrived by then [all]. */
  readonly knownAtMs?: number;
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

/** Some thousand rows, which take a few milliseconds. */
export const assetEventsAPage = 4_096;

export interface EvidenceOptions {
  /** Aborts a long read between two statements; it rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

/** Evidence from single events; each statement reads a bounded number of them. */
export interface EvidenceStore {
  /** Returns whether any event has attributes; without them the evidence needs no single events. */
  hasAttributes(): Promise<boolean>;
  /** Returns deaths by asset type and attribute; null if they have too many distinct sets of attributes. */
  attributeCounts(query: AttributeQuery, options: EvidenceOptions): Promise<AttributeCounts | null>;
  /** Returns deaths in buckets of `minutes`, in the order of time; empty buckets are omitted. */
  deathBuckets(query: {
    readonly slug: string;
    readonly interval: Interval;
    readonly bucketMinutes: number;
  }): Promise<readonly { readonly atMs: number; readonly deaths: number }[]>;
  /**
   * Returns the next events of known assets in the interval, dead or alive, in the order of time; fewer than
   * `assetEventsAPage` at the end.
   */
  assetEvents(query: AssetEventsQuery): Promise<readonly AssetEventRow[]>;
  /** The names of asset types and the attributes of these rows. */
  factsOf(rows: readonly Pick<AssetEventRow, "typeId" | "attributeSetId">[]): Promise<EventFacts>;
  /**
   * The deaths of the assets that died last, each asset once, newest first. Reads the minutes with deaths alone, the latest
   * 2,000 of them at most, so that an alert does not wait for it.
   */
  newestDeaths(query: NewestDeathsQuery): Promise<readonly AssetEventRow[]>;
  /**
   * Returns deaths like LivenessCounts, of events that had arrived by `knownAtMs`. Events without a recorded arrival count
   * as known; deleted ones are missing.
   */
  deathsKnownAt(queries: readonly DeathsQuery[], knownAtMs: number): Promise<readonly (readonly AssetTypeDeaths[])[]>;
  /**
   * Returns the instant of the organization's first event of any status that had arrived by `knownAtMs`; null without one.
   */
  firstEventKnownAt(slug: string, knownAtMs: number): Promise<number | null>;
  /** Returns a value that changes when events arrive. */
  eventsVersion(): Promise<string>;
}
