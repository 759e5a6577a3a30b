import type { SpikeThresholds } from "../spike/thresholds.ts";
import type { HealthcheckResult } from "./healthcheck.ts";
import type { ReportsPage, ReportsQuery } from "./reports.ts";
import type { ReviewOutcome, ReviewRequest } from "./review.ts";

/** The body of POST /api/v2/healthchecks/assets/dead-asset-spike, all thresholds given. */
export interface SpikeRequest extends SpikeThresholds {
  readonly slug: string;
}

export interface CallOptions {
  /** Ends the call early; the promise then rejects with `api_timeout` (or `api_network` when the caller stopped). */
  readonly signal?: AbortSignal;
}

/**
 * The one port: API v2's three operations (CONTRACT 9), over the wire (client/) or over the store (service/), always as
 * the holder of one key. Rejects with a FlatlineError whose code begins with `api_`, or with a code of the store's.
 */
export interface PlatformApi {
  deadAssetSpike(request: SpikeRequest, options?: CallOptions): Promise<HealthcheckResult>;
  /** One page. contract/report-pages.ts walks them all. */
  listReports(query: ReportsQuery, options?: CallOptions): Promise<ReportsPage>;
  /** Irreversible. Never retried; `api_outcome_unknown` when the answer was lost. */
  reviewProposal(request: ReviewRequest, options?: CallOptions): Promise<ReviewOutcome>;
}

/** Keys are usually bound to one organization: which PlatformApi speaks for which slug. */
export interface PlatformSource {
  forOrganization(slug: string): PlatformApi;
  /** Ends the pause that a Retry-After asked for with the key of this organization; absent where nothing is ever paused. */
  readonly endPause?: (slug: string) => void;
}
