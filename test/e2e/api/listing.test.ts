import { describe, expect, it } from "vitest";

import { reportRecordsPageSchema } from "../../../src/contract/report-record.ts";
import { importFixtures } from "../../../src/service/fixture/fixture.ts";
import { describedApi } from "../../support/far-side/described-api.ts";
import {
  platformKeys,
  platformNowMs,
  startPlatformServer,
  type PlatformServer,
} from "../../support/far-side/platform-server.ts";

interface Page {
  readonly reports: readonly { readonly id: number }[];
  readonly cursor?: string;
}

async function pageOf(server: PlatformServer, query: Record<string, string>): Promise<Page> {
  const answer = await server.call("GET", `/organization/reports?${new URLSearchParams(query).toString()}`);
  expect(answer.status).toBe(200);
  return answer.json as Page;
}

describe("the filters", () => {
  /** One report for each value: the first is about the first asset type, and so on. */
  function fixtureOf(types: readonly string[], sources: readonly string[], decisions: readonly string[]): object {
    return {
      organizations: [{ slug: "acme" }],
      keys: [{ key: platformKeys.acme, role: "customer", organizations: ["acme"] }],
      assets: types.map((type, index) => ({ id: index + 1, type, content: `content ${index + 1}` })),
      reports: types.map((_type, index) => ({
        id: index + 1,
        organization: "acme",
        createdAt: new Date(platformNowMs - index).toISOString(),
        source: sources[index % sources.length],
        proposals: [{ id: index + 1, assetId: index + 1, decision: decisions[index % decisions.length] }],
      })),
    };
  }

  it("take each asset type, source and decision of the API, and find its reports", async () => {
    const { assetTypes, sources, proposalDecisions } = describedApi.lists;
    const text = JSON.stringify(fixtureOf(assetTypes, sources, proposalDecisions));
    const server = await startPlatformServer({
      seed: (store) =>
        importFixtures({ store, clock: { nowMs: () => platformNowMs }, files: [{ name: "all.json", text }] }),
    });
    const everyNth = (count: number, from: number): number[] =>
      assetTypes.flatMap((_type, index) => (index % count === from ? [index + 1] : []));

    for (const [index, assetType] of assetTypes.entries())
      expect((await pageOf(server, { assetType })).reports).toMatchObject([
        { id: index + 1, assets: [{ type: assetType }] },
      ]);
    for (const [name, values] of [
      ["source", sources],
      ["decision", proposalDecisions],
    ] as const)
      for (const [index, value] of values.entries()) {
        const { reports } = await pageOf(server, { [name]: value, limit: "100" });
        expect(reports.map(({ id }) => id)).toEqual(everyNth(values.length, index));
      }
    const whole = await server.call("GET", "/organization/reports?limit=100");
    await server.close();

    expect(reportRecordsPageSchema.strict().parse(whole.json).reports).toHaveLength(assetTypes.length);
  });
});
