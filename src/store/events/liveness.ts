import type { Interval } from "../../contract/liveness-counts.ts";

/** What the latest event of an asset says. */
export interface AssetStatus {
  readonly asset: string;
  readonly status: string;
  readonly atMs: number;
}

/** How many events of an organization are stored, of any status, and from when to when. */
export interface EventExtent {
  readonly events: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
}

/** What the liveness checker looked at and when, whatever it found: for the checks `sentinel` and `event-flow`. */
export interface LivenessStore {
  /** Instant of the organization's latest event of any status at or before `untilMs`; null without one. */
  lastEventAtMs(slug: string, untilMs: number): Promise<number | null>;
  /**
   * The longest time without an event of any status before one of the interval, counted from the interval's start at most;
   * 0 when none is longer than `unnoticedMs`. What passed since the last event is no gap yet.
   */
  longestGapMs(slug: string, interval: Interval, unnoticedMs: number): Promise<number>;
  /** How many different assets had an event of any status in the interval; events without an asset are left out. */
  distinctAssets(slug: string, interval: Interval): Promise<number>;
  /** null: none is stored. Counts in steps of some thousand rows. */
  extent(slug: string): Promise<EventExtent | null>;
  /** The latest event of each of these assets within the interval; those without one are left out. */
  lastStatuses(query: {
    readonly slug: string;
    readonly assets: readonly string[];
    readonly interval: Interval;
  }): Promise<readonly AssetStatus[]>;
}
