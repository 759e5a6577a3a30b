import type { ReportRecord } from "../../contract/report-record.ts";
import { actors, proposalDecisions, reportStatuses, type ReportSource } from "../../contract/report-values.ts";
import { iso } from "../../contract/v1/instant.ts";
import { storedAsset, type Asset } from "./assets.ts";
import type { ReportTables } from "./reports.ts";
import type { Db } from "../tables.ts";

const assetColumns = ["assets.assetId", "assets.assetType", "assets.content", "assets.status as assetStatus"] as const;

/** Returns the records of these reports as in the listing, in the order of `ids` (CONTRACT 9). */
export async function readRecords(db: Db, ids: readonly number[], nowMs: number): Promise<ReportRecord[]> {
  if (ids.length === 0) return [];
  const reports = await reportsWithSlug(db, ids);
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
    const ownProposals = proposalsOf.get(id) ?? [];
    const ownScans = scansOf.get(id) ?? [];
    const isSelfReported = report.reporterOrganization === report.slug;
    return {
      id,
      organization: { slug: report.slug },
      createdAt: iso(report.createdAtMs),
      updatedAt: iso(report.updatedAtMs),
      status: reportStatuses.find((status) => status === report.status) ?? "TODO",
      // Validated by the import.
      source: report.source as ReportSource,
      title: report.title,
      reporter: {
        kind: actors.find((actor) => actor === report.reporterKind) ?? "automation",
        name: report.reporterName,
        organization: report.reporterOrganization,
      },
      country: report.country,
      sla: slaOf(report, nowMs),
      proposals: ownProposals.map((row) => ({
        id: row.proposalId,
        decision: proposalDecisions.find((decision) => decision === row.decision) ?? null,
        decidedBy: actors.find((actor) => actor === row.decidedBy) ?? null,
        needsCustomerReview: row.queue === "queued" && !isSelfReported,
        asset: storedAsset(row),
      })),
      assets: distinctAssets([...ownProposals, ...ownScans].map((row) => storedAsset(row))),
      scans: ownScans.map((row) => ({
        id: row.scanId,
        assetId: row.assetId,
        status: row.status,
        at: iso(row.atMs),
      })),
    };
  });
}

function slaOf(
  report: Pick<ReportTables["reports"], "slaDueAtMs" | "slaBreached" | "status">,
  nowMs: number,
): ReportRecord["sla"] {
  if (report.slaDueAtMs === null) return null;
  const isOverdue = nowMs > report.slaDueAtMs && report.status !== "CLOSED";
  const breached = report.slaBreached === null ? isOverdue : report.slaBreached === 1;
  return { dueAt: iso(report.slaDueAtMs), breached };
}

function distinctAssets(assets: readonly Asset[]): Asset[] {
  return [...new Map(assets.map((asset) => [asset.id, asset])).values()].toSorted((left, right) => left.id - right.id);
}

/** Returns the rows of these reports with the slugs of their organizations, in no order. */
export function reportsWithSlug(db: Db, ids: readonly number[]) {
  return db
    .selectFrom("reports")
    .innerJoin("organizations", "organizations.organizationId", "reports.organizationId")
    .selectAll("reports")
    .select("organizations.slug")
    .where("reportId", "in", ids)
    .execute();
}
