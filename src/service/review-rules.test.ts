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

type Failing = readonly [rule: string, code: string, says: RegExp, make: (from: Case) => Case];

const withFacts =
  (change: Partial<ReviewFacts>) =>
  ({ request, facts }: Case): Case => ({ request, facts: { ...facts, ...change } });

/** The rules in order, with what is answered when one is broken, and what breaks it. */
const rules: readonly Failing[] = [
  ["customer-key", "api_forbidden", /only a customer's key may review/, withFacts({ role: "staff" })],
  ["proposal-exists", "api_not_found", /no proposal 301/, withFacts({ proposal: null })],
  [
    "not-self-reported",
    "api_forbidden",
    /submitted this report itself/,
    (from) => withProposal(from, { isSelfReported: true }),
  ],
  ["open", "api_conflict", /already resolved/, (from) => withProposal(from, { isResolved: true })],
  ["in-queue", "api_forbidden", /not in the customer review queue/, (from) => withProposal(from, { queue: "none" })],
  [
    "asset-confirmed",
    "api_conflict",
    /not about asset 999/,
    ({ request, facts }) => ({ request: { ...request, assetId: 999 }, facts }),
  ],
  ["brand-exists", "api_bad_request", /^brandId: the organization has no brand 7/, withFacts({ isKnownBrand: false })],
  [
    "recheckable",
    "api_bad_request",
    /type ADDRESS can't be checked again/,
    (from) => {
      const { facts } = withProposal(from, { asset: { id: 501, type: "ADDRESS", status: "UNKNOWN" } });
      const { brandId: _brandId, label: _label, ...request } = from.request;
      return { request: { ...request, decision: "WATCHLIST", watchlistReason: "DEAD" }, facts };
    },
  ],
  ["not-legitimate", "api_forbidden", /legitimate by the rule "popular"/, withFacts({ legitimacyRule: "popular" })],
  [
    "within-budget",
    "api_rate_limited",
    /10 reviews by API in the last 24 hours/,
    withFacts({ apiReviewsAtMs: tenReviews }),
  ],
];

// A request has one decision: APPROVE breaks `brand-exists` and `not-legitimate`, WATCHLIST `recheckable`.
const exclusive: ReadonlySet<string> = new Set(["brand-exists recheckable", "recheckable not-legitimate"]);
const pairs = rules.flatMap(([first, , says, breakFirst], index) =>
  rules
    .slice(index + 1)
    .filter(([second]) => !exclusive.has(`${first} ${second}`))
    .map(([second, , , breakSecond]) => ({ first, second, says, broken: breakFirst(breakSecond(fine)) })),
);

describe("judgeReview", () => {
  it("accepts a review that fails no rule", () => {
    expect(judgeReview(fine.request, fine.facts)).toBeNull();
  });

  it.each(rules)("refuses what fails %s", (_rule, code, says, make) => {
    const { request, facts } = make(fine);

    expect(judgeReview(request, facts)).toMatchObject({ code, message: expect.stringMatching(says) });
  });

  it.each(pairs)("of two failing rules $first answers before $second", ({ says, broken: { request, facts } }) => {
    expect(judgeReview(request, facts)?.message).toMatch(says);
  });

  const given = (request: object, facts: Partial<ReviewFacts> = {}, asset: object = {}): Case => {
    const proposal = { ...queued, asset: { ...queued.asset, ...asset } };
    return {
      request: { proposalId: 301, assetId: 501, ...request } as ReviewRequest,
      facts: { ...fine.facts, proposal, ...facts },
    };
  };
  const rejection = { decision: "REJECT", rejectReason: "irrelevant" };
  const watchlisting = { decision: "WATCHLIST", watchlistReason: "DEAD" };

  it.each<[string, Case, object | null]>([
    ["an answered proposal is refused", withProposal(fine, { queue: "answered" }), { message: /has answered it/ }],
    ["APPROVE of an allowed asset is refused", given(approve, {}, { status: "ALLOWED" }), { message: /allowlist/ }],
    ["APPROVE of a blocked asset is accepted", given(approve, {}, { status: "BLOCKED" }), null],
    [
      "APPROVE without a brand asks for none",
      given({ decision: "APPROVE", label: "C2 Server" }, { isKnownBrand: false }),
      null,
    ],
    ["REJECT of what is legitimate is accepted", given(rejection, { legitimacyRule: "popular" }), null],
    ["REJECT of what can't be checked again is accepted", given(rejection, {}, { type: "ADDRESS" }), null],
    [
      "WATCHLIST of what is legitimate and allowed is accepted",
      given(watchlisting, { legitimacyRule: "popular" }, { type: "SIGNAL", status: "ALLOWED" }),
      null,
    ],
    [
      "a type that is no site and no social platform can't be checked again",
      given(watchlisting, {}, { type: "NPM" }),
      { message: /type NPM/ },
    ],
    ["nine reviews are within the budget", given(approve, { apiReviewsAtMs: tenReviews.slice(1) }), null],
    [
      "the wait ends when the oldest of the last ten leaves the window",
      given(approve, { apiReviewsAtMs: tenReviews }),
      { retryAfterMs: 14 * hourMs },
    ],
  ])("%s", (_rule, { request, facts }, verdict) => {
    const refusal = judgeReview(request, facts);

    if (verdict === null) expect(refusal).toBeNull();
    else if ("message" in verdict) expect(refusal?.message).toMatch(verdict.message as RegExp);
    else expect(refusal).toMatchObject(verdict);
  });
});
