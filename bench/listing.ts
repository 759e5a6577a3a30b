import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";

import { createSystemClock, dayMs, minuteMs } from "../src/base/time.ts";
import type { PlatformApi } from "../src/contract/platform-api.ts";
import type { ReportsQuery } from "../src/contract/reports.ts";
import { createLocalPlatformApi } from "../src/service/local-platform-api.ts";
import { openStore } from "../src/store/open.ts";
import type { ImportedReport } from "../src/store/platform/reports.ts";
import type { Store } from "../src/store/store.ts";
import type { Benchmark, Goal, Side } from "./harness/benchmark.ts";
import { cachedFolder } from "./harness/cache.ts";
import { ownCpuSeconds } from "./harness/process-cpu.ts";

const reports = 1_000_000;
const quickReports = 20_000;
const quickPage = 100;
const pageSize = 20;
const batch = 5_000;
const repetitions = 41;
const clock = createSystemClock();
const newestAtMs = Date.UTC(2026, 10, 1);

const types = ["URL", "PAGE", "EMAIL", "TWITTER", "TELEGRAM"] as const;
const sources = ["API", "APP", "AUTO_DETECTION"] as const;
const statuses = ["TODO", "IN_PROGRESS", "CLOSED"] as const;
const countries = ["US", "DE", "FR", "BR", "IN", "NG"];

function pick<Value>(values: readonly Value[], index: number): Value {
  const value = values[index % values.length];
  if (value === undefined) throw new Error("nothing to pick from");
  return value;
}

/** One in fifty is rejected, one in two hundred waits for the customer: rare things are what filters are for. */
function report(index: number, organizationId: number): ImportedReport {
  const isQueued = index % 200 === 0;
  const isRejected = index % 50 === 1;
  const decision = isRejected ? "REJECT" : isQueued ? null : "APPROVE";
  const id = index + 1;
  return {
    id,
    organizationId,
    createdAtMs: newestAtMs - Math.floor(index / 3) * minuteMs,
    updatedAtMs: null,
    status: pick(statuses, index),
    source: pick(sources, index),
    country: pick(countries, index),
    title: null,
    reporter: { kind: index % 4 === 0 ? "human" : "automation", name: "reporter", organization: null },
    sla: null,
    proposals: [
      {
        id,
        assetId: (index % 10_000) + 1,
        decision,
        decidedBy: decision === null ? null : index % 3 === 0 ? "human" : "automation",
        queue: isQueued ? "queued" : "none",
        isResolved: !isQueued,
      },
    ],
    scans: [],
  };
}

/** Made once: a million reports take a minute and more, through the same writes as an import. */
async function openReports(count: number): Promise<Store> {
  const path = join(cachedFolder("reports"), `${count}.db`);
  if (existsSync(path)) return openStore({ path, clock });
  // A run of its own beside this one makes its own.
  const unfinished = `${path}.${process.pid}`;
  const store = await openStore({ path: unfinished, clock });
  const organizationId = await store.platform.organizations.upsert({ slug: "acme", name: null });
  await store.transaction(({ platform }) =>
    platform.assets.upsert(
      Array.from({ length: 10_000 }, (_, index) => ({
        id: index + 1,
        type: pick(types, index),
        content: `https://${index}.example`,
        status: "UNKNOWN" as const,
      })),
    ),
  );
  for (let start = 0; start < count; start += batch) {
    const some = Array.from({ length: Math.min(batch, count - start) }, (_, index) =>
      report(start + index, organizationId),
    );
    await store.transaction(({ platform }) => platform.reports.upsert(some, newestAtMs));
  }
  await store.close();
  renameSync(unfinished, path);
  return openStore({ path, clock });
}

function apiOf(store: Store): PlatformApi {
  const identity = { role: "customer" as const, organizations: ["acme"], keyId: null };
  return createLocalPlatformApi({ store, clock, appUrl: null, identity, isConfigured: () => true });
}

/** The cursor of a page: walked once, a hundred reports at a time where it is far. */
async function cursorOf(api: PlatformApi, page: number, filter: ReportsQuery): Promise<string | undefined> {
  let cursor: string | undefined;
  for (let skipped = 0; skipped < (page - 1) * pageSize;) {
    const limit = Math.min(100, (page - 1) * pageSize - skipped);
    const answer = await api.listReports({ ...filter, limit, ...(cursor === undefined ? {} : { cursor }) });
    cursor = answer.cursor;
    if (cursor === undefined) throw new Error(`there is no page ${page}`);
    skipped += limit;
  }
  return cursor;
}

function listing(name: string, page: number, filter: ReportsQuery = {}): Side {
  return {
    name,
    kind: "flatline",
    start: async ({ quick }) => {
      const store = await openReports(quick ? quickReports : reports);
      const api = apiOf(store);
      const cursor = await cursorOf(api, quick ? Math.min(page, quickPage) : page, filter);
      const query = { limit: pageSize, ...filter, ...(cursor === undefined ? {} : { cursor }) };
      return {
        measure: async () => {
          const times: number[] = [];
          // Its pages are in the file system's cache, and its statement in this connection's.
          for (let warmUp = 0; warmUp < repetitions; warmUp++) await api.listReports(query);
          for (let repetition = 0; repetition < repetitions; repetition++) {
            const before = ownCpuSeconds();
            const answer = await api.listReports(query);
            times.push((ownCpuSeconds() - before) * 1_000);
            if (answer.reports.length !== pageSize) throw new Error(`${name}: ${answer.reports.length} reports`);
          }
          return { page: times.toSorted((left, right) => left - right)[Math.floor(repetitions / 2)] ?? Number.NaN };
        },
        stop: () => store.close(),
      };
    },
  };
}

function daysBefore(days: number): string {
  return new Date(newestAtMs - days * dayMs).toISOString();
}

const farPage = 10_000;
// A filter leaves fewer pages: this one is far behind in each of these.
const farFilteredPage = 8_000;
const first = listing("first page", 1);
const far = listing("page 10,000", farPage);
const filters: readonly { readonly name: string; readonly filter: ReportsQuery; readonly isFrequent?: boolean }[] = [
  { name: "needsCustomerReview", filter: { needsCustomerReview: true } },
  { name: "onlyRejected", filter: { onlyRejected: true } },
  { name: "status", filter: { status: "TODO" }, isFrequent: true },
  { name: "decision", filter: { decision: "REJECT" } },
  { name: "assetType", filter: { assetType: "TELEGRAM" }, isFrequent: true },
  { name: "source", filter: { source: "API" }, isFrequent: true },
  { name: "reportedBy", filter: { reportedBy: "human" }, isFrequent: true },
  { name: "reviewedBy", filter: { reviewedBy: "human" }, isFrequent: true },
  { name: "country", filter: { country: "NG" }, isFrequent: true },
  { name: "startDate and endDate", filter: { startDate: daysBefore(3), endDate: daysBefore(2) } },
  { name: "three filters", filter: { onlyRejected: true, country: "DE", reportedBy: "automation" } },
];
const filtered = filters.map(({ name, filter, isFrequent = false }) => ({
  name,
  first: listing(`first page, ${name}`, 1, filter),
  far: isFrequent ? listing(`page 8,000, ${name}`, farFilteredPage, filter) : null,
}));

function depth(title: string, of: Side, by: Side): Goal {
  return { title, of: { side: of.name }, by: { side: by.name }, bound: "at most", goal: 1.2 };
}

/** A page of the listing, wherever it is and whatever is asked for. */
export const benchmark: Benchmark = {
  name: "listing",
  title: "Pages of 20 of 1,000,000 reports of one organization",
  metrics: [{ name: "page", title: "one page", unit: "CPU ms", better: "less" }],
  sides: [first, far, ...filtered.flatMap((one) => [one.first, ...(one.far === null ? [] : [one.far])])],
  repetitions: 5,
  goals: [
    depth("page 10,000 ÷ first page", far, first),
    ...filtered.flatMap((one) =>
      one.far === null ? [] : [depth(`page 8,000 ÷ first page, ${one.name}`, one.far, one.first)],
    ),
  ],
};
