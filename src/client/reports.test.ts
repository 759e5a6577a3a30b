import { describe, expect, it } from "vitest";

import { errorOf, clientBench } from "../../test/support/client-bench.ts";
import type { ScriptedStep } from "../../test/support/far-side/scripted-upstream.ts";
import type { Report, ReportsQuery } from "../contract/reports.ts";

const bench = clientBench();

function page(body: unknown): ScriptedStep {
  return { kind: "answer", body };
}

async function collect(reports: AsyncIterable<Report>): Promise<Report[]> {
  const all: Report[] = [];
  for await (const report of reports) all.push(report);
  return all;
}

describe("the query", () => {
  it.each([
    { rule: "nothing asked, nothing sent", query: {}, path: "" },
    { rule: "a limit only when asked for", query: { limit: 100 }, path: "?limit=100" },
    {
      rule: "a flag that is false is left out",
      query: { onlyRejected: false, needsCustomerReview: true },
      path: "?needsCustomerReview=true",
    },
    { rule: "values are encoded", query: { slug: "a&b", cursor: "x=/+" }, path: "?slug=a%26b&cursor=x%3D%2F%2B" },
    { rule: "filters of ours are sent", query: { assetType: "URL", country: "US" }, path: "?assetType=URL&country=US" },
  ])("$rule", async ({ query, path }) => {
    bench.upstream.script(page({ reports: [] }));

    await bench.client.listReports(query);

    expect(bench.upstream.requests[0]).toMatchObject({
      method: "GET",
      path: `/api/v2/organization/reports${path}`,
      body: "",
    });
    expect(bench.events).toEqual([{ operation: "list_reports", code: "200" }]);
  });
});

describe("a page", () => {
  const report = { id: "rpt_1", proposals: [{ id: 4321, decision: null, asset: { id: 987 } }], else: [null] };

  it.each([
    ["has its reports under `reports`", { reports: [report], extra: [1] }, { reports: [report] }],
    ["or under its only array", { items: [report], total: 1 }, { reports: [report] }],
    ["may be empty", { reports: [] }, { reports: [] }],
    ["has a cursor when more exist", { reports: [], cursor: "c" }, { reports: [], cursor: "c" }],
    ["has no more with a cursor of null", { reports: [], cursor: null }, { reports: [] }],
    ["may have reports of any other shape", { reports: [{}] }, { reports: [{}] }],
  ])("%s", async (_rule, body, expected) => {
    bench.upstream.script(page(body));

    expect(await bench.client.listReports({})).toEqual(expected);
  });

  it.each([
    { rule: "no array at all", body: { total: 0 } },
    { rule: "two arrays, none of them `reports`", body: { a: [], b: [] } },
    { rule: "reports that are no objects", body: { reports: ["rpt_1"] } },
    { rule: "a cursor that is no string", body: { reports: [], cursor: 5 } },
    { rule: "a proposal without id", body: { reports: [{ proposals: [{ asset: { id: 1 } }] }] } },
    {
      rule: "a proposal whose asset has no id above 0",
      body: { reports: [{ proposals: [{ id: 1, asset: { id: 0 } }] }] },
    },
  ])("is refused: $rule", async ({ body }) => {
    bench.upstream.script(page(body));

    const error = await errorOf(bench.client.listReports({}));

    expect(error.code).toBe("api_invalid_response");
  });
});

describe("a listing", () => {
  it("follows cursors, also over an empty page, with the same query", async () => {
    bench.upstream.script(
      page({ reports: [{ id: 3 }], cursor: "a" }),
      page({ reports: [], cursor: "b" }),
      page({ reports: [{ id: 2 }, { id: 1 }] }),
    );

    const all = await collect(bench.client.allReports({ slug: "acme", limit: 2 }));

    expect(all.map((report) => report["id"])).toEqual([3, 2, 1]);
    expect(bench.upstream.requests.map((request) => request.path.split("?")[1])).toEqual([
      "slug=acme&limit=2",
      "slug=acme&limit=2&cursor=a",
      "slug=acme&limit=2&cursor=b",
    ]);
  });

  it.each([
    { rule: "the one it was asked with", query: { cursor: "a" }, cursors: ["a"] },
    { rule: "the one before", query: {}, cursors: ["a", "a"] },
    { rule: "one of long ago", query: {}, cursors: ["a", "b", "c", "a"] },
  ])("ends as invalid_response at a cursor seen before: $rule", async ({ query, cursors }) => {
    bench.upstream.script(...cursors.map((cursor) => page({ reports: [{}], cursor })));

    const error = await errorOf(collect(bench.client.allReports(query)));

    expect(error.code).toBe("api_invalid_response");
  });
});

describe("filters with names of ours", () => {
  const asset = { id: 1, type: "URL" };
  const full = {
    status: "TODO",
    source: "API",
    country: "us",
    reporter: { kind: "human" },
    proposals: [
      { id: 1, decision: "REJECT", decidedBy: "automation", asset },
      { id: 2, decision: null, decidedBy: null, asset },
    ],
    assets: [{ id: 2, type: "EMAIL" }],
  };

  it.each<[string, ReportsQuery, ReportsQuery]>([
    ["status", { status: "TODO" }, { status: "CLOSED" }],
    ["source", { source: "API" }, { source: "APP" }],
    ["country", { country: "US" }, { country: "DE" }],
    ["reporter", { reportedBy: "human" }, { reportedBy: "automation" }],
    ["decision", { decision: "REJECT" }, { decision: "APPROVE" }],
    ["reviewer", { reviewedBy: "automation" }, { reviewedBy: "human" }],
    ["a proposal's asset type", { assetType: "URL" }, { assetType: "PAGE" }],
    ["a scanned asset type, or two filters", { assetType: "EMAIL" }, { status: "TODO", source: "APP" }],
  ])("keep what matches, by %s", async (_name, matching, other) => {
    bench.upstream.script(page({ reports: [full] }), page({ reports: [full] }));

    expect((await bench.client.listReports(matching)).reports).toHaveLength(1);
    expect((await bench.client.listReports(other)).reports).toHaveLength(0);
  });

  it("tell once which one the service seems to ignore", async () => {
    const ignored: string[] = [];
    const client = bench.create({ onIgnoredFilter: (name) => ignored.push(name) });
    bench.upstream.script(page({ reports: [full, full], cursor: "a" }), page({ reports: [full] }));

    await collect(client.allReports({ status: "TODO", source: "APP" }));

    expect(ignored).toEqual(["source"]);
  });
});
