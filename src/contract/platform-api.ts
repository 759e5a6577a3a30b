import type { SpikeThresholds } from "../spike/thresholds.ts";
import type { HealthcheckResult } from "./healthcheck.ts";
import type { ReportsPage, ReportsQuery } from "./reports.ts";
import type { ReviewOutcome, ReviewRequest } from "./review.ts";

/** The body of POST /api/v2/healthchecks/assets/dead-asset-spike, with all thresholds. */
export interface SpikeRequest extends SpikeThresholds {
  readonly slug: string;
}

export type HealthcheckParameters = Readonly<Record<string, number | string | boolean>>;

export interface HealthcheckRequest {
  readonly path: string;
  readonly slug: string;
  readonly parameters: HealthcheckParameters;
}

export interface CallOptions {
  /** Aborts the call, which then rejects with `api_timeout`, or `api_network` if the caller stopped. */
  readonly signal?: AbortSignal;
}

/**
 * The operations of API v2 (CONTRACT 9 and 17) with one API key, over HTTP (client/) or over the store (service/).
 * Rejects with a FlatlineError whose code begins with `api_`, or with a code of the store.
 */
export interface PlatformApi {
  deadAssetSpike(request: SpikeRequest, options?: CallOptions): Promise<HealthcheckResult>;
  /** Absent: flatline evaluates by itself, and knows no other healthcheck. */
  healthcheck?(request: HealthcheckRequest, options?: CallOptions): Promise<HealthcheckResult>;
  /** Returns one page; contract/report-pages.ts follows the cursors. */
  listReports(query: ReportsQuery, options?: CallOptions): Promise<ReportsPage>;
  /** Irreversible and never retried; `api_outcome_unknown` if the answer was lost. */
  reviewProposal(request: ReviewRequest, options?: CallOptions): Promise<ReviewOutcome>;
}

/** Gives each organization its PlatformApi: API keys are usually bound to one. */
export interface PlatformSource {
  forOrganization(slug: string): PlatformApi;
  /** Ends the Retry-After pause of this organization's key; absent: the source is never paused. */
  readonly endPause?: (slug: string) => void;
}
