import type { ColumnType, Generated } from "kysely";

/** An integer primary key that the database generates. */
type RowId = ColumnType<number, number | undefined, never>;

export interface OrganizationRow {
  readonly organization_id: RowId;
  readonly slug: string;
  readonly name: string | null;
}

export interface ApiKeyRow {
  readonly key_id: string;
  readonly key_sha256: string;
  readonly name: string;
  readonly role: string;
  /** Slugs as a JSON array. */
  readonly organizations: string;
  readonly created_at_ms: number;
  readonly revoked_at_ms: number | null;
}

export interface AssetRow {
  readonly asset_id: number;
  readonly asset_type: string;
  readonly content: string;
  readonly status: string;
  readonly is_watchlisted: Generated<number>;
}

export interface ReportRow {
  readonly report_id: number;
  readonly organization_id: number;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly status: string;
  readonly source: string;
  readonly country: string | null;
  readonly title: string | null;
  readonly reporter_kind: string;
  readonly reporter_name: string | null;
  /** Slug of the organization that the reporter belongs to. */
  readonly reporter_organization: string | null;
  readonly sla_due_at_ms: number | null;
  /** null: determined by the clock. */
  readonly sla_breached: number | null;
  /** The report's entries in report_facets, as a JSON array. */
  readonly facet_ids: Generated<string>;
}

export interface ProposalRow {
  readonly proposal_id: number;
  readonly report_id: number;
  readonly asset_id: number;
  readonly decision: string | null;
  readonly decided_by: string | null;
  readonly queue: string;
  readonly is_resolved: number;
}

export interface ScanRow {
  readonly report_id: number;
  readonly scan_id: number;
  readonly asset_id: number;
  readonly status: string;
  readonly at_ms: number;
}

export interface ReviewRow {
  readonly review_id: RowId;
  readonly proposal_id: number;
  readonly organization_id: number;
  readonly origin: string;
  readonly key_id: string | null;
  readonly decision: string;
  readonly label: string;
  readonly brand_id: number | null;
  readonly comment: string;
  readonly is_watchlisted: number;
  readonly created_at_ms: number;
}

/** The tables behind API v2; src/store/engine/migrations/0001-initial.ts describes them. */
export interface PlatformTables {
  readonly organizations: OrganizationRow;
  readonly brands: { readonly organization_id: number; readonly brand_id: number; readonly name: string };
  readonly api_keys: ApiKeyRow;
  readonly assets: AssetRow;
  readonly legitimacy_rules: {
    readonly rule_id: RowId;
    /** 0: no organization. */
    readonly organization_id: number;
    readonly name: string;
    readonly is_enabled: number;
  };
  readonly legitimacy_domains: {
    readonly domain: string;
    readonly rule_id: number;
    readonly includes_itself: number;
  };
  readonly reports: ReportRow;
  readonly proposals: ProposalRow;
  readonly scans: ScanRow;
  readonly reviews: ReviewRow;
  readonly facets: { readonly facet_id: RowId; readonly name: string };
  readonly report_facets: {
    readonly organization_id: number;
    readonly facet_id: number;
    readonly created_at_ms: number;
    readonly report_id: number;
  };
  readonly facet_counts: {
    readonly organization_id: number;
    readonly facet_id: number;
    readonly reports: number;
  };
}
