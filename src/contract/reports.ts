import type { Actor } from "./report-values.ts";

/** Query of GET /api/v2/organization/reports; names marked (ours) are not the API's (CONTRACT 9). */
export interface ReportsQuery {
  readonly slug?: string;
  readonly cursor?: string;
  /** Reports on a page, 1–100. */
  readonly limit?: number;
  /** Inclusive, `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  readonly startDate?: string;
  /** Inclusive, `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  readonly endDate?: string;
  readonly onlyRejected?: boolean;
  readonly needsCustomerReview?: boolean;
  /** (ours) */
  readonly status?: string;
  /** (ours) */
  readonly decision?: string;
  /** (ours) */
  readonly assetType?: string;
  /** (ours) */
  readonly source?: string;
  /** (ours) */
  readonly reportedBy?: Actor;
  /** (ours) */
  readonly reviewedBy?: Actor;
  /** (ours) two letters */
  readonly country?: string;
}

/** The filters with names of ours: a service that is not flatline's may ignore them (CONTRACT 9, the client). */
export const ownFilterNames = [
  "status",
  "decision",
  "assetType",
  "source",
  "reportedBy",
  "reviewedBy",
  "country",
] as const;
export type OwnFilterName = (typeof ownFilterNames)[number];

/** How many reports a page of ours has when nobody asks (CONTRACT 9). */
export const defaultPageSize = 20;

/** A report, as far as the client requires something of it: the rest is optional and passed through (CONTRACT 9). */
export interface Report {
  readonly proposals?: readonly ReportedProposal[] | undefined;
  readonly [field: string]: unknown;
}

/** A proposal of a report, with what a review echoes. */
export interface ReportedProposal {
  readonly id: number;
  readonly asset: { readonly id: number; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

export interface ReportsPage {
  readonly reports: readonly Report[];
  /** Present only when more exist. */
  readonly cursor?: string;
}
