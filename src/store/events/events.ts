import type { LivenessCounts } from "../../contract/liveness-counts.ts";
import type { EventSums } from "./sums/event-sums.ts";

/** One liveness event as it is stored (CONTRACT 10). */
export interface LivenessEvent {
  readonly atMs: number;
  readonly slug: string;
  readonly assetType: string | null;
  readonly asset: string | null;
  /** Any name; DETECTED_AS_DEAD is the one that counts as a death. */
  readonly status: string;
  readonly id: string | null;
  /** For data that is already counted; 0: a bucket in which nothing happened. */
  readonly count: number;
  /** Lower-case names with texts; absent is none. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/** Deaths of one asset type in the window and in the baseline. */
export interface AssetTypeCounts {
  /** null: events without a type. */
  readonly assetType: string | null;
  readonly currentCount: number;
  readonly baselineCount: number;
}

/** Instants of a window and its baseline: (baselineStart, windowStart] and (windowStart, end]. */
export interface CountQuery {
  readonly slug: string;
  readonly baselineStartMs: number;
  readonly windowStartMs: number;
  readonly endMs: number;
}

/** One stored event, as a replay reads it. */
export interface HistoryEvent {
  readonly atMs: number;
  readonly status: string;
  readonly count: number;
  readonly asset: string | null;
}

export interface IngestOutcome {
  readonly received: number;
  readonly stored: number;
  readonly duplicates: number;
}

export interface EventStore extends LivenessCounts {
  /** Running sums of the deaths in memory; null where the database answers everything. */
  readonly sums: Pick<EventSums, "loaded" | "size"> | null;
  /** Exact deaths per asset type, from rollups for whole minutes and hours and raw rows at the edges. Types without any are left out. */
  counts(query: CountQuery): Promise<readonly AssetTypeCounts[]>;
  /**
   * The instant of the first stored event of each of these organizations; null where `eventRetention` has deleted all of them
   * since. An organization of which no event was ever stored is absent.
   */
  firstEvents(slugs: readonly string[]): Promise<ReadonlyMap<string, number | null>>;
  /** All events of an organization, oldest first, in pages of some thousand; those at one instant as they came. */
  history(slug: string): AsyncIterable<readonly HistoryEvent[]>;
  /** Slugs that have events. */
  slugs(): Promise<readonly string[]>;
  isEmpty(): Promise<boolean>;
  /**
   * Stores few events (at most some thousand: the caller slices or stages more, see src/store/events/ingest.ts) in the surrounding
   * transaction, idempotent by (slug, id), with their rollups. `receivedAtMs` is when they came in; without it they count as
   * known since ever.
   */
  add(events: readonly LivenessEvent[], receivedAtMs?: number): Promise<IngestOutcome>;
  /** Deletes events and rollups at or before `beforeMs`, at most `maxRows` at a time. */
  prune(limits: { beforeMs: number; maxRows: number }): Promise<{ readonly hasMore: boolean }>;
}
