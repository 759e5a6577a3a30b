import { FlatlineError } from "../base/errors.ts";
import { actor } from "../contract/actor.ts";
import type { Clock } from "../base/time.ts";
import type { ReviewOutcome, ReviewRequest } from "../contract/review.ts";
import type { Asset, ProposalContext } from "../store/platform/reports.ts";
import type { StoreParts } from "../store/store-parts.ts";
import type { Store } from "../store/store.ts";
import { parentDomains, ruledHost } from "./legitimate-host.ts";
import { resolveOrganization, type OrganizationAccessOptions } from "./organization-access.ts";
import { judgeReview, reviewBudget, type ReviewFacts } from "./review-rules.ts";

export interface LocalReviewOptions extends OrganizationAccessOptions {
  readonly store: Store;
  readonly clock: Pick<Clock, "nowMs">;
}

/**
 * Reviews a proposal in one write transaction: only one of several concurrent reviews of a proposal succeeds, and the
 * budget is exact (CONTRACT 9). Rejects with `api_*` codes.
 */
export async function reviewLocally(request: ReviewRequest, options: LocalReviewOptions): Promise<ReviewOutcome> {
  const slug = await resolveOrganization(request.slug, "api_forbidden", options);
  return options.store.transaction(async (parts) => {
    // Reviews are in the order of their times, because the time is read within the transaction.
    const nowMs = options.clock.nowMs();
    const { facts, subject } = await gatherFacts(request, slug, nowMs, options, parts);
    const refusal = judgeReview(request, facts);
    if (refusal !== null) throw refusal;
    if (subject === null) throw new FlatlineError("internal", "a review without a proposal was accepted");
    const { keyId, author = actor("flatline", "cli") } = options.identity;
    const recorded = await recordReview(parts, request, subject, { keyId, nowMs });
    const act = { action: "review", slug, subject: String(request.proposalId) } as const;
    const { decision } = request;
    await parts.audit.append({ atMs: nowMs, actor: author, ...act, detail: { decision, assetId: subject.asset.id } });
    return recorded;
  });
}

interface ReviewSubject {
  readonly proposal: ProposalContext;
  readonly asset: Asset;
}

async function gatherFacts(
  request: ReviewRequest,
  slug: string,
  nowMs: number,
  { identity }: LocalReviewOptions,
  { platform }: StoreParts,
): Promise<{ readonly facts: ReviewFacts; readonly subject: ReviewSubject | null }> {
  const organizationId = await platform.organizations.idOf(slug);
  const found = await platform.reports.proposal(request.proposalId);
  const proposal = found !== null && found.organizationId === organizationId ? found : null;
  const asset = proposal === null ? null : await platform.assets.byId(proposal.assetId);
  if (organizationId === null || proposal === null || asset === null) {
    const nothing = { proposal: null, isKnownBrand: false, legitimacyRule: null, apiReviewsAtMs: [] };
    return { facts: { nowMs, role: identity.role, ...nothing }, subject: null };
  }
  const host = ruledHost(asset);
  const { reviews, windowMs } = reviewBudget;
  const facts: ReviewFacts = {
    nowMs,
    role: identity.role,
    proposal: { ...proposal, asset },
    isKnownBrand:
      request.brandId !== undefined && (await platform.organizations.hasBrand(organizationId, request.brandId)),
    legitimacyRule: host === null ? null : await platform.legitimacy.ruleFor(host, parentDomains(host)),
    apiReviewsAtMs: await platform.reviews.apiReviewsAfter(organizationId, nowMs - windowMs, reviews),
  };
  return { facts, subject: { proposal, asset } };
}

/**
 * Stores a review and its effects: the proposal is decided, resolved and out of the queue; an approved asset is blocked
 * for every organization; a watchlisted asset keeps its status.
 */
async function recordReview(
  { platform }: StoreParts,
  request: ReviewRequest,
  { proposal, asset }: ReviewSubject,
  { keyId, nowMs }: { readonly keyId: string | null; readonly nowMs: number },
): Promise<ReviewOutcome> {
  const isApproved = request.decision === "APPROVE";
  const watchlisted = request.decision === "WATCHLIST";
  const stored = {
    decision: isApproved ? ("APPROVE" as const) : ("REJECT" as const),
    label: isApproved ? (request.label ?? "") : "",
    brandId: isApproved ? (request.brandId ?? null) : null,
    comment: commentOf(request),
  };
  const { id: proposalId, organizationId } = proposal;
  const id = await platform.reviews.add({
    ...stored,
    proposalId,
    organizationId,
    origin: "api",
    keyId,
    isWatchlisted: Number(watchlisted),
    createdAtMs: nowMs,
  });
  const decided = { decision: stored.decision, decidedBy: "human", queue: "answered" } as const;
  await platform.reports.updateProposal(proposalId, { ...decided, isResolved: 1 }, nowMs);
  if (isApproved) await platform.assets.block(asset.id);
  if (watchlisted) await platform.assets.watchlist(asset.id);
  const status = isApproved ? "BLOCKED" : asset.status;
  return {
    proposal: {
      id: proposalId,
      decision: decided.decision,
      decidedBy: decided.decidedBy,
      needsCustomerReview: false,
      asset: { id: asset.id, type: asset.type, content: asset.content, status },
    },
    review: { id, ...stored, createdAt: new Date(nowMs).toISOString() },
    watchlisted,
  };
}

/** Joins reason and note, as the API returns them. */
function commentOf(request: Pick<ReviewRequest, "decision" | "rejectReason" | "watchlistReason" | "note">): string {
  const reasons = { APPROVE: undefined, REJECT: request.rejectReason, WATCHLIST: request.watchlistReason };
  const note = request.note?.trim() ?? "";
  return [reasons[request.decision] ?? "", note].filter((part) => part !== "").join(": ");
}
