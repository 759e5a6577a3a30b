import { sql } from "kysely";
import { chunksOf } from "../engine/chunks.ts";
import { dialectOf } from "../engine/dialect.ts";
import { applyFacetChanges, internFacets, type FacetChange } from "./facet-table.ts";
import { facetsOf } from "./facets.ts";
import type { Db } from "../schema.ts";
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
    await holdReports(db, chunk);
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

/** One statement: each one is a round trip on a network. */
async function updatePlaces(db: Db, places: readonly ReportPlace[]): Promise<void> {
  if (places.length === 0) return;
  const rows = places.map(({ id, facetText, createdAtMs }) => sql`(${id}, ${facetText}, ${createdAtMs})`);
  // PostgreSQL does not infer the types of parameters in a list; both engines use these column names.
  await sql`
    UPDATE reports SET facet_ids = given.column2, created_at_ms = CAST(given.column3 AS BIGINT)
    FROM (VALUES ${sql.join(rows)}) AS given WHERE reports.report_id = CAST(given.column1 AS BIGINT)`.execute(db);
}

/** Locks the reports until the transaction ends. */
async function holdReports(db: Db, ids: readonly number[]): Promise<void> {
  if (!dialectOf(db).hasConcurrentWriters) return;
  await db
    .selectFrom("reports")
    .select("report_id")
    .where("report_id", "in", ids)
    .orderBy("report_id")
    .forUpdate()
    .execute();
}

async function loadFaceted(db: Db, ids: readonly number[]) {
  const reports = await reportsWithSlug(db, ids);
  const proposals = await db
    .selectFrom("proposals")
    .innerJoin("assets", "assets.asset_id", "proposals.asset_id")
    .select(["report_id", "decision", "decided_by", "queue", "asset_type"])
    .where("report_id", "in", ids)
    .execute();
  const scans = await db
    .selectFrom("scans")
    .innerJoin("assets", "assets.asset_id", "scans.asset_id")
    .select(["report_id", "asset_type"])
    .where("report_id", "in", ids)
    .execute();
  const proposalsOf = Map.groupBy(proposals, (row) => row.report_id);
  const scansOf = Map.groupBy(scans, (row) => row.report_id);
  return reports.map((report) => {
    const ownProposals = proposalsOf.get(report.report_id) ?? [];
    const facets = facetsOf({
      status: report.status,
      source: report.source,
      country: report.country,
      reporterKind: report.reporter_kind,
      isSelfReported: report.reporter_organization === report.slug,
      proposals: ownProposals.map(({ decision, decided_by, queue }) => ({ decision, decidedBy: decided_by, queue })),
      assetTypes: [...ownProposals, ...(scansOf.get(report.report_id) ?? [])].map((row) => row.asset_type),
    });
    return {
      id: report.report_id,
      organizationId: report.organization_id,
      createdAtMs: report.created_at_ms,
      facetIds: JSON.parse(report.facet_ids) as number[],
      facets,
    };
  });
}
