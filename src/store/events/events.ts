import type { LivenessCounts } from "../../contract/liveness-counts.ts";
import type { EventSums } from "./sums/event-sums.ts";
import type { Pruned } from "../prune-limits.ts";

/** One stored liveness event (CONTRACT 10). */
export interface LivenessEvent {
  readonly atMs: number;
  readonly slug: string;
  readonly assetType: string | null;
  readonly asset: string | null;
  /** Any name; only DETECTED_AS_DEAD counts as a death. */
  readonly status: string;
  readonly id: string | null;
  /** Number of events, for data that is already aggregated; 0: an empty bucket. */
  readonly count: number;
  /** Lower-case names with texts; absent: none. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/** One stored event of a replay. */
export interface HistoryEvent {
  readonly atMs: number;
  /** DETECTED_AS_DEAD is a death, DETECTED_AS_ALIVE undoes those of its asset, any other only shows that the asset was looked at. */
  readonly status: string;
  readonly count: number;
  /** Number of the asset's type, or of none; the same for each event of a type. */
  readonly typeId: number;
  readonly asset: string | null;
}

export interface IngestOutcome {
  readonly received: number;
  readonly stored: number;
  readonly duplicates: number;
}

export interface EventStore extends LivenessCounts {
  /** Running sums of the deaths in memory; null if the database answers everything. */
  readonly sums: Pick<EventSums, "loaded" | "size" | "follow" | "holds"> | null;
  /**
   * Returns the instant of the first stored event of each of these organizations; null where `eventRetention` has deleted
   * all of them since. An organization of which no event was ever stored is absent.
   */
  firstEvents(slugs: readonly string[]): Promise<ReadonlyMap<string, number | null>>;
  /**
   * Returns all events of an organization, oldest first, in pages of some thousand; simultaneous ones in the order of
   * arrival.
   */
  history(slug: string): AsyncIterable<readonly HistoryEvent[]>;
  /** Returns the slugs that have events. */
  slugs(): Promise<readonly string[]>;
  isEmpty(): Promise<boolean>;
  /**
   * Stores a few events (at most some thousand; for more see src/store/events/ingest.ts) with their rollups in the
   * surrounding transaction, idempotent by (slug, id). `receivedAtMs` is their arrival; without it they count as known from
   * the start.
   */
  add(events: readonly LivenessEvent[], receivedAtMs?: number): Promise<IngestOutcome>;
  /** Deletes events and rollups at or before `beforeMs`, at most `maxRows` at a time. */
  prune(limits: { beforeMs: number; maxRows: number }): Promise<Pruned>;
  /** Deletes an organization's events and rollups, at most `maxRows` of each table at a time; answers the deleted events. */
  forget(slug: string, maxRows: number): Promise<{ readonly removed: number; readonly hasMore: boolean }>;
}
