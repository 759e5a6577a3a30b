/** Origin of a review: only those by API count in the budget (CONTRACT 9, check 13). */
export type ReviewOrigin = "api" | "application";

export interface NewReview {
  readonly proposalId: number;
  readonly organizationId: number;
  readonly origin: ReviewOrigin;
  /** Key of the review; null in the application, and in process. */
  readonly keyId: string | null;
  /** WATCHLIST is stored as REJECT. */
  readonly decision: "APPROVE" | "REJECT";
  /** "" without one. */
  readonly label: string;
  readonly brandId: number | null;
  readonly comment: string;
  readonly isWatchlisted: boolean;
  readonly createdAtMs: number;
}

export interface ReviewStore {
  /** Stores a review and returns its id. */
  add(review: NewReview): Promise<number>;
  /** Returns the creation times of the organization's reviews by API after `afterMs`, newest first, at most `limit`. */
  apiReviewsAfter(organizationId: number, afterMs: number, limit: number): Promise<readonly number[]>;
}
