import type { Kysely } from "kysely";
import { runStatements, type MigrationStatement } from "./statements.ts";

const statements: readonly MigrationStatement[] = [
  `CREATE TABLE organizations (organization_id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE, name TEXT)`,
  `CREATE TABLE brands (
     organization_id INTEGER NOT NULL REFERENCES organizations, brand_id INTEGER NOT NULL, name TEXT NOT NULL,
     PRIMARY KEY (organization_id, brand_id)) WITHOUT ROWID`,
  `CREATE TABLE api_keys (
     key_id TEXT PRIMARY KEY, key_sha256 TEXT NOT NULL UNIQUE, name TEXT NOT NULL, role TEXT NOT NULL,
     organizations TEXT NOT NULL, created_at_ms INTEGER NOT NULL, revoked_at_ms INTEGER) WITHOUT ROWID`,

  // Global: what one organization's review blocks is blocked for every organization.
  `CREATE TABLE assets (
     asset_id INTEGER PRIMARY KEY, asset_type TEXT NOT NULL, content TEXT NOT NULL, status TEXT NOT NULL,
     is_watchlisted INTEGER NOT NULL DEFAULT 0,
     UNIQUE (asset_type, content))`,
  // organization_id 0: the platform's own rule.
  `CREATE TABLE legitimacy_rules (
     rule_id INTEGER PRIMARY KEY, organization_id INTEGER NOT NULL, name TEXT NOT NULL, is_enabled INTEGER NOT NULL,
     UNIQUE (organization_id, name))`,
  `CREATE TABLE legitimacy_domains (
     domain TEXT NOT NULL, rule_id INTEGER NOT NULL REFERENCES legitimacy_rules ON DELETE CASCADE,
     includes_itself INTEGER NOT NULL,
     PRIMARY KEY (domain, rule_id, includes_itself)) WITHOUT ROWID`,
  `CREATE INDEX legitimacy_domains_by_rule ON legitimacy_domains (rule_id)`,

  // facet_ids is what report_facets holds of this report, as JSON: a change writes the difference only.
  `CREATE TABLE reports (
     report_id INTEGER PRIMARY KEY, organization_id INTEGER NOT NULL REFERENCES organizations,
     created_at_ms INTEGER NOT NULL, updated_at_ms INTEGER NOT NULL, status TEXT NOT NULL, source TEXT NOT NULL,
     country TEXT, title TEXT, reporter_kind TEXT NOT NULL, reporter_name TEXT, reporter_organization TEXT,
     sla_due_at_ms INTEGER, sla_breached INTEGER, facet_ids TEXT NOT NULL DEFAULT '[]')`,
  `CREATE TABLE proposals (
     proposal_id INTEGER PRIMARY KEY, report_id INTEGER NOT NULL REFERENCES reports, asset_id INTEGER NOT NULL REFERENCES assets,
     decision TEXT, decided_by TEXT, queue TEXT NOT NULL, is_resolved INTEGER NOT NULL)`,
  `CREATE INDEX proposals_by_report ON proposals (report_id)`,
  `CREATE INDEX proposals_by_asset ON proposals (asset_id)`,
  `CREATE TABLE scans (
     report_id INTEGER NOT NULL REFERENCES reports, scan_id INTEGER NOT NULL, asset_id INTEGER NOT NULL REFERENCES assets,
     status TEXT NOT NULL, at_ms INTEGER NOT NULL,
     PRIMARY KEY (report_id, scan_id)) WITHOUT ROWID`,
  `CREATE INDEX scans_by_asset ON scans (asset_id)`,
  `CREATE TABLE reviews (
     review_id INTEGER PRIMARY KEY AUTOINCREMENT, proposal_id INTEGER NOT NULL REFERENCES proposals,
     organization_id INTEGER NOT NULL REFERENCES organizations, origin TEXT NOT NULL, key_id TEXT,
     decision TEXT NOT NULL, label TEXT NOT NULL, brand_id INTEGER, comment TEXT NOT NULL,
     is_watchlisted INTEGER NOT NULL, created_at_ms INTEGER NOT NULL)`,
  `CREATE INDEX reviews_by_proposal ON reviews (proposal_id)`,
  // Those that count in the budget.
  `CREATE INDEX reviews_by_api ON reviews (organization_id, created_at_ms) WHERE origin = 'api'`,

  // The listing: one row for each thing that a filter may ask of a report, in the order of the pages.
  `CREATE TABLE facets (facet_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)`,
  `CREATE TABLE report_facets (
     organization_id INTEGER NOT NULL, facet_id INTEGER NOT NULL, created_at_ms INTEGER NOT NULL, report_id INTEGER NOT NULL,
     PRIMARY KEY (organization_id, facet_id, created_at_ms DESC, report_id DESC)) WITHOUT ROWID`,
  // How many reports have it: the rarest of several filters is the one to walk.
  `CREATE TABLE facet_counts (
     organization_id INTEGER NOT NULL, facet_id INTEGER NOT NULL, reports INTEGER NOT NULL,
     PRIMARY KEY (organization_id, facet_id)) WITHOUT ROWID`,
];

/** What API v2 is answered from: organizations, keys, assets, legitimacy rules, reports with their proposals, and reviews. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, statements);
}
