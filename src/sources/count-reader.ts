/** Deaths of one organization are asked for between each two neighbours of `boundsMs`: after the one, up to the other. */
export interface SegmentQuery {
  readonly slug: string;
  /** Ascending, each once, epoch ms; at least two. */
  readonly boundsMs: readonly number[];
}

/** One row of an answer, as the driver gave it; count-rows.ts checks it. */
export type RawRow = Readonly<Record<string, unknown>>;

/** One database with the user's table: asks one query for many organizations. Rejects with an `api_*` code. */
export interface CountReader {
  /** Rows with slug, segment (from 1), assetType and deaths, for segments with a death only; each slug is asked for once. */
  segmentDeaths(queries: readonly SegmentQuery[], signal: AbortSignal): Promise<readonly RawRow[]>;
  /** Rows with slug and atMs of the first event of any status; null where a query of the operator's own tells nothing of it. */
  readonly firstEvents: ((slugs: readonly string[], signal: AbortSignal) => Promise<readonly RawRow[]>) | null;
  close(): Promise<void>;
}

/** Connections at once to one database: batches are few and large, and it is somebody else's. */
export const mostConnections = 4;
