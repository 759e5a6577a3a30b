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
import { readRecords } from "./report-records.ts";
import { walkReports, type ReportWalk, type WalkedReports } from "./report-walk.ts";
import type { Db } from "../tables.ts";

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

export interface ReportTables {
  readonly reports: {
    readonly reportId: number;
    readonly organizationId: number;
    readonly createdAtMs: number;
    readonly updatedAtMs: number;
    readonly status: string;
    readonly source: string;
    readonly country: string | null;
    readonly title: string | null;
    readonly reporterKind: string;
    readonly reporterName: string | null;
    /** Slug of the organization that the reporter belongs to. */
    readonly reporterOrganization: string | null;
    readonly slaDueAtMs: number | null;
    /** null: determined by the clock. */
    readonly slaBreached: number | null;
  };
  readonly proposals: {
    readonly proposalId: number;
    readonly reportId: number;
    readonly assetId: number;
    readonly decision: string | null;
    readonly decidedBy: string | null;
    readonly queue: string;
    readonly isResolved: number;
  };
  readonly scans: {
    readonly reportId: number;
    readonly scanId: number;
    readonly assetId: number;
    readonly status: string;
    readonly atMs: number;
  };
}

/** Creates the report store over `reports`, `proposals` and `scans`. */
export function createPlatformReportStore(db: Db) {
  async function upsert(reports: readonly ImportedReport[], nowMs: number): Promise<void> {
    for (const chunk of chunksOf(reports)) {
      await db
        .insertInto("reports")
        .values(chunk.map((report) => reportRow(report)))
        .onConflict((conflict) =>
          conflict.column("reportId").doUpdateSet((eb) => ({
            createdAtMs: eb.ref("excluded.createdAtMs"),
            status: eb.ref("excluded.status"),
            source: eb.ref("excluded.source"),
            country: eb.ref("excluded.country"),
            title: eb.ref("excluded.title"),
            reporterKind: eb.ref("excluded.reporterKind"),
            reporterName: eb.ref("excluded.reporterName"),
            reporterOrganization: eb.ref("excluded.reporterOrganization"),
            slaDueAtMs: eb.ref("excluded.slaDueAtMs"),
            slaBreached: eb.ref("excluded.slaBreached"),
            updatedAtMs: nowMs,
          })),
        )
        .execute();
      await upsertChildren(chunk);
      for (const { id, updatedAtMs } of chunk)
        if (updatedAtMs !== null)
          await db.updateTable("reports").set({ updatedAtMs: updatedAtMs }).where("reportId", "=", id).execute();
    }
  }

  async function upsertChildren(reports: readonly ImportedReport[]): Promise<void> {
    const proposals = reports.flatMap((report) => report.proposals.map((proposal) => proposalRow(report.id, proposal)));
    for (const chunk of chunksOf(proposals))
      await db
        .insertInto("proposals")
        .values(chunk)
        .onConflict((conflict) =>
          conflict.column("proposalId").doUpdateSet((eb) => ({
            assetId: eb.ref("excluded.assetId"),
            decision: eb.ref("excluded.decision"),
            decidedBy: eb.ref("excluded.decidedBy"),
            queue: eb.ref("excluded.queue"),
            isResolved: eb.ref("excluded.isResolved"),
          })),
        )
        .execute();
    const scans = reports.flatMap(({ id: reportId, scans }) =>
      scans.map(({ id, ...scan }) => ({ ...scan, reportId, scanId: id })),
    );
    for (const chunk of chunksOf(scans))
      await db
        .insertInto("scans")
        .values(chunk)
        .onConflict((conflict) =>
          conflict.columns(["reportId", "scanId"]).doUpdateSet((eb) => ({
            assetId: eb.ref("excluded.assetId"),
            status: eb.ref("excluded.status"),
            atMs: eb.ref("excluded.atMs"),
          })),
        )
        .execute();
  }

  return {
    /**
     * Inserts or updates reports, proposals and scans by id, in the surrounding transaction. A stored report keeps its
     * organization, a stored proposal its report.
     */
    upsert,
    /** Reads reports of a listing, in its order. */
    walk: (walk: ReportWalk): Promise<WalkedReports> => walkReports(db, walk),
    /** Returns the records of these reports, in the order of `ids`; `nowMs` decides which SLA is breached. */
    records: (ids: readonly number[], nowMs: number): Promise<readonly ReportRecord[]> => readRecords(db, ids, nowMs),
    /** Returns a proposal. */
    proposal: async (id: number): Promise<ProposalContext | null> => {
      const row = await db
        .selectFrom("proposals")
        .innerJoin("reports", "reports.reportId", "proposals.reportId")
        .innerJoin("organizations", "organizations.organizationId", "reports.organizationId")
        .selectAll("proposals")
        .select(["reports.organizationId", "reports.reporterOrganization", "organizations.slug"])
        .where("proposalId", "=", id)
        .executeTakeFirst();
      if (row === undefined) return null;
      return {
        ...storedProposal(row),
        reportId: row.reportId,
        organizationId: row.organizationId,
        isSelfReported: row.reporterOrganization === row.slug,
      };
    },
    /** Returns the organization (slug) of each of these reports; missing ones are omitted. */
    organizationsOf: async (ids: readonly number[]): Promise<ReadonlyMap<number, string>> => {
      const rows = await inChunks(ids, (some) =>
        db
          .selectFrom("reports")
          .innerJoin("organizations", "organizations.organizationId", "reports.organizationId")
          .select(["reportId", "slug"])
          .where("reportId", "in", some)
          .execute(),
      );
      return new Map(rows.map(({ reportId, slug }) => [reportId, slug]));
    },
    /** Returns the report of each of these proposals; missing ones are omitted. */
    reportsOfProposals: async (ids: readonly number[]): Promise<ReadonlyMap<number, number>> => {
      const rows = await inChunks(ids, (some) =>
        db.selectFrom("proposals").select(["proposalId", "reportId"]).where("proposalId", "in", some).execute(),
      );
      return new Map(rows.map(({ proposalId, reportId }) => [proposalId, reportId]));
    },
    /** Updates a proposal and its report's `updatedAt`, in the surrounding transaction. */
    updateProposal: async (
      id: number,
      { isResolved, ...rest }: Partial<Pick<StoredProposal, "decision" | "decidedBy" | "queue" | "isResolved">>,
      nowMs: number,
    ): Promise<void> => {
      const { reportId } = await db
        .updateTable("proposals")
        .set({ ...rest, ...(isResolved === undefined ? {} : { isResolved: isResolved ? 1 : 0 }) })
        .where("proposalId", "=", id)
        .returning("reportId")
        .executeTakeFirstOrThrow();
      await db
        .updateTable("reports")
        // A clock that was set back must not lower the report's updatedAt.
        .set({
          updatedAtMs: sql<number>`case when updated_at_ms > ${nowMs} then updated_at_ms else ${nowMs} end`,
        })
        .where("reportId", "=", reportId)
        .execute();
    },
  };
}

function reportRow(report: ImportedReport) {
  const breached = report.sla?.isBreached ?? null;
  return {
    reportId: report.id,
    organizationId: report.organizationId,
    createdAtMs: report.createdAtMs,
    updatedAtMs: report.updatedAtMs ?? report.createdAtMs,
    status: report.status,
    source: report.source,
    country: report.country,
    title: report.title,
    reporterKind: report.reporter.kind,
    reporterName: report.reporter.name,
    reporterOrganization: report.reporter.organization,
    slaDueAtMs: report.sla?.dueAtMs ?? null,
    slaBreached: breached === null ? null : Number(breached),
  };
}

function proposalRow(reportId: number, { id, isResolved, ...proposal }: StoredProposal): ReportTables["proposals"] {
  return { ...proposal, reportId, proposalId: id, isResolved: isResolved ? 1 : 0 };
}

function storedProposal(row: ReportTables["proposals"]): StoredProposal {
  return {
    id: row.proposalId,
    assetId: row.assetId,
    decision: proposalDecisions.find((decision) => decision === row.decision) ?? null,
    decidedBy: actors.find((actor) => actor === row.decidedBy) ?? null,
    queue: queueStates.find((state) => state === row.queue) ?? "none",
    isResolved: row.isResolved === 1,
  };
}
