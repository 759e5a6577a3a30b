/** The decisions of POST /api/v2/organization/proposals/{proposalId}/review (CONTRACT 9). */
export const reviewDecisions = ["APPROVE", "REJECT", "WATCHLIST", "OTHER"] as const;
export type ReviewDecision = (typeof reviewDecisions)[number];

/** Path and body of the review together. Conditional fields are checked by the review rules, not by the type. */
export interface ReviewRequest {
  readonly proposalId: number;
  readonly slug?: string;
  readonly assetId: number;
  readonly decision: ReviewDecision;
  readonly label?: string;
  readonly brandId?: number;
  readonly rejectReason?: string;
  readonly watchlistReason?: string;
  readonly note?: string;
}

/** What the service answers, passed through as it is. */
export interface ReviewOutcome {
  readonly proposal: unknown;
  readonly review: unknown;
  readonly watchlisted: boolean;
}
