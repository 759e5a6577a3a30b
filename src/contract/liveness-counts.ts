/** The instants after `afterMs`, up to and including `untilMs`; epoch ms. */
export interface Interval {
  readonly afterMs: number;
  readonly untilMs: number;
}

/** Which deaths of one organization are asked for; intervals may overlap and come in any order. */
export interface DeathsQuery {
  readonly slug: string;
  readonly intervals: readonly Interval[];
}

/** Deaths of one asset type, one number for each interval of the query, in its order. */
export interface AssetTypeDeaths {
  /** null: events without a type. */
  readonly assetType: string | null;
  readonly deaths: readonly number[];
}

/**
 * Where a local evaluation takes its counts from (CONTRACT 2): the stored events, or the user's own table. One call carries
 * all organizations that are due together, so that a source over the network needs one query for them.
 */
export interface LivenessCounts {
  /** For each query, in order, the asset types that have a death in one of its intervals; none for an unknown slug. */
  deaths(
    queries: readonly DeathsQuery[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly (readonly AssetTypeDeaths[])[]>;
  /** Instant of the organization's first event of any status; null without one. */
  firstEventAtMs(slug: string, options?: { readonly signal?: AbortSignal }): Promise<number | null>;
}
