import { describe, expect, it } from "vitest";

import type { ReviewRequest } from "../contract/review.ts";
import { judgeReview, type ReviewFacts } from "./review-rules.ts";

const hourMs = 3_600_000;
const nowMs = Date.UTC(2026, 10, 20, 12);

interface Case {
  readonly request: ReviewRequest;
  readonly facts: ReviewFacts;
}

const approve: ReviewRequest = {
  proposalId: 301,
  assetId: 501,
  decision: "APPROVE",
  label: "Brand Impersonation",
  brandId: 7,
};
const queued = {
  isSelfReported: false,
  isResolved: false,
  queue: "queued",
  asset: { id: 501, type: "URL", status: "UNKNOWN" },
} as const;
const fine: Case = {
  request: approve,
  facts: {
    nowMs,
    role: "customer",
    proposal: queued,
    isKnownBrand: true,
    legitimacyRule: null,
    apiReviewsAtMs: [],
  },
};
const tenReviews = Array.from({ length: 10 }, (_, index) => nowMs - (index + 1) * hourMs);

function withProposal({ request, facts }: Case, change: Partial<NonNullable<ReviewFacts["proposal"]>>): Case {
  return { request, facts: { ...facts, proposal: facts.proposal === null ? null : { ...facts.proposal, ...change } } };
}

interface Failing {
  readonly code: string;
  readonly says: RegExp;
  readonly make: (from: Case) => Case;
}

/** The rules in order: `make` breaks one, `says` is the answer. */
const failing = {
  "customer-key": {
    code: "api_forbidden",
    says: /only a customer's key may review/,
    make: ({ request, facts }) => ({ request, facts: { ...facts, role: "staff" } }),
  },
  "proposal-exists": {
    code: "api_not_found",
    says: /no proposal 301/,
    make: ({ request, facts }) => ({ request, facts: { ...facts, proposal: null } }),
  },
  "not-self-reported": {
    code: "api_forbidden",
    says: /submitted this report itself/,
    make: (from) => withProposal(from, { isSelfReported: true }),
  },
  open: {
    code: "api_conflict",
    says: /already resolved/,
    make: (from) => withProposal(from, { isResolved: true }),
  },
  "in-queue": {
    code: "api_forbidden",
    says: /not in the customer review queue/,
    make: (from) => withProposal(from, { queue: "none" }),
  },
  "asset-confirmed": {
    code: "api_conflict",
    says: /not about asset 999/,
    make: ({ request, facts }) => ({ request: { ...request, assetId: 999 }, facts }),
  },
  "brand-exists": {
    code: "api_bad_request",
    says: /^brandId: the organization has no brand 7/,
    make: ({ request, facts }) => ({ request, facts: { ...facts, isKnownBrand: false } }),
  },
  recheckable: {
    code: "api_bad_request",
    says: /type ADDRESS can't be checked again/,
    make: (from) => {
      const { facts } = withProposal(from, { asset: { id: 501, type: "ADDRESS", status: "UNKNOWN" } });
      const { brandId: _brandId, label: _label, ...request } = from.request;
      return { request: { ...request, decision: "WATCHLIST", watchlistReason: "DEAD" }, facts };
    },
  },
  "not-legitimate": {
    code: "api_forbidden",
    says: /legitimate by the rule "popular"/,
    make: ({ request, facts }) => ({ request, facts: { ...facts, legitimacyRule: "popular" } }),
  },
  "within-budget": {
    code: "api_rate_limited",
    says: /10 reviews by API in the last 24 hours/,
    make: ({ request, facts }) => ({ request, facts: { ...facts, apiReviewsAtMs: tenReviews } }),
  },
} satisfies Record<string, Failing>;

// A request has one decision: APPROVE breaks `brand-exists` and `not-legitimate`, WATCHLIST `recheckable`.
const exclusive: ReadonlySet<string> = new Set(["brand-exists recheckable", "recheckable not-legitimate"]);
const rules = Object.entries<Failing>(failing);
const pairs = rules.flatMap(([first, one], index) =>
  rules
    .slice(index + 1)
    .filter(([second]) => !exclusive.has(`${first} ${second}`))
    .map(([second, other]) => ({ first, second, one, other })),
);

describe("judgeReview", () => {
  it("accepts a review that fails no rule", () => {
    expect(judgeReview(fine.request, fine.facts)).toBeNull();
  });

  it.each(rules)("refuses what fails %s", (_rule, { code, says, make }) => {
    const { request, facts } = make(fine);
    const message = expect.stringMatching(says) as string;

    expect(judgeReview(request, facts)).toMatchObject({ code, message });
  });

  it.each(pairs)("of two failing rules $first answers before $second", ({ one, other }) => {
    const { request, facts } = one.make(other.make(fine));

    expect(judgeReview(request, facts)).toMatchObject({ message: expect.stringMatching(one.says) as string });
  });

  it.each([
    {
      rule: "an answered proposal is not in the queue any more",
      case: withProposal(fine, { queue: "answered" }),
      verdict: { message: expect.stringMatching(/has answered it/) as string },
    },
    {
      rule: "APPROVE of an allowed asset is refused without a rule too",
      case: withProposal(fine, { asset: { id: 501, type: "URL", status: "ALLOWED" } }),
      verdict: { message: expect.stringMatching(/allowlist/) as string },
    },
    {
      rule: "APPROVE of a blocked asset is accepted",
      case: withProposal(fine, { asset: { id: 501, type: "URL", status: "BLOCKED" } }),
      verdict: null,
    },
    {
      rule: "APPROVE without a brand asks for none",
      case: {
        request: { proposalId: 301, assetId: 501, decision: "APPROVE", label: "C2 Server" } as const,
        facts: { ...fine.facts, isKnownBrand: false },
      },
      verdict: null,
    },
    {
      rule: "APPROVE as a false positive is like any other APPROVE",
      case: {
        ...fine,
        request: { proposalId: 301, assetId: 501, decision: "APPROVE", label: "False Positive" } as const,
      },
      verdict: null,
    },
    {
      rule: "REJECT of what is legitimate is accepted",
      case: {
        request: { proposalId: 301, assetId: 501, decision: "REJECT", rejectReason: "irrelevant" } as const,
        facts: { ...fine.facts, legitimacyRule: "popular" },
      },
      verdict: null,
    },
    {
      rule: "REJECT of what can't be checked again is accepted",
      case: {
        request: { proposalId: 301, assetId: 501, decision: "REJECT", rejectReason: "decayed" } as const,
        facts: {
          ...fine.facts,
          proposal: { ...queued, asset: { id: 501, type: "ADDRESS", status: "UNKNOWN" } as const },
        },
      },
      verdict: null,
    },
    {
      rule: "WATCHLIST of what is legitimate and allowed is accepted",
      case: {
        request: { proposalId: 301, assetId: 501, decision: "WATCHLIST", watchlistReason: "DEAD" } as const,
        facts: {
          ...fine.facts,
          legitimacyRule: "popular",
          proposal: { ...queued, asset: { id: 501, type: "SIGNAL", status: "ALLOWED" } as const },
        },
      },
      verdict: null,
    },
    {
      rule: "a type that is no site and no social platform can't be checked again",
      case: {
        request: { proposalId: 301, assetId: 501, decision: "WATCHLIST", watchlistReason: "DEAD" } as const,
        facts: {
          ...fine.facts,
          proposal: { ...queued, asset: { id: 501, type: "NPM", status: "UNKNOWN" } as const },
        },
      },
      verdict: { message: expect.stringMatching(/type NPM/) as string },
    },
    {
      rule: "nine reviews are within the budget",
      case: { request: approve, facts: { ...fine.facts, apiReviewsAtMs: tenReviews.slice(1) } },
      verdict: null,
    },
    {
      rule: "the wait ends when the oldest of the last ten leaves the window",
      case: { request: approve, facts: { ...fine.facts, apiReviewsAtMs: tenReviews } },
      verdict: { retryAfterMs: 14 * hourMs },
    },
  ])("$rule", ({ case: { request, facts }, verdict }) => {
    const refusal = judgeReview(request, facts);

    if (verdict === null) expect(refusal).toBeNull();
    else expect(refusal).toMatchObject(verdict);
  });
});
