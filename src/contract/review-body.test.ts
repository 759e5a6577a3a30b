import { describe, expect, it } from "vitest";

import { parseReviewRequest } from "./review-body.ts";

function fieldsOf(proposalId: string, body: unknown): string[] {
  const parsed = parseReviewRequest(proposalId, body);
  return parsed.kind === "issues" ? parsed.issues.map((message) => message.split(":")[0] ?? "") : [];
}

describe("parseReviewRequest", () => {
  it.each<[string, object]>([
    ["an approval with a label", { decision: "APPROVE", label: "General Phishing" }],
    ["an approval of a brand", { decision: "APPROVE", label: "Brand Impersonation", brandId: 7 }],
    ["a rejection", { decision: "REJECT", rejectReason: "decayed" }],
    ["a watchlisting", { decision: "WATCHLIST", watchlistReason: "DEAD" }],
    ["a note of 1000 code points", { decision: "REJECT", rejectReason: "decayed", note: "😀".repeat(1_000) }],
    ["another reason with its note", { decision: "WATCHLIST", watchlistReason: "OTHER", note: " a " }],
  ])("takes %s", (_rule, body) => {
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

  it.each<[string, object, string[]]>([
    ["APPROVE needs a label", { decision: "APPROVE" }, ["label"]],
    ["a label is a known one", { decision: "APPROVE", label: "Rude" }, ["label"]],
    ["Brand Impersonation needs a brand", { decision: "APPROVE", label: "Brand Impersonation" }, ["brandId"]],
    ["Employee Impersonation needs one", { decision: "APPROVE", label: "Employee Impersonation" }, ["brandId"]],
    ["an optional brand is an integer", { decision: "APPROVE", label: "C2 Server", brandId: "7" }, ["brandId"]],
    ["an optional brand is above 0", { decision: "APPROVE", label: "C2 Server", brandId: 0 }, ["brandId"]],
    ["REJECT needs a reason", { decision: "REJECT" }, ["rejectReason"]],
    ["WATCHLIST needs a reason", { decision: "WATCHLIST" }, ["watchlistReason"]],
    ["OTHER needs a note", { decision: "WATCHLIST", watchlistReason: "OTHER" }, ["note"]],
    ["a blank note is none", { decision: "WATCHLIST", watchlistReason: "OTHER", note: " \n" }, ["note"]],
    ["a note is at most 1000", { decision: "REJECT", rejectReason: "decayed", note: "x".repeat(1_001) }, ["note"]],
    ["OTHER is a reason, no decision", { decision: "OTHER" }, ["decision"]],
    ["all problems at once", { assetId: "1", decision: "APPROVE", note: 5 }, ["assetId", "note", "label"]],
  ])("%s", (_rule, body, fields) => {
    expect(fieldsOf("301", { assetId: 501, ...body })).toEqual(fields);
  });

  it.each(["0", "-1", "1.5", "abc", "01", "99999999999999999999", ""])("refuses the path %j", (proposalId) => {
    expect(fieldsOf(proposalId, { assetId: 1, decision: "REJECT" })).toEqual(["proposalId", "rejectReason"]);
  });

  it.each([null, [], "text"])("refuses the body %j with one issue", (body) => {
    expect(fieldsOf("1", body)).toHaveLength(1);
  });
});
