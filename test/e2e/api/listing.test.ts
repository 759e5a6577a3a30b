import { describe, expect, it } from "vitest";

import { reportRecordsPageSchema } from "../../../src/contract/report-record.ts";
import { importFixtures } from "../../../src/service/fixture/fixture.ts";
import { describedApi } from "../../support/far-side/described-api.ts";
import {
  platformFixture,
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

/** Imports more reports of acme, all created at `platformNowMs`. */
async function addReports({ store }: PlatformServer, ids: readonly number[]): Promise<void> {
  const createdAt = new Date(platformNowMs).toISOString();
  const reports = ids.map((id) => ({ id, organization: "acme", createdAt, proposals: [] }));
  await importFixtures({
    store,
    clock: { nowMs: () => platformNowMs },
    files: [{ name: "more.json", text: JSON.stringify({ reports }) }],
  });
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

  it.each(["assetType=TELEGRAN", "assetType=url", "source=EMAIL", "source=app", "decision=SKIPPED"])(
    "refuse %s with the choices, instead of finding nothing",
    async (query) => {
      const server = await startPlatformServer();

      const { status, json } = await server.call("GET", `/organization/reports?${query}`);
      await server.close();

      const message = expect.stringMatching(new RegExp(`^${query.split("=")[0]}: must be one of `)) as string;
      expect([status, json]).toEqual([400, { message, code: "BAD_REQUEST", issues: [{ message }] }]);
    },
  );
});

describe("the cursor", () => {
  it("with any one character changed is 400, and so is one that is shorter or longer", async () => {
    const server = await startPlatformServer();
    const { cursor = "" } = await pageOf(server, { limit: "2" });
    const altered = Array.from(cursor, (character, index) =>
      ["A", "B", "_", "é"]
        .filter((other) => other !== character)
        .map((other) => cursor.slice(0, index) + other + cursor.slice(index + 1)),
    ).flat();

    const statuses = new Set<number>();
    for (const text of [...altered, cursor.slice(1), cursor.slice(0, -1), `${cursor}A`, `${cursor}=`]) {
      const answer = await server.call("GET", `/organization/reports?cursor=${encodeURIComponent(text)}`);
      statuses.add(answer.status);
    }
    const untouched = await server.call("GET", `/organization/reports?cursor=${cursor}`);
    await server.close();

    expect(altered.length).toBeGreaterThan(100);
    expect([...statuses, untouched.status]).toEqual([400, 200]);
  });

  it("neither repeats nor skips among equal timestamps while reports are added", async () => {
    const server = await startPlatformServer({ seed: (store) => importEqual(store) });
    const before = Array.from({ length: 25 }, (_, index) => 100 + 2 * index);
    await addReports(server, before);

    const seen: number[] = [];
    let cursor: string | undefined;
    let odd = 99;
    do {
      const page = await pageOf(server, { limit: "3", ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.reports.map(({ id }) => id));
      cursor = page.cursor;
      // One between those that were listed and those that are yet to come, at every step.
      await addReports(server, [odd, odd + 50, odd + 300]);
      odd += 4;
    } while (cursor !== undefined);
    await server.close();

    expect(seen.filter((id) => before.includes(id))).toEqual(before.toReversed());
    expect(new Set(seen).size).toBe(seen.length);
  });

  it("of another organization never shows its reports", async () => {
    const server = await startPlatformServer();
    const { cursor = "" } = await pageOf(server, { limit: "2" });

    const others = await Promise.all([
      server.call("GET", `/organization/reports?cursor=${cursor}`, { key: platformKeys.globex }),
      server.call("GET", `/organization/reports?slug=globex&cursor=${cursor}`, { key: platformKeys.both }),
      server.call("GET", `/organization/reports?slug=acme&cursor=${cursor}`, { key: platformKeys.both }),
    ]);
    await server.close();

    expect(others.map(({ status }) => status)).toEqual([400, 400, 200]);
  });
});

/** The organizations and keys of the fixture, without its reports. */
function importEqual(store: PlatformServer["store"]): Promise<unknown> {
  const text = JSON.stringify({ ...platformFixture(), reports: [] });
  return importFixtures({ store, clock: { nowMs: () => platformNowMs }, files: [{ name: "keys.json", text }] });
}
