import type { FlatlineError } from "../base/errors.ts";
import type { CountKind } from "../spike/findings.ts";

/** The instants after `afterMs`, up to and including `untilMs`. */
export interface Interval {
  readonly afterMs: number;
  readonly untilMs: number;
}

/** A query for the deaths of one organization; its intervals may overlap and come in any order. */
export interface DeathsQuery {
  readonly slug: string;
  readonly intervals: readonly Interval[];
  /** [deaths]; `assets` counts each asset once per interval, of stored events only. */
  readonly count?: CountKind;
}

export interface AssetTypeDeaths {
  /** null: events without a type. */
  readonly assetType: string | null;
  readonly deaths: readonly number[];
}

/** The first event of each organization; null: none is left; absent: there never was one. */
export type FirstEvents = ReadonlyMap<string, number | null>;

interface ReadOptions {
  readonly signal?: AbortSignal;
}

/** Counts stored events or rows of a table; one call is for a whole round (CONTRACT 2). */
export interface LivenessCounts {
  /** Returns for each query the asset types with a death in one of its intervals, or its own error. */
  deaths(
    queries: readonly DeathsQuery[],
    options?: ReadOptions,
  ): Promise<readonly (readonly AssetTypeDeaths[] | FlatlineError)[]>;
  /** Reads the times of first events, of any status; null: the source cannot say. */
  firstEvents(slugs: readonly string[], options?: ReadOptions): Promise<FirstEvents | null>;
}
