import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { customerApi, importFixture } from "../../test/support/far-side/platform-fixture.ts";
import { storeEngines, type OpenedStore } from "../../test/support/store/engines.ts";
import { isLong } from "../../test/support/tier.ts";
import { createVirtualClock, type VirtualClock } from "../../test/support/virtual-clock.ts";
import { walkReports } from "../contract/report-pages.ts";
import { proposalDecisions, type ProposalDecision, type ReportsQuery } from "../contract/reports.ts";
import type { Store } from "../store/store.ts";

const startMs = Date.UTC(2026, 10, 1);

let clock: VirtualClock;
let opened: OpenedStore;
let store: Store;

describe.each(storeEngines)("on $engine,", ({ openTemporary }) => {
  beforeEach(async () => {
    clock = createVirtualClock({ startMs });
    opened = await openTemporary(clock);
    store = opened.store;
  });

  afterEach(() => opened.close());

  async function idsOf(query: ReportsQuery): Promise<number[]> {
    const ids: number[] = [];
    const listing = walkReports(customerApi(store, clock, "key_1", "acme"), query);
    for await (const report of listing) ids.push(Number(report["id"]));
    return ids;
  }

  const assetTypes = ["URL", "EMAIL", "ADDRESS"] as const;

  interface Sample {
    readonly id: number;
    readonly minute: number;
    readonly status: "TODO" | "CLOSED";
    readonly source: "API" | "APP";
    readonly country: "US" | "DE" | null;
    readonly kind: "human" | "automation";
    readonly isOwn: boolean;
    readonly proposals: readonly {
      readonly type: number;
      readonly queue: "none" | "queued" | "answered";
      readonly decision: ProposalDecision | null;
      readonly decidedBy: "human" | "automation" | null;
    }[];
    readonly scanned: number | null;
  }

  function fixtureOf(samples: readonly Sample[]): object {
    return {
      organizations: [{ slug: "acme" }, { slug: "globex" }],
      assets: assetTypes.map((type, index) => ({ id: index + 1, type, content: `content ${index}` })),
      reports: samples.map((sample) => ({
        id: sample.id,
        organization: "acme",
        createdAt: startMs + sample.minute * 60_000,
        status: sample.status,
        source: sample.source,
        country: sample.country,
        reporter: { kind: sample.kind, organization: sample.isOwn ? "acme" : "globex" },
        proposals: sample.proposals.map(({ type, ...proposal }, index) => ({
          ...proposal,
          id: sample.id * 10 + index,
          assetId: type + 1,
        })),
        scans: sample.scanned === null ? [] : [{ id: 1, assetId: sample.scanned + 1, status: "DONE", at: startMs }],
      })),
    };
  }

  /** The ids of the listing by the contract's rules, from all samples. */
  function expectedIds(samples: readonly Sample[], query: ReportsQuery): number[] {
    const wanted = (sample: Sample): boolean => {
      const at = new Date(startMs + sample.minute * 60_000).toISOString();
      const types = [...sample.proposals.map(({ type }) => type), ...(sample.scanned === null ? [] : [sample.scanned])];
      return (
        (query.startDate === undefined || at >= query.startDate) &&
        (query.endDate === undefined || at <= query.endDate) &&
        (query.status === undefined || sample.status === query.status) &&
        (query.source === undefined || sample.source === query.source) &&
        (query.country === undefined || sample.country === query.country) &&
        (query.reportedBy === undefined || sample.kind === query.reportedBy) &&
        (query.assetType === undefined || types.some((type) => assetTypes[type] === query.assetType)) &&
        (query.decision === undefined || sample.proposals.some(({ decision }) => decision === query.decision)) &&
        (query.reviewedBy === undefined || sample.proposals.some(({ decidedBy }) => decidedBy === query.reviewedBy)) &&
        (query.onlyRejected !== true || sample.proposals.some(({ decision }) => decision === "REJECT")) &&
        (query.needsCustomerReview !== true ||
          (!sample.isOwn && sample.proposals.some(({ queue }) => queue === "queued")))
      );
    };
    return samples
      .filter(wanted)
      .toSorted((left, right) => right.minute - left.minute || right.id - left.id)
      .map(({ id }) => id);
  }

  const sampleArbitrary = fc.record({
    id: fc.integer({ min: 1, max: 5_000 }),
    // Few instants, so that many are equal.
    minute: fc.nat(4),
    status: fc.constantFrom("TODO" as const, "CLOSED" as const),
    source: fc.constantFrom("API" as const, "APP" as const),
    country: fc.constantFrom("US" as const, "DE" as const, null),
    kind: fc.constantFrom("human" as const, "automation" as const),
    isOwn: fc.boolean(),
    proposals: fc.array(
      fc.record({
        type: fc.nat(2),
        queue: fc.constantFrom("none" as const, "queued" as const, "answered" as const),
        decision: fc.constantFrom(...proposalDecisions, null),
        decidedBy: fc.constantFrom("human" as const, "automation" as const, null),
      }),
      { maxLength: 3 },
    ),
    scanned: fc.option(fc.nat(2)),
  });
  const samplesArbitrary = fc.uniqueArray(sampleArbitrary, { selector: ({ id }) => id, maxLength: 40 });

  const date = fc.nat(4).map((minute) => new Date(startMs + minute * 60_000).toISOString());
  const queryArbitrary = fc
    .record(
      {
        limit: fc.integer({ min: 1, max: 100 }),
        startDate: date,
        endDate: date,
        onlyRejected: fc.boolean(),
        needsCustomerReview: fc.boolean(),
        status: fc.constantFrom("TODO", "CLOSED"),
        decision: fc.constantFrom(...proposalDecisions),
        assetType: fc.constantFrom(...assetTypes),
        source: fc.constantFrom("API", "APP"),
        reportedBy: fc.constantFrom("human" as const, "automation" as const),
        reviewedBy: fc.constantFrom("human" as const, "automation" as const),
        country: fc.constantFrom("US", "DE"),
      },
      { requiredKeys: [] },
    )
    .map(({ endDate, ...query }) =>
      endDate === undefined || (query.startDate ?? "") > endDate ? query : { ...query, endDate },
    );

  describe("the listing over the store", () => {
    it("is what its filters say, for any reports, also after each was imported anew with other facts", async () => {
      await fc.assert(
        fc.asyncProperty(
          samplesArbitrary,
          fc.array(sampleArbitrary, { minLength: 5, maxLength: 5 }),
          fc.array(queryArbitrary, { minLength: 8, maxLength: 8 }),
          async (samples, facts, queries) => {
            const fresh = await openTemporary(clock);
            const { store: before } = { store };
            store = fresh.store;
            try {
              await importFixture(store, clock, fixtureOf(samples));
              for (const query of queries) expect(await idsOf(query)).toEqual(expectedIds(samples, query));

              const changed = samples.map((sample, index) => {
                const { proposals: _dropped, scanned: _scan, ...fact } = facts[index % facts.length] ?? sample;
                const proposals = sample.proposals.map((proposal) => ({ ...proposal, queue: "queued" as const }));
                return { ...sample, ...fact, proposals, id: sample.id };
              });
              await importFixture(store, clock, fixtureOf(changed));
              for (const query of queries) expect(await idsOf(query)).toEqual(expectedIds(changed, query));
            } finally {
              await fresh.close();
              store = before;
            }
          },
        ),
        { numRuns: isLong ? 30 : 4 },
      );
    });

    it("repeats and skips nothing while reports are added, through equal timestamps", async () => {
      const sample = (id: number, minute: number): Sample => ({
        id,
        minute,
        status: "TODO",
        source: "API",
        country: null,
        kind: "human",
        isOwn: false,
        proposals: [],
        scanned: null,
      });
      const there = Array.from({ length: 50 }, (_, index) => sample(index * 2 + 1, index % 3));
      await importFixture(store, clock, fixtureOf(there));

      const seen: number[] = [];
      let added = 0;
      for await (const report of walkReports(customerApi(store, clock, "key_1", "acme"), { limit: 3 })) {
        seen.push(Number(report["id"]));
        // New reports come before, at and after the place of the page; their ids lie between existing ones.
        await importFixture(store, clock, fixtureOf([sample(added * 2 + 2, added % 4)]));
        added++;
      }

      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.filter((id) => id % 2 === 1)).toEqual(expectedIds(there, {}));
    });

    it("finds what is rare under several frequent filters, in bounded steps that let others go on", async () => {
      const reports = Array.from({ length: 5_001 }, (_, index) => ({
        id: index + 1,
        organization: "acme",
        createdAt: startMs + index,
        source: index % 2 === 0 ? "API" : "APP",
        country: index % 2 === 0 && index > 0 ? "DE" : "US",
      }));
      await importFixture(store, clock, { organizations: [{ slug: "acme" }], reports });
      let turns = 0;
      const api = customerApi(store, { ...clock, sleep: async () => void turns++ }, "key_1", "acme");

      const { reports: found } = await api.listReports({ source: "API", country: "US" });

      expect(found.map((report) => report["id"])).toEqual([1]);
      expect(turns).toBeGreaterThan(0);
    });
  });
});
