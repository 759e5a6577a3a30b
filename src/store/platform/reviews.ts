import { sql } from "kysely";

import type { Db, RowId } from "../tables.ts";

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

export interface ReviewTables {
  readonly reviews: Omit<NewReview, "isWatchlisted"> & { readonly reviewId: RowId; readonly isWatchlisted: number };
}

/** Creates the review store over the table `reviews`. */
export function createReviewStore(db: Db) {
  return {
    /** Stores a review and returns its id. */
    add: async (review: NewReview): Promise<number> => {
      const { reviewId } = await db
        .insertInto("reviews")
        .values({ ...review, isWatchlisted: review.isWatchlisted ? 1 : 0 })
        .returning("reviewId")
        .executeTakeFirstOrThrow();
      return reviewId;
    },
    /** Returns the creation times of the organization's reviews by API after `afterMs`, newest first, at most `limit`. */
    apiReviewsAfter: async (organizationId: number, afterMs: number, limit: number): Promise<readonly number[]> => {
      const rows = await db
        .selectFrom("reviews")
        .select("createdAtMs")
        .where("organizationId", "=", organizationId)
        // Literal text of the partial index; a parameter would not match it.
        .where(sql<boolean>`origin = 'api'`)
        .where("createdAtMs", ">", afterMs)
        .orderBy("createdAtMs", "desc")
        .limit(limit)
        .execute();
      return rows.map((row) => row.createdAtMs);
    },
  };
}
