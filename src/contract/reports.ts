export const reportStatuses = ["TODO", "IN_PROGRESS", "CLOSED"] as const;
export type ReportStatus = (typeof reportStatuses)[number];

export const reportSources = ["APP", "API", "CANARY_TOKEN", "AUTO_DETECTION", "ASSET_MANAGEMENT"] as const;
export type ReportSource = (typeof reportSources)[number];

export const proposalDecisions = ["APPROVE", "REJECT", "SKIP", "ESCALATE"] as const;
export type ProposalDecision = (typeof proposalDecisions)[number];

export const actors = ["human", "automation"] as const;
export type Actor = (typeof actors)[number];

/** Filters that are extensions of flatline: another service may ignore them (CONTRACT 9, the client). */
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

/** Query of GET /api/v2/organization/reports (CONTRACT 9). */
export interface ReportsQuery extends Readonly<Partial<Record<OwnFilterName, string>>> {
  readonly slug?: string;
  readonly cursor?: string;
  /** Reports per page, 1–100. */
  readonly limit?: number;
  /** Both dates are inclusive, `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  readonly startDate?: string;
  readonly endDate?: string;
  readonly onlyRejected?: boolean;
  readonly needsCustomerReview?: boolean;
}

export const defaultPageSize = 20;

/** The fields that the client requires; others are passed through (CONTRACT 9). */
export interface Report {
  readonly proposals?: readonly ReportedProposal[] | undefined;
  readonly [field: string]: unknown;
}

export interface ReportedProposal {
  readonly id: number;
  readonly asset: { readonly id: number; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

export interface ReportsPage {
  readonly reports: readonly Report[];
  readonly cursor?: string;
}
