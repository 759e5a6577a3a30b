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

  it.each<[string, object, string[]]>([
    ["a limit is at least 1", { limit: "0" }, ["limit"]],
    ["a limit is at most 100", { limit: "101" }, ["limit"]],
    ["a limit is decimal", { limit: "1e1" }, ["limit"]],
    ["a limit is not empty", { limit: "" }, ["limit"]],
    ["a date has milliseconds", { startDate: "2024-01-01T00:00:00Z" }, ["startDate"]],
    ["a date exists", { endDate: "2023-02-29T00:00:00.000Z" }, ["endDate"]],
    ["midnight is not hour 24", { endDate: "2023-02-27T24:00:00.000Z" }, ["endDate"]],
    ["a flag is true or false", { onlyRejected: "1" }, ["onlyRejected"]],
    ["a parameter comes once", { slug: ["a", "b"] }, ["slug"]],
    ["an unknown parameter is refused", { colour: "red", page: "2" }, ["colour", "page"]],
    ["a country has two letters", { country: "USA" }, ["country"]],
    ["an asset type is one of the API's", { assetType: "PIGEON_POST" }, ["assetType"]],
    ["an asset type is in upper case", { assetType: "url" }, ["assetType"]],
    ["a source is one of the API's", { source: "EMAIL" }, ["source"]],
    ["an actor is human or automation", { reportedBy: "x", reviewedBy: "y" }, ["reportedBy", "reviewedBy"]],
    [
      "a start is not after the end",
      { startDate: "2024-01-02T00:00:00.000Z", endDate: "2024-01-01T23:59:59.999Z" },
      ["startDate"],
    ],
  ])("%s", (_rule, raw, fields) => {
    const parsed = parseReportsQuery(raw);

    const issues = parsed.kind === "issues" ? parsed.issues : [];
    expect(issues.map((message) => message.split(":")[0])).toEqual(fields);
  });
});
