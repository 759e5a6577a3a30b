import { sql, type Expression, type SqlBool } from "kysely";
import type { ReportRecord } from "../../contract/report-schemas.ts";
import { iso } from "../../contract/v1/instant.ts";
import type { PlatformDb, PlatformTables } from "./tables.ts";

/** Position of a report in the listing: by creation, then id, both descending. */
export interface ReportPosition {
  readonly createdAtMs: number;
  readonly id: number;
}

export interface ReportFilters {
  readonly status?: string | undefined;
  readonly source?: string | undefined;
  readonly country?: string | undefined;
  readonly reportedBy?: string | undefined;
  /** For each of these, at least one proposal that was decided so. */
  readonly decisions: readonly string[];
  /** At least one proposal that this actor decided. */
  readonly reviewedBy?: string | undefined;
  /** At least one proposal in the queue, and not reported by the organization itself. */
  readonly isQueued: boolean;
  /** A proposal or a scan of such an asset. */
  readonly assetType?: string | undefined;
}

export interface ReportWalk {
  readonly organizationId: number;
  readonly filters: ReportFilters;
  /** Inclusive bounds of the creation time. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
  /** Only reports after this position. */
  readonly after: ReportPosition | null;
  /** Maximum number of reports. */
  readonly limit: number;
  /** Maximum number of reports to look at: bounds the time that one call blocks the event loop. */
  readonly mostSteps: number;
}

export interface WalkedReports {
  readonly positions: readonly ReportPosition[];
  /** The position to resume at if `mostSteps` was reached; null if the limit or the end was reached. */
  readonly resumeAfter: ReportPosition | null;
}

/** Walks an organization's reports by the index of their creation; returns those that match the filters. */
export async function walkReports(db: PlatformDb, walk: ReportWalk): Promise<WalkedReports> {
  const wanted = conditionsOf(walk.filters);
  const reports = inOrder(db, walk);
  if (wanted.length === 0) return { positions: await reports.limit(walk.limit).execute(), resumeAfter: null };
  const last = await reports
    .limit(1)
    .offset(walk.mostSteps - 1)
    .executeTakeFirst();
  const end = last ?? null;
  let query = reports.limit(walk.limit);
  if (end !== null)
    query = query.where(sql<boolean>`(reports.created_at_ms, reports.report_id) >= (${end.createdAtMs}, ${end.id})`);
  for (const condition of wanted) query = query.where(condition);
  const positions = await query.execute();
  return { positions, resumeAfter: positions.length >= walk.limit ? null : end };
}

function inOrder(db: PlatformDb, { organizationId, after, fromMs, toMs }: ReportWalk) {
  let query = db
    .selectFrom("reports")
    .select(["reports.createdAtMs", "reports.reportId as id"])
    .where("reports.organizationId", "=", organizationId)
    .orderBy("reports.createdAtMs", "desc")
    .orderBy("reports.reportId", "desc");
  if (fromMs !== null) query = query.where("reports.createdAtMs", ">=", fromMs);
  // The resume position lies within the bounds already; the index can use only one upper bound.
  if (after !== null)
    query = query.where(sql<boolean>`(reports.created_at_ms, reports.report_id) < (${after.createdAtMs}, ${after.id})`);
  else if (toMs !== null) query = query.where("reports.createdAtMs", "<=", toMs);
  return query;
}

function conditionsOf(filters: ReportFilters): readonly Expression<SqlBool>[] {
  const { status, source, country, reportedBy, decisions, reviewedBy, isQueued, assetType } = filters;
  return [
    ...(status === undefined ? [] : [sql<SqlBool>`reports.status = ${status}`]),
    ...(source === undefined ? [] : [sql<SqlBool>`reports.source = ${source}`]),
    ...(country === undefined ? [] : [sql<SqlBool>`reports.country = ${country}`]),
    ...(reportedBy === undefined ? [] : [sql<SqlBool>`reports.reporter_kind = ${reportedBy}`]),
    ...decisions.map((decision) => hasOne("proposals", sql`decision = ${decision}`)),
    ...(reviewedBy === undefined ? [] : [hasOne("proposals", sql`decided_by = ${reviewedBy}`)]),
    ...(isQueued ? [hasOne("proposals", sql`queue = 'queued'`), isOfAnother] : []),
    ...(assetType === undefined
      ? []
      : [sql<SqlBool>`(${hasOne("proposals", isOf(assetType))} or ${hasOne("scans", isOf(assetType))})`]),
  ];
}

/** PostgreSQL would turn an EXISTS into a join, and might read a whole table. */
function hasOne(table: "proposals" | "scans", condition: Expression<unknown>): Expression<SqlBool> {
  const own = sql.table(table);
  return sql`(
    select 1 from ${own} as own where own.report_id = reports.report_id and ${condition} limit 1) is not null`;
}

function isOf(assetType: string): Expression<unknown> {
  return sql`(select asset_type from assets where assets.asset_id = own.asset_id) = ${assetType}`;
}

const isOfAnother = sql<SqlBool>`(reports.reporter_organization is null or reports.reporter_organization <>
  (select slug from organizations where organizations.organization_id = reports.organization_id))`;

/** Returns the records of these reports as in the listing, in the order of `ids` (CONTRACT 9). */
export async function readRecords(db: PlatformDb, ids: readonly number[], nowMs: number): Promise<ReportRecord[]> {
  if (ids.length === 0) return [];
  const reports = await db
    .selectFrom("reports")
    .innerJoin("organizations", "organizations.organizationId", "reports.organizationId")
    .selectAll("reports")
    .select("organizations.slug")
    .where("reportId", "in", ids)
    .execute();
  const proposals = await db
    .selectFrom("proposals")
    .innerJoin("assets", "assets.assetId", "proposals.assetId")
    .select(["proposalId", "reportId", "decision", "decidedBy", "queue", ...assetColumns])
    .where("reportId", "in", ids)
    .orderBy("proposalId")
    .execute();
  const scans = await db
    .selectFrom("scans")
    .innerJoin("assets", "assets.assetId", "scans.assetId")
    .select(["scanId", "reportId", "scans.status", "atMs", ...assetColumns])
    .where("reportId", "in", ids)
    .orderBy("scanId")
    .execute();
  const byId = new Map(reports.map((report) => [report.reportId, report]));
  const proposalsOf = Map.groupBy(proposals, (row) => row.reportId);
  const scansOf = Map.groupBy(scans, (row) => row.reportId);
  return ids.flatMap((id) => {
    const report = byId.get(id);
    if (report === undefined) return [];
    const { slug, status, source, title, country, reporterKind, reporterName, reporterOrganization } = report;
    const ownProposals = proposalsOf.get(id) ?? [];
    const ownScans = scansOf.get(id) ?? [];
    const assets = new Map([...ownProposals, ...ownScans].map((row) => [row.assetId, assetOf(row)]));
    return {
      id,
      organization: { slug },
      createdAt: iso(report.createdAtMs),
      updatedAt: iso(report.updatedAtMs),
      status,
      source,
      title,
      reporter: { kind: reporterKind, name: reporterName, organization: reporterOrganization },
      country,
      sla: slaOf(report, nowMs),
      proposals: ownProposals.map(({ proposalId, decision, decidedBy, queue, ...row }) => ({
        id: proposalId,
        decision,
        decidedBy,
        needsCustomerReview: queue === "queued" && reporterOrganization !== slug,
        asset: assetOf(row),
      })),
      assets: [...assets.values()].toSorted((left, right) => left.id - right.id),
      scans: ownScans.map(({ scanId, assetId, status, atMs }) => ({ id: scanId, assetId, status, at: iso(atMs) })),
    };
  });
}

const assetColumns = ["assets.assetId", "assets.assetType", "assets.content", "assets.status as assetStatus"] as const;

function assetOf(
  row: Pick<PlatformTables["assets"], "assetId" | "assetType" | "content"> & {
    readonly assetStatus: PlatformTables["assets"]["status"];
  },
): ReportRecord["assets"][number] {
  return { id: row.assetId, type: row.assetType, content: row.content, status: row.assetStatus };
}

function slaOf(
  { slaDueAtMs, slaBreached, status }: Pick<PlatformTables["reports"], "slaDueAtMs" | "slaBreached" | "status">,
  nowMs: number,
): ReportRecord["sla"] {
  if (slaDueAtMs === null) return null;
  const breached = slaBreached === null ? nowMs > slaDueAtMs && status !== "CLOSED" : slaBreached === 1;
  return { dueAt: iso(slaDueAtMs), breached };
}
