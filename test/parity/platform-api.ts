import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { FlatlineError, type ErrorCode } from "../../src/base/errors.ts";
import { servedHealthcheckSchema } from "../../src/contract/healthcheck-schemas.ts";
import type { PlatformApi, SpikeRequest } from "../../src/contract/platform-api.ts";
import { walkReportPages, walkReports } from "../../src/contract/report-pages.ts";
import { reportRecordSchema } from "../../src/contract/report-schemas.ts";
import type { ReportsQuery } from "../../src/contract/reports.ts";
import type { ReviewRequest } from "../../src/contract/review.ts";
import { importFixtures } from "../../src/service/fixture/fixture.ts";
import { defaultThresholds } from "../../src/spike/thresholds.ts";
import type { Store } from "../../src/store/store.ts";

/** Deaths of an organization in one minute: what the suite wants an implementation to know before it asks. */
export interface ParityDeaths {
  readonly slug: string;
  readonly atMs: number;
  readonly assetType: string;
  readonly count: number;
}

/** Keys under which the suite asks; the fixture has them. */
export const parityKeys = {
  spikes: { key: "parity-spikes", role: "customer", organizations: ["quiet", "warned", "failed", "edges"] },
  acme: { key: "parity-acme", role: "customer", organizations: ["acme"] },
  globex: { key: "parity-globex", role: "customer", organizations: ["globex"] },
  both: { key: "parity-both", role: "customer", organizations: ["acme", "globex"] },
  staff: { key: "parity-staff", role: "staff", organizations: ["acme", "globex"] },
} as const satisfies Record<string, ParityKey>;

/** A key of the fixture, and whose it is. */
export interface ParityKey {
  readonly key: string;
  readonly role: "customer" | "staff";
  readonly organizations: readonly string[];
}

/** One implementation of the port, its clock standing at `parityNowMs`, filled by `seedParity`. */
export interface PlatformApiUnderTest {
  /** The port as the holder of a key. */
  as(key: ParityKey): PlatformApi;
  close(): Promise<void>;
}

const hourMs = 3_600_000;
/** The instant at which the suite evaluates. */
export const parityNowMs = Date.UTC(2026, 0, 31, 12);

const windowStartMs = parityNowMs - 24 * hourMs;

/**
 * `quiet`: 7 in the baseline, 1 in the window. `warned`: 70 in the baseline, so 10 expected, and 21. `failed`: the same
 * and 41. `edges`: one death exactly at each boundary of window and baseline, and one just outside of each.
 */
export const parityDeaths: readonly ParityDeaths[] = [
  ...around("quiet", 1, 1),
  ...around("warned", 10, 21),
  ...around("failed", 10, 41),
  { slug: "edges", atMs: parityNowMs + 1, assetType: "URL", count: 1 },
  { slug: "edges", atMs: parityNowMs, assetType: "URL", count: 1 },
  { slug: "edges", atMs: windowStartMs + 1, assetType: "URL", count: 1 },
  { slug: "edges", atMs: windowStartMs, assetType: "URL", count: 1 },
  { slug: "edges", atMs: windowStartMs - 7 * 24 * hourMs + 1, assetType: "URL", count: 1 },
  { slug: "edges", atMs: windowStartMs - 7 * 24 * hourMs, assetType: "URL", count: 1 },
];

function around(slug: string, perDay: number, inWindow: number): ParityDeaths[] {
  const days = [1, 2, 3, 4, 5, 6, 7].map((day) => ({
    slug,
    atMs: windowStartMs - day * 24 * hourMs + hourMs,
    assetType: "URL",
    count: perDay,
  }));
  return [...days, { slug, atMs: windowStartMs + hourMs, assetType: "URL", count: inWindow }];
}

interface SpikeCase {
  readonly rule: string;
  readonly request: Partial<SpikeRequest> & { readonly slug: string };
  readonly severity: string;
  readonly observed: Readonly<Record<string, unknown>>;
}

const spikeCases: readonly SpikeCase[] = [
  {
    rule: "below minSpikeCount is ok",
    request: { slug: "quiet" },
    severity: "ok",
    observed: { currentCount: 1, baselineCount: 7, expectedCount: 1, ratio: 1 },
  },
  {
    rule: "above warnMultiplier is warn",
    request: { slug: "warned" },
    severity: "warn",
    observed: { currentCount: 21, baselineCount: 70, expectedCount: 10, ratio: 2.1 },
  },
  {
    rule: "above failMultiplier is fail",
    request: { slug: "failed" },
    severity: "fail",
    observed: { currentCount: 41 },
  },
  {
    rule: "the end of an interval belongs to it, its start does not",
    request: { slug: "edges" },
    severity: "ok",
    observed: { currentCount: 2, baselineCount: 2 },
  },
];

const badRequests: readonly { readonly rule: string; readonly request: SpikeRequest; readonly code: ErrorCode }[] = [
  {
    rule: "a negative multiplier",
    request: { slug: "quiet", ...defaultThresholds, failMultiplier: -1 },
    code: "api_bad_request",
  },
  {
    rule: "an organization that does not exist",
    request: { slug: "nobody", ...defaultThresholds },
    code: "api_forbidden",
  },
];

/**
 * The suite that every implementation of the port passes with the same answers: over the store, and client → HTTP →
 * routes → store. `makeApi` makes one that `seedParity` has filled.
 */
export function describePlatformApi(name: string, makeApi: () => Promise<PlatformApiUnderTest>): void {
  describeHealthcheck(name, makeApi);
  describeListing(name, makeApi);
  describeReview(name, makeApi);
}

/** Makes one before the tests of the surrounding block, and closes it after them. */
function prepare(makeApi: () => Promise<PlatformApiUnderTest>): Pick<PlatformApiUnderTest, "as"> {
  let made: PlatformApiUnderTest | null = null;
  beforeAll(async () => {
    made = await makeApi();
  });
  afterAll(async () => {
    await made?.close();
  });
  return {
    as: (key) => {
      if (made === null) throw new Error("asked before it was made");
      return made.as(key);
    },
  };
}

function describeHealthcheck(name: string, makeApi: () => Promise<PlatformApiUnderTest>): void {
  describe(`${name}: the healthcheck`, () => {
    const underTest = prepare(makeApi);

    it.each(spikeCases)("$rule", async ({ request, severity, observed }) => {
      const result = await underTest.as(parityKeys.spikes).deadAssetSpike({ ...defaultThresholds, ...request });

      expect(servedHealthcheckSchema.parse(result)).toMatchObject({
        id: "dead-asset-spike",
        title: "Spike in recently dead assets",
        category: "assets",
        generatedAt: new Date(parityNowMs).toISOString(),
        scope: { slug: request.slug },
        ok: severity === "ok",
        severity,
        observed,
      });
    });

    it("has findings and a suggestion only when it is not ok", async () => {
      const quiet = await underTest.as(parityKeys.spikes).deadAssetSpike({ slug: "quiet", ...defaultThresholds });
      const failed = await underTest.as(parityKeys.spikes).deadAssetSpike({ slug: "failed", ...defaultThresholds });

      expect(quiet).toMatchObject({ findings: [], suggestedAction: null });
      expect(failed.findings[0]).toMatchObject({ kind: "dead-asset-spike", ref: "failed", severity: "fail" });
      expect(failed.findings[1]).toMatchObject({ kind: "dead-asset-spike.asset-type", ref: "URL", severity: "fail" });
      expect(failed.suggestedAction).toEqual(expect.any(String));
    });

    it.each(badRequests)("refuses $rule", async ({ request, code }) => {
      await expect(underTest.as(parityKeys.spikes).deadAssetSpike(request)).rejects.toSatisfy(
        (error) => error instanceof FlatlineError && error.code === code,
      );
    });
  });
}

const reportedMs = parityNowMs - 48 * hourMs;

/** Report n + 1 is one minute younger than report n, but for the last two, which came at once. */
function parityReport(
  id: number,
  more: Readonly<Record<string, unknown>> & { readonly proposals?: readonly Readonly<Record<string, unknown>>[] },
): Readonly<Record<string, unknown>> {
  return {
    id,
    organization: "acme",
    createdAt: new Date(reportedMs + Math.min(id, 9) * 60_000).toISOString(),
    status: "TODO",
    source: "API",
    country: "US",
    reporter: { kind: "human", name: "Kim", organization: null },
    ...more,
  };
}

const queued = { decision: null, decidedBy: null, queue: "queued", resolved: false };

/** Reports 1–10 of acme, 21–32 of globex, what their proposals are about, and the suite's keys. */
export const parityFixture = {
  organizations: [
    { slug: "acme", name: "Acme", brands: [{ id: 7, name: "Acme Pay" }] },
    { slug: "globex", name: "Globex", brands: [{ id: 8, name: "Globex" }] },
    ...parityKeys.spikes.organizations.map((slug) => ({ slug })),
  ],
  keys: Object.values(parityKeys),
  assets: [
    { id: 501, type: "URL", content: "https://acme-login.example/", status: "UNKNOWN" },
    { id: 502, type: "ADDRESS", content: "0x0000000000000000000000000000000000000502", status: "UNKNOWN" },
    { id: 503, type: "PAGE", content: "https://pay.acme.example/help", status: "UNKNOWN" },
    { id: 504, type: "TWITTER", content: "https://social.example/good-neighbour", status: "ALLOWED" },
    { id: 505, type: "EMAIL", content: "help@acme-login.example", status: "UNKNOWN" },
  ],
  legitimacyRules: [{ name: "owned", enabled: true, organization: "globex", pattern: "*.acme.example" }],
  reports: [
    parityReport(1, { proposals: [{ id: 301, assetId: 501, ...queued }], title: "Login page" }),
    parityReport(2, { proposals: [{ id: 302, assetId: 502, ...queued }], status: "IN_PROGRESS", country: "DE" }),
    parityReport(3, { proposals: [{ id: 303, assetId: 503, ...queued }], source: "CANARY_TOKEN" }),
    parityReport(4, {
      proposals: [{ id: 304, assetId: 504, ...queued }],
      reporter: { kind: "automation", name: "crawler", organization: null },
    }),
    parityReport(5, {
      proposals: [{ id: 305, assetId: 505, ...queued }],
      reporter: { kind: "human", name: "Lee", organization: "acme" },
    }),
    parityReport(6, {
      proposals: [
        { id: 306, assetId: 501, decision: "REJECT", decidedBy: "automation", queue: "none", resolved: true },
      ],
      status: "CLOSED",
      sla: { dueAt: new Date(reportedMs).toISOString() },
    }),
    parityReport(7, {
      proposals: [
        { id: 307, assetId: 501, decision: "ESCALATE", decidedBy: "human", queue: "answered", resolved: false },
      ],
      sla: { dueAt: new Date(reportedMs).toISOString() },
    }),
    parityReport(8, { proposals: [{ id: 308, assetId: 501, ...queued, decision: "SKIP", queue: "none" }] }),
    parityReport(9, {
      scans: [{ id: 1, assetId: 505, status: "DONE", at: new Date(reportedMs).toISOString() }],
      proposals: [{ id: 309, assetId: 501, ...queued }],
    }),
    parityReport(10, { proposals: [{ id: 310, assetId: 505, ...queued }] }),
    ...Array.from({ length: 12 }, (_, index) =>
      parityReport(21 + index, { organization: "globex", proposals: [{ id: 321 + index, assetId: 505, ...queued }] }),
    ),
  ],
};

/** Fills a store with what the suite asks about. */
export async function seedParity(store: Store): Promise<void> {
  await store.events.add(
    parityDeaths.map((death) => ({ ...death, asset: null, status: "DETECTED_AS_DEAD", id: null })),
  );
  const text = JSON.stringify(parityFixture);
  await importFixtures({ store, clock: { nowMs: () => reportedMs }, files: [{ name: "parity.json", text }] });
}

interface ListingCase {
  readonly rule: string;
  readonly query: ReportsQuery;
  /** Of the reports, in order. */
  readonly ids: readonly number[];
}

const listingCases: readonly ListingCase[] = [
  {
    rule: "newest first by creation, then by id, both descending",
    query: {},
    ids: [10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
  },
  {
    rule: "a false flag asks nothing",
    query: { onlyRejected: false, needsCustomerReview: false, limit: 1 },
    ids: [10],
  },
  {
    rule: "the review queue without what is answered or was reported by the organization itself",
    query: { needsCustomerReview: true },
    ids: [10, 9, 4, 3, 2, 1],
  },
  { rule: "only rejected", query: { onlyRejected: true }, ids: [6] },
  { rule: "a status", query: { status: "IN_PROGRESS" }, ids: [2] },
  { rule: "a decision", query: { decision: "REJECT" }, ids: [6] },
  { rule: "what was skipped", query: { decision: "SKIP" }, ids: [8] },
  { rule: "what was escalated", query: { decision: "ESCALATE" }, ids: [7] },
  { rule: "the type of a proposal's asset or of a scanned one", query: { assetType: "EMAIL" }, ids: [10, 9, 5] },
  { rule: "an asset type that no report has", query: { assetType: "APK_GOLD" }, ids: [] },
  { rule: "a source", query: { source: "CANARY_TOKEN" }, ids: [3] },
  { rule: "who reported", query: { reportedBy: "automation" }, ids: [4] },
  { rule: "who decided", query: { reviewedBy: "automation" }, ids: [6] },
  { rule: "a country", query: { country: "DE" }, ids: [2] },
  {
    rule: "dates are inclusive",
    query: { startDate: "2026-01-29T12:03:00.000Z", endDate: "2026-01-29T12:05:00.000Z" },
    ids: [5, 4, 3],
  },
  {
    rule: "several filters together",
    query: { needsCustomerReview: true, assetType: "EMAIL", country: "US", startDate: "2026-01-29T12:09:00.000Z" },
    ids: [10, 9],
  },
];

const badListings: readonly {
  readonly rule: string;
  readonly key: ParityKey;
  readonly query: ReportsQuery;
  readonly code: ErrorCode;
}[] = [
  { rule: "another organization", key: parityKeys.acme, query: { slug: "globex" }, code: "api_unauthorized" },
  { rule: "an organization that does not exist", key: parityKeys.acme, query: { slug: "x" }, code: "api_unauthorized" },
  { rule: "several organizations and no slug", key: parityKeys.both, query: {}, code: "api_bad_request" },
  {
    rule: "an altered cursor before the slug is looked at",
    key: parityKeys.acme,
    query: { slug: "globex", cursor: "AAAA" },
    code: "api_bad_request",
  },
];

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

function describeListing(name: string, makeApi: () => Promise<PlatformApiUnderTest>): void {
  describe(`${name}: the listing`, () => {
    const underTest = prepare(makeApi);

    it.each(listingCases)("lists $rule", async ({ query, ids }) => {
      const { reports } = await underTest.as(parityKeys.acme).listReports(query);

      expect(reports.map((report) => report["id"])).toEqual(ids);
    });

    it.each(listingCases)("pages through $rule one by one", async ({ query, ids }) => {
      const api = underTest.as(parityKeys.acme);

      const pages = await collect(walkReportPages(api, { ...query, limit: 1 }));

      expect(pages.flatMap(({ reports }) => reports.map((report) => report["id"]))).toEqual(
        query.limit === 1 ? [10, 9, 8, 7, 6, 5, 4, 3, 2, 1] : ids,
      );
      expect(pages.at(-1)?.cursor).toBeUndefined();
    });

    it("shows every field of a report", async () => {
      const { reports } = await underTest
        .as(parityKeys.both)
        .listReports({ slug: "acme", endDate: "2026-01-29T12:01:00.000Z" });

      expect(reports.map((report) => reportRecordSchema.strict().parse(report))).toEqual([
        {
          id: 1,
          organization: { slug: "acme" },
          createdAt: "2026-01-29T12:01:00.000Z",
          updatedAt: "2026-01-29T12:01:00.000Z",
          status: "TODO",
          source: "API",
          title: "Login page",
          country: "US",
          reporter: { kind: "human", name: "Kim", organization: null },
          sla: null,
          proposals: [
            {
              id: 301,
              decision: null,
              decidedBy: null,
              needsCustomerReview: true,
              asset: { id: 501, type: "URL", content: "https://acme-login.example/", status: "UNKNOWN" },
            },
          ],
          assets: [{ id: 501, type: "URL", content: "https://acme-login.example/", status: "UNKNOWN" }],
          scans: [],
        },
      ]);
    });

    it("tells which SLA is breached: one that is due, of a report that is not closed", async () => {
      const reports = await collect(walkReports(underTest.as(parityKeys.acme), {}));

      const slas = reports.filter((report) => report["sla"] !== null).map(({ id, sla }) => ({ id, sla }));
      expect(slas).toEqual([
        { id: 7, sla: { dueAt: new Date(reportedMs).toISOString(), breached: true } },
        { id: 6, sla: { dueAt: new Date(reportedMs).toISOString(), breached: false } },
      ]);
    });

    it.each(badListings)("refuses $rule", async ({ key, query, code }) => {
      await expect(underTest.as(key).listReports(query)).rejects.toMatchObject({ code });
    });

    it("takes a cursor with another page size and under another key of the organization", async () => {
      const first = await underTest.as(parityKeys.acme).listReports({ limit: 2, status: "TODO" });
      const cursor = first.cursor ?? "";

      const next = await underTest.as(parityKeys.staff).listReports({ slug: "acme", limit: 3, status: "TODO", cursor });

      expect(next.reports.map((report) => report["id"])).toEqual([8, 7, 5]);
    });

    it("refuses a cursor with other filters, and in another organization", async () => {
      const { cursor = "" } = await underTest.as(parityKeys.acme).listReports({ limit: 2 });

      const ended = await Promise.allSettled([
        underTest.as(parityKeys.acme).listReports({ cursor, country: "US" }),
        underTest.as(parityKeys.globex).listReports({ cursor }),
        underTest.as(parityKeys.both).listReports({ cursor, slug: "globex" }),
      ]);

      const refused = { status: "rejected", reason: { code: "api_bad_request" } };
      expect(ended).toMatchObject([refused, refused, refused]);
    });
  });
}

const approve = { decision: "APPROVE", label: "General Phishing" } as const;
const reject = { decision: "REJECT", rejectReason: "irrelevant" } as const;
const watch = { decision: "WATCHLIST", watchlistReason: "PARKING" } as const;

const badReviews: readonly {
  readonly rule: string;
  readonly key?: ParityKey;
  readonly request: ReviewRequest;
  readonly code: ErrorCode;
}[] = [
  {
    rule: "several organizations and no slug",
    key: parityKeys.both,
    request: { proposalId: 301, assetId: 501, ...reject },
    code: "api_bad_request",
  },
  {
    rule: "a slug out of reach",
    request: { proposalId: 301, assetId: 501, ...reject, slug: "globex" },
    code: "api_forbidden",
  },
  {
    rule: "a staff key, before the proposal is looked for",
    key: parityKeys.staff,
    request: { proposalId: 999, assetId: 501, ...reject, slug: "acme" },
    code: "api_forbidden",
  },
  {
    rule: "a proposal of another organization",
    request: { proposalId: 321, assetId: 505, ...reject },
    code: "api_not_found",
  },
  {
    rule: "a report of the organization itself",
    request: { proposalId: 305, assetId: 505, ...reject },
    code: "api_forbidden",
  },
  { rule: "a resolved proposal", request: { proposalId: 306, assetId: 501, ...reject }, code: "api_conflict" },
  {
    rule: "the brand of another organization",
    request: { proposalId: 301, assetId: 501, decision: "APPROVE", label: "Brand Impersonation", brandId: 8 },
    code: "api_bad_request",
  },
  {
    rule: "an APPROVE of what another organization owns",
    request: { proposalId: 303, assetId: 503, ...approve },
    code: "api_forbidden",
  },
];

function describeReview(name: string, makeApi: () => Promise<PlatformApiUnderTest>): void {
  describe(`${name}: the review`, () => {
    const underTest = prepare(makeApi);

    it.each(badReviews)("refuses $rule", async ({ key = parityKeys.acme, request, code }) => {
      await expect(underTest.as(key).reviewProposal(request)).rejects.toMatchObject({ code });
    });

    it("approves: the asset is blocked in every report, the proposal is out of the queue", async () => {
      const request = {
        proposalId: 301,
        assetId: 501,
        decision: "APPROVE",
        label: "Brand Impersonation",
        brandId: 7,
      } as const;

      const outcome = await underTest.as(parityKeys.acme).reviewProposal({ ...request, note: "ours" });
      const { reports } = await underTest.as(parityKeys.acme).listReports({ decision: "APPROVE" });
      const { reports: other } = await underTest.as(parityKeys.acme).listReports({ onlyRejected: true });

      expect(outcome).toEqual({
        proposal: {
          id: 301,
          decision: "APPROVE",
          decidedBy: "human",
          needsCustomerReview: false,
          asset: { id: 501, type: "URL", content: "https://acme-login.example/", status: "BLOCKED" },
        },
        review: {
          id: expect.any(Number),
          decision: "APPROVE",
          label: "Brand Impersonation",
          brandId: 7,
          comment: "ours",
          createdAt: new Date(parityNowMs).toISOString(),
        },
        watchlisted: false,
      });
      expect(reports).toMatchObject([
        {
          id: 1,
          updatedAt: new Date(parityNowMs).toISOString(),
          proposals: [{ decidedBy: "human", needsCustomerReview: false }],
        },
      ]);
      expect(other).toMatchObject([{ id: 6, assets: [{ id: 501, status: "BLOCKED" }] }]);
      await expect(underTest.as(parityKeys.acme).reviewProposal(request)).rejects.toMatchObject({
        code: "api_conflict",
      });
    });

    it("rejects: the asset stays as it is", async () => {
      const outcome = await underTest
        .as(parityKeys.acme)
        .reviewProposal({ proposalId: 303, assetId: 503, ...reject, note: "our own help page" });

      expect(outcome).toMatchObject({
        proposal: { id: 303, decision: "REJECT", asset: { status: "UNKNOWN" } },
        review: { decision: "REJECT", label: "", brandId: null, comment: "irrelevant: our own help page" },
        watchlisted: false,
      });
    });

    it("watchlists: stored as a rejection, the asset's status stays as it is", async () => {
      const outcome = await underTest.as(parityKeys.acme).reviewProposal({ proposalId: 304, assetId: 504, ...watch });

      expect(outcome).toMatchObject({
        proposal: { id: 304, decision: "REJECT", asset: { status: "ALLOWED" } },
        review: { decision: "REJECT", label: "", brandId: null, comment: "PARKING" },
        watchlisted: true,
      });
    });

    it("accepts ten reviews of an organization in 24 hours, then tells how long to wait", async () => {
      const api = underTest.as(parityKeys.globex);
      for (let index = 0; index < 10; index++)
        await api.reviewProposal({ proposalId: 321 + index, assetId: 505, ...reject });

      const eleventh = api.reviewProposal({ proposalId: 331, assetId: 505, ...reject });

      await expect(eleventh).rejects.toMatchObject({ code: "api_rate_limited", retryAfterMs: 24 * hourMs });
      const other = await underTest.as(parityKeys.acme).reviewProposal({ proposalId: 310, assetId: 505, ...reject });
      expect(other.watchlisted).toBe(false);
    });
  });
}
