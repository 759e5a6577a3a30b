import type { AssetName } from "../../contract/assets.ts";
import type { Interval } from "../../contract/liveness-counts.ts";

/** The latest event of an asset. */
export interface AssetStatus extends AssetName {
  readonly status: string;
  readonly atMs: number;
}

/** Number of stored events of an organization, of any status, with the first and the last instant. */
export interface EventExtent {
  readonly events: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
}

/** Events of any status, as a record of what the liveness checker did: for the checks `sentinel` and `event-flow`. */
export interface LivenessStore {
  /** Returns the instant of the organization's latest event of any status at or before `untilMs`; null without one. */
  lastEventAtMs(slug: string, untilMs: number): Promise<number | null>;
  /**
   * Returns the longest time without an event of any status before an event of the interval, counted from the interval's
   * start at most; 0 if no gap exceeds `unnoticedMs`. The time since the last event is not a gap yet.
   */
  longestGapMs(slug: string, interval: Interval, unnoticedMs: number): Promise<number>;
  /**
   * Returns the number of different assets with an event of any status in the interval; events without an asset are
   * excluded.
   */
  distinctAssets(slug: string, interval: Interval): Promise<number>;
  /** Returns null if no event is stored. Counts in steps of some thousand rows. */
  extent(slug: string): Promise<EventExtent | null>;
  /** Returns the numbers of the types of assets that died within the hours of the interval. */
  deadTypes(slug: string, interval: Interval): Promise<readonly number[]>;
  /** Returns the latest event within the interval of each asset that has one of these contents, of whatever type. */
  lastStatuses(query: {
    readonly slug: string;
    readonly assets: readonly string[];
    readonly interval: Interval;
  }): Promise<readonly AssetStatus[]>;
}
