import { describe, expect, it } from "vitest";

import { parseReportsQuery } from "./report-schemas.ts";

describe("parseReportsQuery", () => {
  it("reads every parameter", () => {
    const parsed = parseReportsQuery({
      slug: "acme",
      limit: "100",
      startDate: "2024-02-29T00:00:00.000Z",
      endDate: "2024-02-29T00:00:00.000Z",
      onlyRejected: "true",
      needsCustomerReview: "false",
      country: "us",
    });

    expect(parsed).toEqual({
      kind: "query",
      query: {
        slug: "acme",
        limit: 100,
        startDate: "2024-02-29T00:00:00.000Z",
        endDate: "2024-02-29T00:00:00.000Z",
        onlyRejected: true,
        needsCustomerReview: false,
        country: "US",
      },
    });
  });

  it.each([
    { rule: "a limit is at least 1", raw: { limit: "0" }, fields: ["limit"] },
    { rule: "a limit is at most 100", raw: { limit: "101" }, fields: ["limit"] },
    { rule: "a limit is decimal", raw: { limit: "1e1" }, fields: ["limit"] },
    { rule: "a limit is not empty", raw: { limit: "" }, fields: ["limit"] },
    { rule: "a date has milliseconds", raw: { startDate: "2024-01-01T00:00:00Z" }, fields: ["startDate"] },
    { rule: "a date exists", raw: { endDate: "2023-02-29T00:00:00.000Z" }, fields: ["endDate"] },
    { rule: "midnight is not hour 24", raw: { endDate: "2023-02-27T24:00:00.000Z" }, fields: ["endDate"] },
    { rule: "a flag is true or false", raw: { onlyRejected: "1" }, fields: ["onlyRejected"] },
    { rule: "a parameter comes once", raw: { slug: ["a", "b"] }, fields: ["slug"] },
    { rule: "an unknown parameter is refused", raw: { colour: "red", page: "2" }, fields: ["colour", "page"] },
    { rule: "a country has two letters", raw: { country: "USA" }, fields: ["country"] },
    { rule: "an asset type is one of the API's", raw: { assetType: "PIGEON_POST" }, fields: ["assetType"] },
    { rule: "an asset type is in upper case", raw: { assetType: "url" }, fields: ["assetType"] },
    { rule: "a source is one of the API's", raw: { source: "EMAIL" }, fields: ["source"] },
    {
      rule: "an actor is human or automation",
      raw: { reportedBy: "x", reviewedBy: "y" },
      fields: ["reportedBy", "reviewedBy"],
    },
    {
      rule: "a start is not after the end",
      raw: { startDate: "2024-01-02T00:00:00.000Z", endDate: "2024-01-01T23:59:59.999Z" },
      fields: ["startDate"],
    },
  ])("$rule", ({ raw, fields }) => {
    const parsed = parseReportsQuery(raw);

    const issues = parsed.kind === "issues" ? parsed.issues : [];
    expect(issues.map((message) => message.split(":")[0])).toEqual(fields);
  });
});
