import { randomBytes } from "node:crypto";
import type { Clock } from "../base/time.ts";
import { defaultPageSize, type ReportsPage, type ReportsQuery } from "../contract/reports.ts";
import type { MetaStore } from "../store/engine/meta.ts";
import type { ReportFilters, ReportPosition } from "../store/platform/listing.ts";
import type { StoreParts } from "../store/store-parts.ts";
import { createCursorCodec } from "./cursor.ts";
import { resolveOrganization, type OrganizationAccessOptions } from "./organization-access.ts";

export interface LocalListingOptions extends OrganizationAccessOptions {
  readonly store: Pick<StoreParts, "events" | "platform" | "meta">;
  readonly clock: Pick<Clock, "nowMs" | "sleep">;
}

// About 5 ms: a listing with filters blocks the event loop no longer.
const stepsAtOnce = 2_000;
const secretName = "cursor_secret";
const secretBytes = 32;

/** Lists reports of the store (CONTRACT 9). Rejects with `api_*` codes. */
export async function listLocally(
  query: ReportsQuery,
  options: LocalListingOptions,
  stopIfAborted: () => void,
): Promise<ReportsPage> {
  const { store, clock } = options;
  const cursors = await loadCodec(store.meta);
  const cursor = query.cursor === undefined ? null : cursors.open(query.cursor);
  const slug = await resolveOrganization(query.slug, "api_unauthorized", options);
  cursor?.requireListing(slug, query);

  const limit = query.limit ?? defaultPageSize;
  const organizationId = await store.platform.organizations.idOf(slug);
  if (organizationId === null) return { reports: [] };
  // One more than the page tells whether there is a next page.
  const positions: ReportPosition[] = [];
  let after = cursor?.position ?? null;
  do {
    const walked = await store.platform.reports.walk({
      organizationId,
      filters: filtersOf(query),
      fromMs: query.startDate === undefined ? null : Date.parse(query.startDate),
      toMs: query.endDate === undefined ? null : Date.parse(query.endDate),
      after,
      limit: limit + 1 - positions.length,
      mostSteps: stepsAtOnce,
    });
    positions.push(...walked.positions);
    after = walked.resumeAfter;
    if (after !== null) await clock.sleep(0);
    stopIfAborted();
  } while (after !== null);
  const shown = positions.slice(0, limit);
  const reports = await store.platform.reports.records(
    shown.map(({ id }) => id),
    clock.nowMs(),
  );
  const last = shown.at(-1);
  if (last === undefined || positions.length <= limit) return { reports };
  return { reports, cursor: cursors.seal(slug, query, last) };
}

function filtersOf(query: ReportsQuery): ReportFilters {
  const { status, source, country, reportedBy, decision, reviewedBy, assetType } = query;
  const decisions = [...(decision === undefined ? [] : [decision]), ...(query.onlyRejected === true ? ["REJECT"] : [])];
  const isQueued = query.needsCustomerReview === true;
  return { status, source, country, reportedBy, decisions, reviewedBy, isQueued, assetType };
}

async function loadCodec(meta: MetaStore) {
  const stored =
    (await meta.get(secretName)) ?? (await meta.getOrSet(secretName, randomBytes(secretBytes).toString("base64url")));
  return createCursorCodec(Buffer.from(stored, "base64url"));
}
