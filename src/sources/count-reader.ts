import { abortError, type FlatlineError } from "../base/errors.ts";

/**
 * A query for the deaths of one organization in each segment between two neighbours of `boundsMs` (exclusive start,
 * inclusive end).
 */
export interface SegmentQuery {
  readonly slug: string;
  /** Ascending, unique, epoch ms; at least two. */
  readonly boundsMs: readonly number[];
}

/** One row as the driver returned it; validated by count-rows.ts. */
export type RawRow = Readonly<Record<string, unknown>>;

/** One database with the user's table; each call sends one query for many organizations. Rejects with an `api_*` code. */
export interface CountReader {
  /**
   * Returns rows with slug, segment (from 1), assetType and deaths, only for segments with a death; a slug occurs in one
   * query only.
   */
  segmentDeaths(queries: readonly SegmentQuery[], signal: AbortSignal): Promise<readonly RawRow[]>;
  /** Returns rows with slug and atMs of the first event of any status; null if an operator's query cannot provide it. */
  readonly firstEvents: ((slugs: readonly string[], signal: AbortSignal) => Promise<readonly RawRow[]>) | null;
  close(): Promise<void>;
}

/** Connections to one database: batches are few and large, and the database has other users. */
export const mostConnections = 4;

/** Creates the error of a call that was aborted. */
export function stopped(signal: AbortSignal): FlatlineError {
  return abortError(signal, "the source did not answer in time", "the query was cancelled by its caller");
}
