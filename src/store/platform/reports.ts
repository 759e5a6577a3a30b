import type { ReportRecord } from "../../contract/report-record.ts";
import type { Actor, ProposalDecision, ReportSource, ReportStatus } from "../../contract/report-values.ts";

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

export interface PlatformReportStore {
  /**
   * Inserts or updates reports, proposals and scans by id, in the surrounding transaction, and updates the listing. A stored
   * report keeps its organization, a stored proposal its report.
   */
  upsert(reports: readonly ImportedReport[], nowMs: number): Promise<void>;
  /** Updates the listing's entries of these reports, in the surrounding transaction. */
  refresh(reportIds: readonly number[]): Promise<void>;
  /** Returns the reports that have proposals or scans of these assets. */
  withAssets(assetIds: readonly number[]): Promise<readonly number[]>;
  /** Reads reports of a listing from the index, in its order. */
  walk(walk: ReportWalk): Promise<WalkedReports>;
  /** Returns the records of these reports, in the order of `ids`; `nowMs` decides which SLA is breached. */
  records(ids: readonly number[], nowMs: number): Promise<readonly ReportRecord[]>;
  /** Returns a proposal. `isHeld` [false] locks it and its report until the surrounding transaction ends. */
  proposal(id: number, options?: { readonly isHeld?: boolean }): Promise<ProposalContext | null>;
  /** Returns the organization (slug) of each of these reports; missing ones are omitted. */
  organizationsOf(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** Returns the report of each of these proposals; missing ones are omitted. */
  reportsOfProposals(ids: readonly number[]): Promise<ReadonlyMap<number, number>>;
  /** Updates a proposal and its report's `updatedAt`, in the surrounding transaction, and the listing. */
  updateProposal(
    id: number,
    change: Partial<Pick<StoredProposal, "decision" | "decidedBy" | "queue" | "isResolved">>,
    nowMs: number,
  ): Promise<void>;
}
