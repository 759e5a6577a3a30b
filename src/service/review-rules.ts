import { FlatlineError, type ErrorCode } from "../base/errors.ts";
import { dayMs } from "../base/time.ts";
import { isRecheckable } from "../contract/asset-types.ts";
import type { ReviewRequest } from "../contract/review.ts";
import type { Asset } from "../store/platform/reports.ts";
import type { KeyRole, QueueState } from "../store/platform/tables.ts";

/** Reviews by API per organization in any 24 hours, over all its keys (CONTRACT 9, check 13). */
export const reviewBudget = { reviews: 10, windowMs: dayMs } as const;

export interface ReviewFacts {
  readonly nowMs: number;
  readonly role: KeyRole;
  /** null: the organization has no proposal with this id. */
  readonly proposal: {
    readonly isSelfReported: boolean;
    readonly isResolved: boolean;
    readonly queue: QueueState;
    readonly asset: Pick<Asset, "id" | "type" | "status">;
  } | null;
  /** The request's `brandId` is a brand of the organization; ignored without one. */
  readonly isKnownBrand: boolean;
  /** The name of the enabled legitimacy rule that matches the asset. */
  readonly legitimacyRule: string | null;
  /** The organization's reviews by API in the last 24 hours, newest first; the first ten are enough. */
  readonly apiReviewsAtMs: readonly number[];
}

/**
 * Returns the first rule that a well-formed review breaks, in the contract's order (CONTRACT 9, checks 4 to 13); null:
 * it may be made.
 */
export function judgeReview(request: ReviewRequest, facts: ReviewFacts): FlatlineError | null {
  const { proposal, nowMs } = facts;
  if (facts.role !== "customer")
    return refuse("api_forbidden", "only a customer's key may review; this one is a staff key");
  if (proposal === null)
    return refuse(
      "api_not_found",
      `the organization has no proposal ${request.proposalId}; see the listing of its reports`,
    );
  if (proposal.isSelfReported)
    return refuse(
      "api_forbidden",
      "the organization submitted this report itself: its proposals are not the organization's to review",
    );
  if (proposal.isResolved)
    return refuse("api_conflict", "the proposal is already resolved; a review can't be changed or repeated");
  if (proposal.queue !== "queued") return refuse("api_forbidden", notInQueue[proposal.queue]);
  if (proposal.asset.id !== request.assetId)
    return refuse(
      "api_conflict",
      `the proposal is not about asset ${request.assetId}; read it again and decide on its current asset`,
    );
  if (request.decision === "APPROVE" && request.brandId !== undefined && !facts.isKnownBrand)
    return refuse("api_bad_request", `brandId: the organization has no brand ${request.brandId}`);
  if (request.decision === "WATCHLIST" && !isRecheckable(proposal.asset.type))
    return refuse(
      "api_bad_request",
      `decision: an asset of type ${proposal.asset.type} can't be checked again, ` +
        "so it can't be watchlisted; APPROVE or REJECT it",
    );
  const legitimacy = request.decision === "APPROVE" ? whyLegitimate(proposal.asset, facts.legitimacyRule) : null;
  if (legitimacy !== null) return refuse("api_forbidden", legitimacy);
  const oldestAtMs = facts.apiReviewsAtMs[reviewBudget.reviews - 1];
  if (oldestAtMs !== undefined) {
    const message =
      `the organization has made ${reviewBudget.reviews} reviews by API in the last 24 hours; ` +
      "more may be made in the application";
    const retryAfterMs = Math.max(1, oldestAtMs + reviewBudget.windowMs - nowMs);
    return new FlatlineError("api_rate_limited", message, { retryAfterMs });
  }
  return null;
}

const notInQueue = {
  none: "the proposal is not in the customer review queue: it was never escalated to the organization",
  answered: "the proposal is not in the customer review queue any more: the organization has answered it",
} as const satisfies Record<Exclude<QueueState, "queued">, string>;

function whyLegitimate(asset: Pick<Asset, "status">, rule: string | null): string | null {
  if (rule !== null)
    return `the asset is legitimate by the rule "${rule}": it can't be approved for blocking; REJECT the proposal`;
  if (asset.status === "ALLOWED")
    return "the asset is on the allowlist: it can't be approved for blocking; REJECT the proposal";
  return null;
}

function refuse(code: ErrorCode, message: string): FlatlineError {
  return new FlatlineError(code, message, code === "api_bad_request" ? { issues: [message] } : {});
}
