/** Status of a report. */
export const reportStatuses = ["TODO", "IN_PROGRESS", "CLOSED"] as const;
export type ReportStatus = (typeof reportStatuses)[number];

/** Source of a report. */
export const reportSources = ["APP", "API", "CANARY_TOKEN", "AUTO_DETECTION", "ASSET_MANAGEMENT"] as const;
export type ReportSource = (typeof reportSources)[number];

/** Decision about a proposal. */
export const proposalDecisions = ["APPROVE", "REJECT", "SKIP", "ESCALATE"] as const;
export type ProposalDecision = (typeof proposalDecisions)[number];

/** The actors who report or decide. */
export const actors = ["human", "automation"] as const;
export type Actor = (typeof actors)[number];

/** Query of GET /api/v2/organization/reports; fields marked (ours) are extensions of flatline (CONTRACT 9). */
export interface ReportsQuery {
  readonly slug?: string;
  readonly cursor?: string;
  /** Reports per page, 1–100. */
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

/** The filters that are extensions of flatline: another service may ignore them (CONTRACT 9, the client). */
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

/** Default page size of flatline's service (CONTRACT 9). */
export const defaultPageSize = 20;

/** A report with the fields that the client requires; others are optional and passed through (CONTRACT 9). */
export interface Report {
  readonly proposals?: readonly ReportedProposal[] | undefined;
  readonly [field: string]: unknown;
}

/** A proposal of a report, with the fields that a review returns. */
export interface ReportedProposal {
  readonly id: number;
  readonly asset: { readonly id: number; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

export interface ReportsPage {
  readonly reports: readonly Report[];
  /** Present only if more reports exist. */
  readonly cursor?: string;
}
