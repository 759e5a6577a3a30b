import { describe, expect, it } from "vitest";

import { customerApi, importFixture } from "../../test/support/far-side/platform-fixture.ts";
import { storeEngines } from "../../test/support/store/engines.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { walkReports } from "../contract/report-pages.ts";
import type { ReportsQuery } from "../contract/reports.ts";

const startMs = Date.UTC(2026, 10, 1);
const clock = createVirtualClock({ startMs });

// What each filter and cursor means is in test/parity, over the same engines.
describe.each(storeEngines)("the listing over the store, on $engine,", ({ useStore }) => {
  const opened = useStore(() => clock);

  const importReports = (reports: readonly object[]) =>
    importFixture(opened.store, clock, {
      organizations: [{ slug: "acme" }, { slug: "globex" }],
      assets: ["URL", "EMAIL"].map((type, index) => ({ id: index + 1, type, content: type })),
      reports: reports.map((report) => ({ organization: "acme", ...report })),
    });

  async function idsOf(query: ReportsQuery): Promise<number[]> {
    const ids: number[] = [];
    const listing = walkReports(customerApi(opened.store, clock, "key_1", "acme"), query);
    for await (const report of listing) ids.push(Number(report["id"]));
    return ids;
  }

  it("goes by what a report's last import says", async () => {
    const [atMs, againMs] = [startMs, startMs + 60_000];
    const scan = { id: 1, status: "DONE", at: startMs };
    const proposal = { id: 11, queue: "queued" };
    const first = {
      createdAt: atMs,
      status: "TODO",
      source: "API",
      country: "US",
      reporter: { kind: "human", organization: "globex" },
      proposals: [{ ...proposal, assetId: 1, decision: "REJECT", decidedBy: "human" }],
      scans: [{ ...scan, assetId: 1 }],
    };
    const then = {
      createdAt: againMs,
      status: "CLOSED",
      source: "APP",
      country: null,
      reporter: { kind: "automation", organization: "acme" },
      proposals: [{ ...proposal, assetId: 2, decision: "SKIP", decidedBy: "automation" }],
      scans: [{ ...scan, assetId: 2 }],
    };
    const gone: readonly ReportsQuery[] = [
      { endDate: new Date(atMs).toISOString() },
      { status: "TODO" },
      { source: "API" },
      { country: "US" },
      { reportedBy: "human" },
      { needsCustomerReview: true },
      { assetType: "URL" },
      { decision: "REJECT" },
      { onlyRejected: true },
      { reviewedBy: "human" },
    ];
    await importReports([{ id: 1, ...first }]);
    for (const query of gone) expect(await idsOf(query), JSON.stringify(query)).toEqual([1]);

    await importReports([{ id: 1, ...then }]);

    for (const query of gone) expect(await idsOf(query), JSON.stringify(query)).toEqual([]);
    const found = { status: "CLOSED", source: "APP", reportedBy: "automation", assetType: "EMAIL" } as const;
    expect(await idsOf({ ...found, decision: "SKIP", reviewedBy: "automation" })).toEqual([1]);
  });

  it("repeats and skips nothing while reports are added, through equal timestamps", async () => {
    const report = (id: number, minute: number) => ({ id, createdAt: startMs + minute * 60_000 });
    const there = Array.from({ length: 50 }, (_, index) => report(index * 2 + 1, index % 3));
    await importReports(there);

    const seen: number[] = [];
    let added = 0;
    for await (const one of walkReports(customerApi(opened.store, clock, "key_1", "acme"), { limit: 3 })) {
      seen.push(Number(one["id"]));
      // New reports come before, at and after the place of the page; their ids lie between existing ones.
      await importReports([report(added * 2 + 2, added % 4)]);
      added++;
    }

    expect(new Set(seen).size).toBe(seen.length);
    const inOrder = there.toSorted((left, right) => right.createdAt - left.createdAt || right.id - left.id);
    expect(seen.filter((id) => id % 2 === 1)).toEqual(inOrder.map(({ id }) => id));
  });

  it("finds what is rare under several frequent filters, in bounded steps that let others go on", async () => {
    const reports = Array.from({ length: 5_001 }, (_, index) => ({
      id: index + 1,
      createdAt: startMs + index,
      source: index % 2 === 0 ? "API" : "APP",
      country: index % 2 === 0 && index > 0 ? "DE" : "US",
    }));
    await importReports(reports);
    let turns = 0;
    const api = customerApi(opened.store, { ...clock, sleep: async () => void turns++ }, "key_1", "acme");

    const { reports: found } = await api.listReports({ source: "API", country: "US" });

    expect(found.map((report) => report["id"])).toEqual([1]);
    expect(turns).toBeGreaterThan(0);
  });
});
