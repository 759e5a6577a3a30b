import { sql } from "kysely";
import type { ReviewStore } from "./reviews.ts";
import type { Db } from "../schema.ts";

/** Creates the review store over the table `reviews`. */
export function createReviewStore(db: Db): ReviewStore {
  return {
    add: async (review) => {
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
    apiReviewsAfter: async (organizationId, afterMs, limit) => {
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
