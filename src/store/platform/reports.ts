import type { ReportRecord } from "../../contract/report-record.ts";
import type { Actor, ProposalDecision, ReportSource, ReportStatus } from "../../contract/report-values.ts";

/** Where a proposal stands in the customer review queue (CONTRACT 9): escalated, and answered or escalated back. */
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

/** A report as an import states it. */
export interface ReportStatement {
  readonly id: number;
  readonly organizationId: number;
  readonly createdAtMs: number;
  /** null: the creation when it is new, else the time of the import. */
  readonly updatedAtMs: number | null;
  readonly status: ReportStatus;
  readonly source: ReportSource;
  /** Two upper-case letters. */
  readonly country: string | null;
  readonly title: string | null;
  readonly reporter: ReportRecord["reporter"];
  /** `isBreached` null: when it is due and the report not closed. */
  readonly sla: { readonly dueAtMs: number; readonly isBreached: boolean | null } | null;
  readonly proposals: readonly StoredProposal[];
  readonly scans: readonly {
    readonly id: number;
    readonly assetId: number;
    readonly status: string;
    readonly atMs: number;
  }[];
}

/** A proposal with what the rules of a review ask about it. */
export interface ProposalContext extends StoredProposal {
  readonly reportId: number;
  readonly organizationId: number;
  /** Slug of the reporter's organization is that of the report. */
  readonly isSelfReported: boolean;
}

/** Place of a report in the order of the listing: by creation, then id, both descending. */
export interface ReportPosition {
  readonly createdAtMs: number;
  readonly id: number;
}

export interface ReportWalk {
  readonly organizationId: number;
  /** What the reports must have, as store/platform/facets.ts names it; none: all reports. */
  readonly facets: readonly string[];
  /** Inclusive bounds of the creation. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
  /** Only reports behind this place. */
  readonly after: ReportPosition | null;
  /** Reports wanted. */
  readonly limit: number;
  /** Index entries to look at, at most: bounds how long one call holds the event loop. */
  readonly mostSteps: number;
}

export interface WalkedReports {
  readonly positions: readonly ReportPosition[];
  /** Where to go on when the steps were used up first; null when the limit or the end was reached. */
  readonly resumeAfter: ReportPosition | null;
}

export interface PlatformReportStore {
  /**
   * Inserts or overwrites reports, proposals and scans by id, in the surrounding transaction, and keeps the listing current.
   * A stored report stays with its organization, a stored proposal with its report.
   */
  upsert(reports: readonly ReportStatement[], nowMs: number): Promise<void>;
  /** Brings the listing's entries of these reports up to what is stored of them, in the surrounding transaction. */
  refresh(reportIds: readonly number[]): Promise<void>;
  /** The reports that have proposals or scans of these assets. */
  withAssets(assetIds: readonly number[]): Promise<readonly number[]>;
  /** Reports of a listing from the index, in its order. */
  walk(walk: ReportWalk): Promise<WalkedReports>;
  /** The records of these reports, in the order of `ids`; `nowMs` decides which SLA is breached. */
  records(ids: readonly number[], nowMs: number): Promise<readonly ReportRecord[]>;
  /** `isHeld` [false]: it stays as it is, and its report, until the surrounding transaction ends. */
  proposal(id: number, options?: { readonly isHeld?: boolean }): Promise<ProposalContext | null>;
  /** The organization (slug) that each of these reports is of; those that do not exist are left out. */
  organizationsOf(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** The report that each of these proposals belongs to; those that do not exist are left out. */
  reportsOfProposals(ids: readonly number[]): Promise<ReadonlyMap<number, number>>;
  /** Changes a proposal and its report's `updatedAt`, in the surrounding transaction, and keeps the listing current. */
  updateProposal(
    id: number,
    change: Partial<Pick<StoredProposal, "decision" | "decidedBy" | "queue" | "isResolved">>,
    nowMs: number,
  ): Promise<void>;
}
