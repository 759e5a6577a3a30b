/** The decisions of POST /api/v2/organization/proposals/{proposalId}/review (CONTRACT 9). */
export const reviewDecisions = ["APPROVE", "REJECT", "WATCHLIST"] as const;
export type ReviewDecision = (typeof reviewDecisions)[number];

/** Labels of APPROVE that need a `brandId`. */
export const targetedLabels = ["Brand Impersonation", "Employee Impersonation"] as const;
/** Labels of APPROVE, in the order of the API's description. */
export const approveLabels = [
  ...targetedLabels,
  "Fake Employee",
  "Targeting Org Users",
  "General Phishing",
  "C2 Server",
  "False Positive",
  "Organization Member Impersonation",
  "Targeting Organization",
] as const;
export const rejectReasons = [
  "irrelevant",
  "no_malicious_activity",
  "insufficient_evidence",
  "not_targeting_org",
  "decayed",
] as const;
export const watchlistReasons = ["DEAD", "PARKING", "NOT_ENOUGH_EVIDENCE", "OTHER"] as const;
export const longestNote = 1_000;

/** Path and body of the review. The type does not check conditional fields; `parseReviewRequest` does. */
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

/** The service's answer, passed through. */
export interface ReviewOutcome {
  readonly proposal: unknown;
  readonly review: unknown;
  readonly watchlisted: boolean;
}
