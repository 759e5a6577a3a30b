import { sql } from "kysely";

import type { ReportRecord } from "../../contract/report-record.ts";
import {
  type Actor,
  type ProposalDecision,
  type ReportSource,
  type ReportStatus,
  actors,
  proposalDecisions,
} from "../../contract/report-values.ts";
import { chunksOf, inChunks } from "../engine/chunks.ts";
import { dialectOf } from "../engine/dialect.ts";
import { walkFacets } from "./facet-table.ts";
import type { ProposalRow } from "./rows.ts";
import { refreshFacets } from "./report-refresh.ts";
import { readRecords } from "./report-records.ts";
import type { Db } from "../schema.ts";

/** State of a proposal in the customer review queue (CONTRACT 9): escalated, and answered or escalated again. */
export const queueStates = ["none", "queued", "answered"] as const;
export type QueueState = (typeof queueStates)[number];

export interface StoredProposal {
  readonly id: number;
  readonly assetId: number;
  readonly decision: ProposalDecision | null;
  readonly decidedBy: Actor | null;
  readonly queue: QueueState;
  readonly isResolved: boolean;
}

/** A report of an import. */
export interface ImportedReport {
  readonly id: number;
  readonly organizationId: number;
  readonly createdAtMs: number;
  /** null: the creation time of a new report, otherwise the time of the import. */
  readonly updatedAtMs: number | null;
  readonly status: ReportStatus;
  readonly source: ReportSource;
  /** Two upper-case letters. */
  readonly country: string | null;
  readonly title: string | null;
  readonly reporter: ReportRecord["reporter"];
  /** `isBreached` null: breached when it is due and the report is not closed. */
  readonly sla: { readonly dueAtMs: number; readonly isBreached: boolean | null } | null;
  readonly proposals: readonly StoredProposal[];
  readonly scans: readonly {
    readonly id: number;
    readonly assetId: number;
    readonly status: string;
    readonly atMs: number;
  }[];
}

/** A proposal with the facts that the rules of a review need. */
export interface ProposalContext extends StoredProposal {
  readonly reportId: number;
  readonly organizationId: number;
  /** Whether the reporter's organization is the report's organization. */
  readonly isSelfReported: boolean;
}

/** Position of a report in the listing: by creation, then id, both descending. */
export interface ReportPosition {
  readonly createdAtMs: number;
  readonly id: number;
}

export interface ReportWalk {
  readonly organizationId: number;
  /** The facets that reports must have (store/platform/facets.ts); empty: all reports. */
  readonly facets: readonly string[];
  /** Inclusive bounds of the creation time. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
  /** Only reports after this position. */
  readonly after: ReportPosition | null;
  /** Maximum number of reports. */
  readonly limit: number;
  /** Maximum number of index entries to read: bounds the time that one call blocks the event loop. */
  readonly mostSteps: number;
}

export interface WalkedReports {
  readonly positions: readonly ReportPosition[];
  /** The position to resume at if `mostSteps` was reached; null if the limit or the end was reached. */
  readonly resumeAfter: ReportPosition | null;
}

export type PlatformReportStore = ReturnType<typeof createPlatformReportStore>;

/** Creates the report store over `reports`, `proposals` and `scans`, with the listing's index. */
export function createPlatformReportStore(db: Db) {
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
    const having = (table: "proposals" | "scans") =>
      inChunks(assetIds, (some) =>
        db.selectFrom(table).select("report_id").distinct().where("asset_id", "in", some).execute(),
      );
    const rows = [...(await having("proposals")), ...(await having("scans"))];
    return [...new Set(rows.map(({ report_id }) => report_id))];
  }

  return {
    /**
     * Inserts or updates reports, proposals and scans by id, in the surrounding transaction, and updates the listing. A stored
     * report keeps its organization, a stored proposal its report.
     */
    upsert,
    /** Returns the reports that have proposals or scans of these assets. */
    withAssets,
    /** Updates the listing's entries of these reports, in the surrounding transaction. */
    refresh: (reportIds: readonly number[]): Promise<void> => refreshFacets(db, reportIds),
    /** Reads reports of a listing from the index, in its order. */
    walk: (walk: ReportWalk): Promise<WalkedReports> => walkFacets(db, walk),
    /** Returns the records of these reports, in the order of `ids`; `nowMs` decides which SLA is breached. */
    records: (ids: readonly number[], nowMs: number): Promise<readonly ReportRecord[]> => readRecords(db, ids, nowMs),
    /** Returns a proposal. `isHeld` [false] locks it and its report until the surrounding transaction ends. */
    proposal: async (
      id: number,
      { isHeld = false }: { readonly isHeld?: boolean } = {},
    ): Promise<ProposalContext | null> => {
      const found = db
        .selectFrom("proposals")
        .innerJoin("reports", "reports.report_id", "proposals.report_id")
        .innerJoin("organizations", "organizations.organization_id", "reports.organization_id")
        .selectAll("proposals")
        .select(["reports.organization_id", "reports.reporter_organization", "organizations.slug"])
        .where("proposal_id", "=", id);
      const mustLock = isHeld && dialectOf(db).hasConcurrentWriters;
      const row = await found.$if(mustLock, (rows) => rows.forUpdate(["reports", "proposals"])).executeTakeFirst();
      if (row === undefined) return null;
      return {
        ...storedProposal(row),
        reportId: row.report_id,
        organizationId: row.organization_id,
        isSelfReported: row.reporter_organization === row.slug,
      };
    },
    /** Returns the organization (slug) of each of these reports; missing ones are omitted. */
    organizationsOf: async (ids: readonly number[]): Promise<ReadonlyMap<number, string>> => {
      const rows = await inChunks(ids, (some) =>
        db
          .selectFrom("reports")
          .innerJoin("organizations", "organizations.organization_id", "reports.organization_id")
          .select(["report_id", "slug"])
          .where("report_id", "in", some)
          .execute(),
      );
      return new Map(rows.map(({ report_id, slug }) => [report_id, slug]));
    },
    /** Returns the report of each of these proposals; missing ones are omitted. */
    reportsOfProposals: async (ids: readonly number[]): Promise<ReadonlyMap<number, number>> => {
      const rows = await inChunks(ids, (some) =>
        db.selectFrom("proposals").select(["proposal_id", "report_id"]).where("proposal_id", "in", some).execute(),
      );
      return new Map(rows.map(({ proposal_id, report_id }) => [proposal_id, report_id]));
    },
    /** Updates a proposal and its report's `updatedAt`, in the surrounding transaction, and the listing. */
    updateProposal: async (
      id: number,
      change: Partial<Pick<StoredProposal, "decision" | "decidedBy" | "queue" | "isResolved">>,
      nowMs: number,
    ): Promise<void> => {
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
