import { sql } from "kysely";
import { chunksOf } from "../engine/chunks.ts";
import { applyFacetChanges, internFacets, type FacetChange } from "./facet-table.ts";
import { facetsOf } from "./facets.ts";
import type { Db } from "../tables.ts";
import { reportsWithSlug } from "./report-records.ts";

/**
 * Updates the index entries of these reports to the stored state, and changes the creation time of those in `movedToMs`. The
 * index is ordered by creation time, so only this function changes it.
 */
export async function refreshFacets(
  db: Db,
  reportIds: readonly number[],
  movedToMs: ReadonlyMap<number, number> = new Map(),
): Promise<void> {
  for (const chunk of chunksOf(reportIds.toSorted((left, right) => left - right))) {
    const loaded = await loadFaceted(db, chunk);
    const ids = await internFacets(db, new Set(loaded.flatMap(({ facets }) => facets)));
    const changes: FacetChange[] = [];
    const rows: ReportPlace[] = [];
    for (const { id, organizationId, createdAtMs, facetIds: before, facets } of loaded) {
      const facetIds = facets.flatMap((name) => ids.get(name) ?? []).toSorted((left, right) => left - right);
      const movedMs = movedToMs.get(id) ?? createdAtMs;
      const facetText = JSON.stringify(facetIds);
      if (movedMs === createdAtMs && facetText === JSON.stringify(before)) continue;
      changes.push({
        reportId: id,
        organizationId,
        before: { createdAtMs, facetIds: before },
        after: { createdAtMs: movedMs, facetIds },
      });
      rows.push({ id, facetText, createdAtMs: movedMs });
    }
    await updatePlaces(db, rows);
    await applyFacetChanges(db, changes);
  }
}

interface ReportPlace {
  readonly id: number;
  readonly facetText: string;
  readonly createdAtMs: number;
}

/** Updates all places in one statement: on a network, each one is a round trip. */
async function updatePlaces(db: Db, places: readonly ReportPlace[]): Promise<void> {
  if (places.length === 0) return;
  const rows = places.map(({ id, facetText, createdAtMs }) => sql`(${id}, ${facetText}, ${createdAtMs})`);
  // PostgreSQL does not infer the types of parameters in a list; both engines use these column names.
  await sql`
    UPDATE reports SET facet_ids = given.column2, created_at_ms = CAST(given.column3 AS BIGINT)
    FROM (VALUES ${sql.join(rows)}) AS given WHERE reports.report_id = CAST(given.column1 AS BIGINT)`.execute(db);
}

async function loadFaceted(db: Db, ids: readonly number[]) {
  const reports = await reportsWithSlug(db, ids);
  const proposals = await db
    .selectFrom("proposals")
    .innerJoin("assets", "assets.assetId", "proposals.assetId")
    .select(["reportId", "decision", "decidedBy", "queue", "assetType"])
    .where("reportId", "in", ids)
    .execute();
  const scans = await db
    .selectFrom("scans")
    .innerJoin("assets", "assets.assetId", "scans.assetId")
    .select(["reportId", "assetType"])
    .where("reportId", "in", ids)
    .execute();
  const proposalsOf = Map.groupBy(proposals, (row) => row.reportId);
  const scansOf = Map.groupBy(scans, (row) => row.reportId);
  return reports.map((report) => {
    const ownProposals = proposalsOf.get(report.reportId) ?? [];
    const facets = facetsOf({
      status: report.status,
      source: report.source,
      country: report.country,
      reporterKind: report.reporterKind,
      isSelfReported: report.reporterOrganization === report.slug,
      proposals: ownProposals.map(({ decision, decidedBy, queue }) => ({ decision, decidedBy, queue })),
      assetTypes: [...ownProposals, ...(scansOf.get(report.reportId) ?? [])].map((row) => row.assetType),
    });
    return {
      id: report.reportId,
      organizationId: report.organizationId,
      createdAtMs: report.createdAtMs,
      facetIds: JSON.parse(report.facetIds) as number[],
      facets,
    };
  });
}
