import type { ReportRecord } from "../../contract/report-record.ts";
import { actors, proposalDecisions, reportStatuses, type ReportSource } from "../../contract/report-values.ts";
import { storedAsset, type Asset } from "./assets.ts";
import type { ReportRow } from "./rows.ts";
import type { Db } from "../schema.ts";

const assetColumns = [
  "assets.asset_id",
  "assets.asset_type",
  "assets.content",
  "assets.status as asset_status",
] as const;

/** Returns the records of these reports as in the listing, in the order of `ids` (CONTRACT 9). */
export async function readRecords(db: Db, ids: readonly number[], nowMs: number): Promise<ReportRecord[]> {
  if (ids.length === 0) return [];
  const reports = await reportsWithSlug(db, ids);
  const proposals = await db
    .selectFrom("proposals")
    .innerJoin("assets", "assets.asset_id", "proposals.asset_id")
    .select(["proposal_id", "report_id", "decision", "decided_by", "queue", ...assetColumns])
    .where("report_id", "in", ids)
    .orderBy("proposal_id")
    .execute();
  const scans = await db
    .selectFrom("scans")
    .innerJoin("assets", "assets.asset_id", "scans.asset_id")
    .select(["scan_id", "report_id", "scans.status", "at_ms", ...assetColumns])
    .where("report_id", "in", ids)
    .orderBy("scan_id")
    .execute();
  const byId = new Map(reports.map((report) => [report.report_id, report]));
  const proposalsOf = Map.groupBy(proposals, (row) => row.report_id);
  const scansOf = Map.groupBy(scans, (row) => row.report_id);
  return ids.flatMap((id) => {
    const report = byId.get(id);
    if (report === undefined) return [];
    const ownProposals = proposalsOf.get(id) ?? [];
    const ownScans = scansOf.get(id) ?? [];
    const isSelfReported = report.reporter_organization === report.slug;
    return {
      id,
      organization: { slug: report.slug },
      createdAt: iso(report.created_at_ms),
      updatedAt: iso(report.updated_at_ms),
      status: reportStatuses.find((status) => status === report.status) ?? "TODO",
      // Validated by the import.
      source: report.source as ReportSource,
      title: report.title,
      reporter: {
        kind: actors.find((actor) => actor === report.reporter_kind) ?? "automation",
        name: report.reporter_name,
        organization: report.reporter_organization,
      },
      country: report.country,
      sla: slaOf(report, nowMs),
      proposals: ownProposals.map((row) => ({
        id: row.proposal_id,
        decision: proposalDecisions.find((decision) => decision === row.decision) ?? null,
        decidedBy: actors.find((actor) => actor === row.decided_by) ?? null,
        needsCustomerReview: row.queue === "queued" && !isSelfReported,
        asset: storedAsset(row),
      })),
      assets: distinctAssets([...ownProposals, ...ownScans].map((row) => storedAsset(row))),
      scans: ownScans.map((row) => ({
        id: row.scan_id,
        assetId: row.asset_id,
        status: row.status,
        at: iso(row.at_ms),
      })),
    };
  });
}

function slaOf(
  report: Pick<ReportRow, "sla_due_at_ms" | "sla_breached" | "status">,
  nowMs: number,
): ReportRecord["sla"] {
  if (report.sla_due_at_ms === null) return null;
  const isOverdue = nowMs > report.sla_due_at_ms && report.status !== "CLOSED";
  const breached = report.sla_breached === null ? isOverdue : report.sla_breached === 1;
  return { dueAt: iso(report.sla_due_at_ms), breached };
}

function distinctAssets(assets: readonly Asset[]): Asset[] {
  return [...new Map(assets.map((asset) => [asset.id, asset])).values()].toSorted((left, right) => left.id - right.id);
}

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** Returns the rows of these reports with the slugs of their organizations, in no order. */
export function reportsWithSlug(db: Db, ids: readonly number[]) {
  return db
    .selectFrom("reports")
    .innerJoin("organizations", "organizations.organization_id", "reports.organization_id")
    .selectAll("reports")
    .select("organizations.slug")
    .where("report_id", "in", ids)
    .execute();
}
