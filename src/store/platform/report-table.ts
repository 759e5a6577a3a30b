import { sql } from "kysely";
import { actors, proposalDecisions } from "../../contract/report-values.ts";
import { chunksOf } from "../engine/chunks.ts";
import { engineOf } from "../engine/engine.ts";
import { walkFacets } from "./facet-table.ts";
import { queueStates, type PlatformReportStore, type ImportedReport, type StoredProposal } from "./reports.ts";
import type { ProposalRow } from "./rows.ts";
import { refreshFacets } from "./report-refresh.ts";
import { readRecords } from "./report-records.ts";
import type { Db } from "../schema.ts";

/** Creates the report store over `reports`, `proposals` and `scans`, with the listing's index. */
export function createPlatformReportStore(db: Db): PlatformReportStore {
  async function upsert(reports: readonly ImportedReport[], nowMs: number): Promise<void> {
    for (const chunk of chunksOf(reports)) {
      await db
        .insertInto("reports")
        .values(chunk.map((report) => reportRow(report)))
        .onConflict((conflict) =>
          // The index is ordered by creation time: refreshFacets changes both.
          conflict.column("report_id").doUpdateSet((eb) => ({
            status: eb.ref("excluded.status"),
            source: eb.ref("excluded.source"),
            country: eb.ref("excluded.country"),
            title: eb.ref("excluded.title"),
            reporter_kind: eb.ref("excluded.reporter_kind"),
            reporter_name: eb.ref("excluded.reporter_name"),
            reporter_organization: eb.ref("excluded.reporter_organization"),
            sla_due_at_ms: eb.ref("excluded.sla_due_at_ms"),
            sla_breached: eb.ref("excluded.sla_breached"),
            updated_at_ms: nowMs,
          })),
        )
        .execute();
      await upsertChildren(chunk);
      for (const { id, updatedAtMs } of chunk)
        if (updatedAtMs !== null)
          await db.updateTable("reports").set({ updated_at_ms: updatedAtMs }).where("report_id", "=", id).execute();
      await refreshFacets(
        db,
        chunk.map(({ id }) => id),
        new Map(chunk.map(({ id, createdAtMs }) => [id, createdAtMs])),
      );
    }
  }

  async function upsertChildren(reports: readonly ImportedReport[]): Promise<void> {
    const proposals = reports.flatMap((report) => report.proposals.map((proposal) => proposalRow(report.id, proposal)));
    for (const chunk of chunksOf(proposals))
      await db
        .insertInto("proposals")
        .values(chunk)
        .onConflict((conflict) =>
          conflict.column("proposal_id").doUpdateSet((eb) => ({
            asset_id: eb.ref("excluded.asset_id"),
            decision: eb.ref("excluded.decision"),
            decided_by: eb.ref("excluded.decided_by"),
            queue: eb.ref("excluded.queue"),
            is_resolved: eb.ref("excluded.is_resolved"),
          })),
        )
        .execute();
    const scans = reports.flatMap(({ id: report_id, scans }) =>
      scans.map(({ id, assetId, status, atMs }) => ({
        report_id,
        scan_id: id,
        asset_id: assetId,
        status,
        at_ms: atMs,
      })),
    );
    for (const chunk of chunksOf(scans))
      await db
        .insertInto("scans")
        .values(chunk)
        .onConflict((conflict) =>
          conflict.columns(["report_id", "scan_id"]).doUpdateSet((eb) => ({
            asset_id: eb.ref("excluded.asset_id"),
            status: eb.ref("excluded.status"),
            at_ms: eb.ref("excluded.at_ms"),
          })),
        )
        .execute();
  }

  async function withAssets(assetIds: readonly number[]): Promise<readonly number[]> {
    const found = new Set<number>();
    for (const chunk of chunksOf(assetIds))
      for (const table of ["proposals", "scans"] as const) {
        const rows = await db.selectFrom(table).select("report_id").distinct().where("asset_id", "in", chunk).execute();
        for (const { report_id } of rows) found.add(report_id);
      }
    return [...found];
  }

  return {
    upsert,
    withAssets,
    refresh: (reportIds) => refreshFacets(db, reportIds),
    walk: (walk) => walkFacets(db, walk),
    records: (ids, nowMs) => readRecords(db, ids, nowMs),
    proposal: async (id, { isHeld = false } = {}) => {
      const found = db
        .selectFrom("proposals")
        .innerJoin("reports", "reports.report_id", "proposals.report_id")
        .innerJoin("organizations", "organizations.organization_id", "reports.organization_id")
        .selectAll("proposals")
        .select(["reports.organization_id", "reports.reporter_organization", "organizations.slug"])
        .where("proposal_id", "=", id);
      const isShared = engineOf(db) === "postgres";
      const row = await (isHeld && isShared ? found.forUpdate(["reports", "proposals"]) : found).executeTakeFirst();
      if (row === undefined) return null;
      return {
        ...storedProposal(row),
        reportId: row.report_id,
        organizationId: row.organization_id,
        isSelfReported: row.reporter_organization === row.slug,
      };
    },
    organizationsOf: async (ids) => {
      const found = new Map<number, string>();
      for (const chunk of chunksOf(ids)) {
        const rows = await db
          .selectFrom("reports")
          .innerJoin("organizations", "organizations.organization_id", "reports.organization_id")
          .select(["report_id", "slug"])
          .where("report_id", "in", chunk)
          .execute();
        for (const { report_id, slug } of rows) found.set(report_id, slug);
      }
      return found;
    },
    reportsOfProposals: async (ids) => {
      const found = new Map<number, number>();
      for (const chunk of chunksOf(ids)) {
        const rows = await db
          .selectFrom("proposals")
          .select(["proposal_id", "report_id"])
          .where("proposal_id", "in", chunk)
          .execute();
        for (const { proposal_id, report_id } of rows) found.set(proposal_id, report_id);
      }
      return found;
    },
    updateProposal: async (id, change, nowMs) => {
      const { report_id } = await db
        .updateTable("proposals")
        .set({
          ...(change.decision === undefined ? {} : { decision: change.decision }),
          ...(change.decidedBy === undefined ? {} : { decided_by: change.decidedBy }),
          ...(change.queue === undefined ? {} : { queue: change.queue }),
          ...(change.isResolved === undefined ? {} : { is_resolved: change.isResolved ? 1 : 0 }),
        })
        .where("proposal_id", "=", id)
        .returning("report_id")
        .executeTakeFirstOrThrow();
      await db
        .updateTable("reports")
        // A clock that was set back must not lower the report's updatedAt.
        .set({
          updated_at_ms: sql<number>`case when updated_at_ms > ${nowMs} then updated_at_ms else ${nowMs} end`,
        })
        .where("report_id", "=", report_id)
        .execute();
      await refreshFacets(db, [report_id]);
    },
  };
}

function reportRow(report: ImportedReport) {
  const breached = report.sla?.isBreached ?? null;
  return {
    report_id: report.id,
    organization_id: report.organizationId,
    created_at_ms: report.createdAtMs,
    updated_at_ms: report.updatedAtMs ?? report.createdAtMs,
    status: report.status,
    source: report.source,
    country: report.country,
    title: report.title,
    reporter_kind: report.reporter.kind,
    reporter_name: report.reporter.name,
    reporter_organization: report.reporter.organization,
    sla_due_at_ms: report.sla?.dueAtMs ?? null,
    sla_breached: breached === null ? null : Number(breached),
  };
}

function proposalRow(reportId: number, proposal: StoredProposal): ProposalRow {
  return {
    proposal_id: proposal.id,
    report_id: reportId,
    asset_id: proposal.assetId,
    decision: proposal.decision,
    decided_by: proposal.decidedBy,
    queue: proposal.queue,
    is_resolved: proposal.isResolved ? 1 : 0,
  };
}

function storedProposal(row: ProposalRow): StoredProposal {
  return {
    id: row.proposal_id,
    assetId: row.asset_id,
    decision: proposalDecisions.find((decision) => decision === row.decision) ?? null,
    decidedBy: actors.find((actor) => actor === row.decided_by) ?? null,
    queue: queueStates.find((state) => state === row.queue) ?? "none",
    isResolved: row.is_resolved === 1,
  };
}
