import { describe, expect, it } from "vitest";

import { parseReviewRequest } from "./review-body.ts";

function fieldsOf(proposalId: string, body: unknown): string[] {
  const parsed = parseReviewRequest(proposalId, body);
  return parsed.kind === "issues" ? parsed.issues.map((message) => message.split(":")[0] ?? "") : [];
}

describe("parseReviewRequest", () => {
  it.each([
    { rule: "an approval with a label", body: { decision: "APPROVE", label: "General Phishing" } },
    { rule: "an approval of a brand", body: { decision: "APPROVE", label: "Brand Impersonation", brandId: 7 } },
    { rule: "a rejection", body: { decision: "REJECT", rejectReason: "decayed" } },
    { rule: "a watchlisting", body: { decision: "WATCHLIST", watchlistReason: "DEAD" } },
    {
      rule: "a note of 1000 code points",
      body: { decision: "REJECT", rejectReason: "decayed", note: "😀".repeat(1_000) },
    },
    { rule: "another reason with its note", body: { decision: "WATCHLIST", watchlistReason: "OTHER", note: " a " } },
  ])("takes $rule", ({ body }) => {
    expect(parseReviewRequest("301", { assetId: 501, ...body })).toEqual({
      kind: "request",
      request: { proposalId: 301, assetId: 501, ...body },
    });
  });

  it("leaves out fields of other decisions, even invalid ones", () => {
    const body = {
      assetId: 1,
      decision: "REJECT",
      rejectReason: "decayed",
      label: 5,
      brandId: "x",
      watchlistReason: [],
    };

    expect(parseReviewRequest("1", body)).toEqual({
      kind: "request",
      request: { proposalId: 1, assetId: 1, decision: "REJECT", rejectReason: "decayed" },
    });
  });

  it.each([
    { rule: "APPROVE needs a label", body: { decision: "APPROVE" }, fields: ["label"] },
    { rule: "a label is a known one", body: { decision: "APPROVE", label: "Rude" }, fields: ["label"] },
    {
      rule: "Brand Impersonation needs a brand",
      body: { decision: "APPROVE", label: "Brand Impersonation" },
      fields: ["brandId"],
    },
    {
      rule: "Employee Impersonation needs one",
      body: { decision: "APPROVE", label: "Employee Impersonation" },
      fields: ["brandId"],
    },
    {
      rule: "an optional brand is an integer",
      body: { decision: "APPROVE", label: "C2 Server", brandId: "7" },
      fields: ["brandId"],
    },
    {
      rule: "an optional brand is above 0",
      body: { decision: "APPROVE", label: "C2 Server", brandId: 0 },
      fields: ["brandId"],
    },
    { rule: "REJECT needs a reason", body: { decision: "REJECT" }, fields: ["rejectReason"] },
    { rule: "WATCHLIST needs a reason", body: { decision: "WATCHLIST" }, fields: ["watchlistReason"] },
    { rule: "OTHER needs a note", body: { decision: "WATCHLIST", watchlistReason: "OTHER" }, fields: ["note"] },
    {
      rule: "a blank note is none",
      body: { decision: "WATCHLIST", watchlistReason: "OTHER", note: " \n" },
      fields: ["note"],
    },
    {
      rule: "a note is at most 1000",
      body: { decision: "REJECT", rejectReason: "decayed", note: "x".repeat(1_001) },
      fields: ["note"],
    },
    { rule: "OTHER is a reason, no decision", body: { decision: "OTHER" }, fields: ["decision"] },
    {
      rule: "all problems at once",
      body: { assetId: "1", decision: "APPROVE", note: 5 },
      fields: ["assetId", "note", "label"],
    },
  ])("$rule", ({ body, fields }) => {
    expect(fieldsOf("301", { assetId: 501, ...body })).toEqual(fields);
  });

  it.each(["0", "-1", "1.5", "abc", "01", "99999999999999999999", ""])("refuses the path %j", (proposalId) => {
    expect(fieldsOf(proposalId, { assetId: 1, decision: "REJECT" })).toEqual(["proposalId", "rejectReason"]);
  });

  it.each([null, [], "text"])("refuses the body %j with one issue", (body) => {
    expect(fieldsOf("1", body)).toHaveLength(1);
  });
});
