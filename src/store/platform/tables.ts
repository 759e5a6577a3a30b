import type { Generated } from "kysely";
import type { Actor, ProposalDecision, ReportSource, ReportStatus } from "../../contract/reports.ts";
import type { Db, RowId } from "../tables.ts";

/** `staff` keys read; only `customer` keys review (CONTRACT 9, check 4). */
export const keyRoles = ["customer", "staff"] as const;
export type KeyRole = (typeof keyRoles)[number];

export const assetStatuses = ["UNKNOWN", "BLOCKED", "ALLOWED"] as const;
export type AssetStatus = (typeof assetStatuses)[number];

/** State of a proposal in the customer review queue (CONTRACT 9): escalated, and answered or escalated again. */
export const queueStates = ["none", "queued", "answered"] as const;
export type QueueState = (typeof queueStates)[number];

/**
 * The tables behind API v2 (engine/migrations/0001-initial.ts). What is one of a closed set was validated when it was
 * imported; flags are 0 or 1.
 */
export interface PlatformTables {
  readonly organizations: { readonly organizationId: RowId; readonly slug: string; readonly name: string | null };
  readonly brands: { readonly organizationId: number; readonly brandId: number; readonly name: string };
  readonly api_keys: {
    readonly keyId: string;
    readonly keySha256: string;
    readonly name: string;
    readonly role: KeyRole;
    /** A JSON array of slugs. */
    readonly organizations: string;
    readonly createdAtMs: number;
    readonly revokedAtMs: number | null;
  };
  readonly assets: {
    readonly assetId: number;
    readonly assetType: string;
    readonly content: string;
    readonly status: AssetStatus;
    readonly isWatchlisted: Generated<number>;
  };
  readonly legitimacy_rules: {
    readonly ruleId: RowId;
    /** 0: no organization. */
    readonly organizationId: number;
    readonly name: string;
    readonly isEnabled: number;
  };
  readonly legitimacy_domains: { readonly domain: string; readonly ruleId: number; readonly includesItself: number };
  readonly reports: {
    readonly reportId: number;
    readonly organizationId: number;
    readonly createdAtMs: number;
    readonly updatedAtMs: number;
    readonly status: ReportStatus;
    readonly source: ReportSource;
    /** Two upper-case letters. */
    readonly country: string | null;
    readonly title: string | null;
    readonly reporterKind: Actor;
    readonly reporterName: string | null;
    /** Slug of the organization that the reporter belongs to. */
    readonly reporterOrganization: string | null;
    readonly slaDueAtMs: number | null;
    /** null: when it is due and the report is not closed. */
    readonly slaBreached: number | null;
  };
  readonly proposals: {
    readonly proposalId: number;
    readonly reportId: number;
    readonly assetId: number;
    readonly decision: ProposalDecision | null;
    readonly decidedBy: Actor | null;
    readonly queue: QueueState;
    readonly isResolved: number;
  };
  readonly scans: {
    readonly reportId: number;
    readonly scanId: number;
    readonly assetId: number;
    readonly status: string;
    readonly atMs: number;
  };
  readonly reviews: {
    readonly reviewId: RowId;
    readonly proposalId: number;
    readonly organizationId: number;
    /** Only those by API count in the budget (CONTRACT 9, check 13). */
    readonly origin: "api" | "application";
    /** Key of the review; null in the application, and in process. */
    readonly keyId: string | null;
    /** WATCHLIST is stored as REJECT. */
    readonly decision: "APPROVE" | "REJECT";
    /** "" without one. */
    readonly label: string;
    readonly brandId: number | null;
    readonly comment: string;
    readonly isWatchlisted: number;
    readonly createdAtMs: number;
  };
}

export type PlatformDb = Db<PlatformTables>;
