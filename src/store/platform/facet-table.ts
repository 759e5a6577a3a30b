import { sql } from "kysely";
import { chunksOf, inChunks } from "../engine/chunks.ts";
import type { ReportPosition, ReportWalk, WalkedReports } from "./reports.ts";
import { facetNames } from "./facets.ts";
import type { Db, RowId } from "../tables.ts";

export interface FacetTables {
  readonly facets: { readonly facetId: RowId; readonly name: string };
  readonly report_facets: {
    readonly organizationId: number;
    readonly facetId: number;
    readonly createdAtMs: number;
    readonly reportId: number;
  };
  readonly facet_counts: { readonly organizationId: number; readonly facetId: number; readonly reports: number };
}

interface FacetPlace {
  readonly createdAtMs: number;
  readonly facetIds: readonly number[];
}

/** Current and wanted index entries of a report. */
export interface FacetChange {
  readonly reportId: number;
  readonly organizationId: number;
  readonly before: FacetPlace;
  readonly after: FacetPlace;
}

/** Returns the numbers of these facets; creates missing ones. */
export async function internFacets(db: Db, names: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> {
  // Sorted, like every write of several transactions, so that they cannot deadlock.
  const wanted = [...names].toSorted();
  for (const chunk of chunksOf(wanted))
    await db
      .insertInto("facets")
      .values(chunk.map((name) => ({ name })))
      .onConflict((conflict) => conflict.column("name").doNothing())
      .execute();
  return knownFacets(db, wanted);
}

async function knownFacets(db: Db, names: readonly string[]): Promise<Map<string, number>> {
  const rows = await inChunks(names, (some) => db.selectFrom("facets").selectAll().where("name", "in", some).execute());
  return new Map(rows.map(({ facetId, name }) => [name, facetId]));
}

/** Writes the difference between current and wanted entries, and updates the counts. */
export async function applyFacetChanges(db: Db, changes: readonly FacetChange[]): Promise<void> {
  const inserts: FacetTables["report_facets"][] = [];
  const deltas = new Map<string, FacetTables["facet_counts"]>();
  const add = (organizationId: number, facetId: number, reports: number): void => {
    const key = `${organizationId} ${facetId}`;
    deltas.set(key, { organizationId, facetId, reports: (deltas.get(key)?.reports ?? 0) + reports });
  };
  for (const { reportId, organizationId, before, after } of changes) {
    const isMoved = before.createdAtMs !== after.createdAtMs;
    for (const facetId of before.facetIds) {
      if (!isMoved && after.facetIds.includes(facetId)) continue;
      await db
        .deleteFrom("report_facets")
        .where("organizationId", "=", organizationId)
        .where("facetId", "=", facetId)
        .where("createdAtMs", "=", before.createdAtMs)
        .where("reportId", "=", reportId)
        .execute();
      add(organizationId, facetId, -1);
    }
    for (const facetId of after.facetIds) {
      if (!isMoved && before.facetIds.includes(facetId)) continue;
      inserts.push({ organizationId, facetId, createdAtMs: after.createdAtMs, reportId });
      add(organizationId, facetId, 1);
    }
  }
  for (const chunk of chunksOf(inserts)) await db.insertInto("report_facets").values(chunk).execute();
  const inOrder = [...deltas.values()].toSorted(
    (left, right) => left.organizationId - right.organizationId || left.facetId - right.facetId,
  );
  for (const chunk of chunksOf(inOrder))
    await db
      .insertInto("facet_counts")
      .values(chunk)
      .onConflict((conflict) =>
        conflict
          .columns(["organizationId", "facetId"])
          .doUpdateSet({ reports: sql<number>`facet_counts.reports + excluded.reports` }),
      )
      .execute();
}

/**
 * Walks the rarest of the wanted facets and looks up the others by primary key. With one filter a page costs the same at any
 * depth; with several, at most `mostSteps` entries are read.
 */
export async function walkFacets(db: Db, walk: ReportWalk): Promise<WalkedReports> {
  const names = walk.facets.length === 0 ? [facetNames.all] : walk.facets;
  const known = await knownFacets(db, names);
  if (names.some((name) => !known.has(name))) return { positions: [], resumeAfter: null };
  const [walked, ...others] = await byRarity(db, walk.organizationId, [...known.values()]);
  if (walked === undefined) return { positions: [], resumeAfter: null };

  const entries = (): ReturnType<typeof entriesOf> => entriesOf(db, walk, walked);
  let query = entries().limit(walk.limit);
  let end: ReportPosition | null = null;
  if (others.length > 0) {
    const last = await entries()
      .limit(1)
      .offset(walk.mostSteps - 1)
      .executeTakeFirst();
    end = last ?? null;
    if (end !== null)
      query = query.where(sql<boolean>`(walked.created_at_ms, walked.report_id) >= (${end.createdAtMs}, ${end.id})`);
  }
  for (const facetId of others) {
    query = query.where((eb) => {
      const lookup = eb
        .selectFrom("report_facets as other")
        .select("other.reportId")
        .where("other.organizationId", "=", walk.organizationId)
        .where("other.facetId", "=", facetId)
        .whereRef("other.createdAtMs", "=", "walked.createdAtMs")
        .whereRef("other.reportId", "=", "walked.reportId");
      // PostgreSQL would turn an EXISTS into a join and might read a whole facet.
      return sql<boolean>`(${lookup}) is not null`;
    });
  }
  const positions = await query.execute();
  return { positions, resumeAfter: positions.length >= walk.limit ? null : end };
}

function entriesOf(db: Db, { organizationId, after, fromMs, toMs }: ReportWalk, facetId: number) {
  let query = db
    .selectFrom("report_facets as walked")
    .select(["walked.createdAtMs", "walked.reportId as id"])
    .where("walked.organizationId", "=", organizationId)
    .where("walked.facetId", "=", facetId)
    .orderBy("walked.createdAtMs", "desc")
    .orderBy("walked.reportId", "desc");
  if (fromMs !== null) query = query.where("walked.createdAtMs", ">=", fromMs);
  // The resume position lies within the bounds already; the index can use only one upper bound.
  if (after !== null)
    query = query.where(sql<boolean>`(walked.created_at_ms, walked.report_id) < (${after.createdAtMs}, ${after.id})`);
  else if (toMs !== null) query = query.where("walked.createdAtMs", "<=", toMs);
  return query;
}

async function byRarity(db: Db, organizationId: number, facetIds: readonly number[]): Promise<number[]> {
  if (facetIds.length < 2) return [...facetIds];
  const rows = await db
    .selectFrom("facet_counts")
    .select(["facetId", "reports"])
    .where("organizationId", "=", organizationId)
    .where("facetId", "in", facetIds)
    .execute();
  const counts = new Map(rows.map(({ facetId, reports }) => [facetId, reports]));
  return facetIds.toSorted((left, right) => (counts.get(left) ?? 0) - (counts.get(right) ?? 0));
}
