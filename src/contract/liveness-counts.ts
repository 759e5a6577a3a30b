import type { CountKind } from "../spike/findings.ts";

/** The instants after `afterMs`, up to and including `untilMs`; epoch ms. */
export interface Interval {
  readonly afterMs: number;
  readonly untilMs: number;
}

/** A query for the deaths of one organization; its intervals may overlap and come in any order. */
export interface DeathsQuery {
  readonly slug: string;
  readonly intervals: readonly Interval[];
  /** The counted things [deaths]; `assets`, each once in an interval, is for stored events only. */
  readonly count?: CountKind;
}

/** Deaths of one asset type, one number per interval of the query, in the same order. */
export interface AssetTypeDeaths {
  /** null: events without a type. */
  readonly assetType: string | null;
  readonly deaths: readonly number[];
}

/**
 * The counts of a local evaluation (CONTRACT 2), from stored events or from the user's own table. One call covers all
 * organizations that are due together, so that a source over the network needs one query.
 */
export interface LivenessCounts {
  /** Returns for each query, in order, the asset types with a death in one of its intervals; none for an unknown slug. */
  deaths(
    queries: readonly DeathsQuery[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly (readonly AssetTypeDeaths[])[]>;
  /** Returns the instant of the organization's first event of any status; null without one. */
  firstEventAtMs(slug: string, options?: { readonly signal?: AbortSignal }): Promise<number | null>;
}
