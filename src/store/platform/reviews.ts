import { sql } from "kysely";

import type { Db } from "../schema.ts";

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

/** Creates the review store over the table `reviews`. */
export function createReviewStore(db: Db) {
  return {
    /** Stores a review and returns its id. */
    add: async (review: NewReview): Promise<number> => {
      const { review_id } = await db
        .insertInto("reviews")
        .values({
          proposal_id: review.proposalId,
          organization_id: review.organizationId,
          origin: review.origin,
          key_id: review.keyId,
          decision: review.decision,
          label: review.label,
          brand_id: review.brandId,
          comment: review.comment,
          is_watchlisted: review.isWatchlisted ? 1 : 0,
          created_at_ms: review.createdAtMs,
        })
        .returning("review_id")
        .executeTakeFirstOrThrow();
      return review_id;
    },
    /** Returns the creation times of the organization's reviews by API after `afterMs`, newest first, at most `limit`. */
    apiReviewsAfter: async (organizationId: number, afterMs: number, limit: number): Promise<readonly number[]> => {
      const rows = await db
        .selectFrom("reviews")
        .select("created_at_ms")
        .where("organization_id", "=", organizationId)
        // Literal text of the partial index; a parameter would not match it.
        .where(sql<boolean>`origin = 'api'`)
        .where("created_at_ms", ">", afterMs)
        .orderBy("created_at_ms", "desc")
        .limit(limit)
        .execute();
      return rows.map((row) => row.created_at_ms);
    },
  };
}
