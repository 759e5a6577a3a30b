import { sql, type Kysely } from "kysely";
import { dialectOf } from "../dialect.ts";

/** Liveness events with their rollups (CONTRACT 10). */
const events: readonly string[] = [
  // Dictionaries: an event refers to its organization, type and status by a small integer. An organization stays here
  // when eventRetention has deleted all of its events.
  `CREATE TABLE event_slugs (slug_id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE)`,
  `CREATE TABLE event_asset_types (type_id INTEGER PRIMARY KEY, asset_type TEXT NOT NULL UNIQUE)`,
  `CREATE TABLE event_statuses (status_id INTEGER PRIMARY KEY, status TEXT NOT NULL UNIQUE)`,
  // The first one is 1, the deadStatusId of src/store/events/rules.ts: the status that counts as a death.
  `INSERT INTO event_statuses (status) VALUES ('DETECTED_AS_DEAD')`,

  // Every event. ordinal: the order of arrival over all organizations. type_id 0: none.
  `CREATE TABLE events (
     slug_id INTEGER NOT NULL, at_ms INTEGER NOT NULL, ordinal INTEGER NOT NULL, type_id INTEGER NOT NULL,
     status_id INTEGER NOT NULL, count INTEGER NOT NULL, asset TEXT, id TEXT, digest INTEGER,
     attribute_set_id INTEGER, PRIMARY KEY (slug_id, at_ms, ordinal)) WITHOUT ROWID`,
  // An event is known by its id, or by its instant and a digest of its content (store/events/add.ts).
  `CREATE UNIQUE INDEX events_by_id ON events (slug_id, id) WHERE id IS NOT NULL`,
  `CREATE UNIQUE INDEX events_by_digest ON events (slug_id, at_ms, digest) WHERE digest IS NOT NULL`,
  `CREATE TABLE event_counter (next_ordinal INTEGER NOT NULL)`,
  `INSERT INTO event_counter VALUES (0)`,
  // Deaths only. minute and hour are at_ms divided by their length, rounded down.
  `CREATE TABLE event_minutes (
     slug_id INTEGER NOT NULL, minute INTEGER NOT NULL, type_id INTEGER NOT NULL, deaths INTEGER NOT NULL,
     PRIMARY KEY (slug_id, minute, type_id)) WITHOUT ROWID`,
  `CREATE TABLE event_hours (
     slug_id INTEGER NOT NULL, hour INTEGER NOT NULL, type_id INTEGER NOT NULL, deaths INTEGER NOT NULL,
     PRIMARY KEY (slug_id, hour, type_id)) WITHOUT ROWID`,

  // A set of attributes of an organization as a JSON object, names in order; an event refers to it by a small integer.
  // last_day: that of its latest event, in days since the epoch.
  `CREATE TABLE event_attribute_sets (
     attribute_set_id INTEGER PRIMARY KEY, slug_id INTEGER NOT NULL, attributes TEXT NOT NULL,
     last_day INTEGER NOT NULL, UNIQUE (slug_id, attributes))`,
  // Imports that have begun and not ended, and their organizations.
  `CREATE TABLE event_imports (
     import_id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, row_count INTEGER NOT NULL,
     received INTEGER NOT NULL, started_at_ms INTEGER NOT NULL, renewed_at_ms INTEGER NOT NULL)`,
  `CREATE TABLE event_import_slugs (
     import_id INTEGER NOT NULL, slug TEXT NOT NULL, PRIMARY KEY (import_id, slug)) WITHOUT ROWID`,
];

/** The writer, and the results of runs. */
const runs: readonly string[] = [
  // The process that writes. The epoch is a key, so that a renewal, which does not change it, waits for no transaction
  // that holds it (FOR KEY SHARE), and a takeover waits for each.
  `CREATE TABLE writer (epoch INTEGER PRIMARY KEY, holder TEXT NOT NULL, expires_at_ms INTEGER NOT NULL)`,
  `INSERT INTO writer (epoch, holder, expires_at_ms) VALUES (0, '', 0)`,
  // A check of an organization with its last state; its number is permanent, because the history outlives the
  // configuration. report is the last run's, as JSON; last_result the last one with a result, if that has none.
  `CREATE TABLE checks (
     check_id INTEGER PRIMARY KEY, check_name TEXT NOT NULL, slug TEXT NOT NULL, due_at_ms INTEGER, is_asked INTEGER,
     severity_since_ms INTEGER, report TEXT, last_result TEXT, UNIQUE (check_name, slug))`,
  // The runs of the last days, and older ones by hour (store/runs/history.ts). at_ms is the end of the run, or of the
  // hour's last run; severity is the index of contract/severity.ts.
  `CREATE TABLE runs (
     check_id INTEGER NOT NULL, at_ms INTEGER NOT NULL, severity INTEGER NOT NULL, current_count REAL,
     expected_count REAL, PRIMARY KEY (check_id, at_ms)) WITHOUT ROWID`,
  `CREATE TABLE run_hours (
     check_id INTEGER NOT NULL, hour INTEGER NOT NULL, at_ms INTEGER NOT NULL, severity INTEGER NOT NULL,
     runs INTEGER NOT NULL, answered INTEGER NOT NULL, current_count REAL, expected_count REAL,
     PRIMARY KEY (check_id, hour)) WITHOUT ROWID`,
  // Reports as JSON where a severity or a threshold changed.
  `CREATE TABLE check_reports (
     check_id INTEGER NOT NULL, at_ms INTEGER NOT NULL, report TEXT NOT NULL,
     PRIMARY KEY (check_id, at_ms)) WITHOUT ROWID`,
];

/** Alerts, their notifications, and acts of operators. */
const alerts: readonly string[] = [
  // Alerts, from pending until pruned; ends_at_ms and end_body are null while one lives. Columns of their own hold what
  // people say of it, and the gate: an act changes them for thousands. body: store/alerts/alerts.ts.
  `CREATE TABLE alerts (
     id TEXT PRIMARY KEY, check_name TEXT NOT NULL, slug TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL,
     incident_number INTEGER, ends_at_ms INTEGER, end_body TEXT, acknowledgement TEXT, verdict TEXT, judgement TEXT,
     failed_at_ms INTEGER, released_at_ms INTEGER, body TEXT NOT NULL)`,
  `CREATE UNIQUE INDEX alerts_live ON alerts (check_name, slug, kind) WHERE ends_at_ms IS NULL`,
  `CREATE INDEX alerts_by_incident ON alerts (incident_number, ends_at_ms) WHERE incident_number IS NOT NULL`,
  `CREATE INDEX alerts_by_check ON alerts (check_name, slug, ends_at_ms) WHERE ends_at_ms IS NOT NULL`,
  `CREATE INDEX alerts_by_end ON alerts (ends_at_ms) WHERE ends_at_ms IS NOT NULL`,
  `CREATE INDEX alerts_judged ON alerts (slug) WHERE verdict IS NOT NULL`,
  `CREATE INDEX alerts_failed ON alerts (slug) WHERE failed_at_ms IS NOT NULL`,
  // Alerts that began together have the number of their incident. body is JSON (store/alerts/incidents.ts).
  `CREATE TABLE incidents (
     number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, family TEXT NOT NULL,
     started_at_ms INTEGER NOT NULL, ended_at_ms INTEGER, body TEXT NOT NULL)`,
  `CREATE INDEX incidents_open ON incidents (number) WHERE ended_at_ms IS NULL`,
  // Comments, judgements and releases; rows are deleted with their alert or incident. what: the verdict (null: taken
  // back), how it was released, or the act that a comment came with. A comment on several alerts has no alert_id;
  // alert_ids is a JSON array of them, null: all of the incident.
  `CREATE TABLE alert_log (
     entry_id INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT NOT NULL, at_ms INTEGER NOT NULL, incident_number INTEGER,
     alert_id TEXT, slug TEXT, what TEXT, author TEXT, note TEXT, text TEXT, alert_ids TEXT)`,
  `CREATE INDEX alert_log_by_alert ON alert_log (alert_id)`,
  `CREATE INDEX alert_log_by_incident ON alert_log (incident_number, event)`,
  `CREATE INDEX alert_log_of_releases ON alert_log (slug, at_ms) WHERE event = 'release'`,

  // seq is the order of notifications, kept by receiver, recipient (empty: none) and incident (null: none). The payload
  // is last: SQLite reads through it to get at a column behind it.
  `CREATE TABLE outbox (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, receiver TEXT NOT NULL, recipient TEXT NOT NULL,
     incident INTEGER, state TEXT NOT NULL DEFAULT 'queued', attempts INTEGER NOT NULL DEFAULT 0,
     created_at_ms INTEGER NOT NULL, next_attempt_at_ms INTEGER NOT NULL, last_error TEXT,
     is_reminder INTEGER NOT NULL, is_followed INTEGER NOT NULL DEFAULT 0, payload TEXT NOT NULL)`,
  `CREATE INDEX outbox_by_receiver ON outbox (receiver, state, next_attempt_at_ms)`,
  // A claim takes a receiver's oldest entries: without the index it would sort all waiting ones.
  `CREATE INDEX outbox_by_age ON outbox (receiver, seq)`,
  `CREATE INDEX outbox_in_order ON outbox (incident, receiver, recipient, seq)`,

  // A Retry-After of the receiver: nothing is claimed for it until then.
  `CREATE TABLE receiver_pauses (receiver TEXT PRIMARY KEY, until_ms INTEGER NOT NULL) WITHOUT ROWID`,

  `CREATE TABLE silences (
     id TEXT PRIMARY KEY, slug TEXT NOT NULL, check_name TEXT, starts_at_ms INTEGER NOT NULL,
     ends_at_ms INTEGER NOT NULL, comment TEXT NOT NULL, created_by TEXT, note TEXT,
     created_at_ms INTEGER NOT NULL) WITHOUT ROWID`,
  `CREATE INDEX silences_by_end ON silences (ends_at_ms)`,

  `CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`,

  // One act on one alert: written with the act, deleted when its notifications are formed.
  `CREATE TABLE act_notices (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, act_id TEXT NOT NULL, slug TEXT NOT NULL, at_ms INTEGER NOT NULL,
     body TEXT NOT NULL)`,
  // The notifications that were put into the outbox for each receiver and recipient (empty: none), until the incident
  // has ended and its end was queued. severity null: not delivered. gone_at_ms: since when it is not configured.
  `CREATE TABLE queued_alerts (
     alert_id TEXT NOT NULL, receiver TEXT NOT NULL, recipient TEXT NOT NULL, incident INTEGER NOT NULL,
     severity TEXT, is_ended INTEGER NOT NULL, queued_at_ms INTEGER NOT NULL, not_delivered_at_ms INTEGER,
     PRIMARY KEY (alert_id, receiver, recipient)) WITHOUT ROWID`,
  `CREATE TABLE queued_incidents (
     receiver TEXT NOT NULL, recipient TEXT NOT NULL, incident INTEGER NOT NULL, gone_at_ms INTEGER,
     body TEXT NOT NULL, PRIMARY KEY (receiver, recipient, incident)) WITHOUT ROWID`,
  // The one message of an incident that a receiver edits, for as long as the incident is kept.
  `CREATE TABLE receiver_messages (
     receiver TEXT NOT NULL, incident INTEGER NOT NULL, channel TEXT NOT NULL, message TEXT NOT NULL,
     PRIMARY KEY (receiver, incident)) WITHOUT ROWID`,
  // Questions to the verifier about dead assets of an incident; number counts within it. answers: one row per asset.
  `CREATE TABLE looks (
     incident_number INTEGER NOT NULL, number INTEGER NOT NULL, started_at_ms INTEGER NOT NULL, ended_at_ms INTEGER,
     is_by_hand INTEGER NOT NULL, PRIMARY KEY (incident_number, number)) WITHOUT ROWID`,
  `CREATE INDEX looks_open ON looks (incident_number) WHERE ended_at_ms IS NULL`,
  `CREATE TABLE look_answers (
     incident_number INTEGER NOT NULL, number INTEGER NOT NULL, ordinal INTEGER NOT NULL, slug TEXT NOT NULL,
     asset TEXT NOT NULL, asset_type TEXT, role TEXT NOT NULL, answer TEXT NOT NULL, detail TEXT,
     PRIMARY KEY (incident_number, number, ordinal)) WITHOUT ROWID`,

  `CREATE TABLE deliveries (
     notification_id TEXT NOT NULL, at_ms INTEGER NOT NULL, receiver TEXT NOT NULL, recipient TEXT,
     took_ms INTEGER NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL, incident INTEGER,
     organizations INTEGER NOT NULL, PRIMARY KEY (notification_id, at_ms))`,
  `CREATE INDEX deliveries_by_receiver ON deliveries (receiver, at_ms)`,
  `CREATE INDEX deliveries_by_time ON deliveries (at_ms)`,
  // When a receiver, or recipient of it (empty: none), first accepted a message about the alert.
  `CREATE TABLE alert_notified (
     alert_id TEXT NOT NULL, receiver TEXT NOT NULL, recipient TEXT NOT NULL, at_ms INTEGER NOT NULL,
     PRIMARY KEY (alert_id, receiver, recipient)) WITHOUT ROWID`,

  `CREATE TABLE markers (
     id TEXT PRIMARY KEY, at_ms INTEGER NOT NULL, text TEXT NOT NULL, slug TEXT, created_by TEXT, note TEXT,
     created_at_ms INTEGER NOT NULL)`,
  `CREATE INDEX markers_by_time ON markers (at_ms)`,
];

/** Acts of people and programs. */
const acts: readonly string[] = [
  // detail is a JSON object.
  `CREATE TABLE audit (
     entry_id INTEGER PRIMARY KEY AUTOINCREMENT, at_ms INTEGER NOT NULL, actor TEXT NOT NULL, via TEXT NOT NULL,
     action TEXT NOT NULL, slug TEXT, subject TEXT, detail TEXT NOT NULL)`,
  `CREATE INDEX audit_by_time ON audit (at_ms, entry_id)`,
  // Links that were followed and events of PagerDuty that were applied: each counts once.
  `CREATE TABLE outside_acts (
     via TEXT NOT NULL, id TEXT NOT NULL, subject TEXT NOT NULL, occurred_at_ms INTEGER NOT NULL,
     at_ms INTEGER NOT NULL, PRIMARY KEY (via, id)) WITHOUT ROWID`,
  `CREATE INDEX outside_acts_by_subject ON outside_acts (via, subject, occurred_at_ms)`,
  // People who signed in on the page.
  `CREATE TABLE sessions (
     sha256 TEXT PRIMARY KEY, token_name TEXT NOT NULL, token_proof TEXT NOT NULL, person_name TEXT NOT NULL,
     is_remembered INTEGER NOT NULL, created_at_ms INTEGER NOT NULL, last_used_at_ms INTEGER NOT NULL) WITHOUT ROWID`,
];

/** Records of API v2: organizations, keys, assets, legitimacy rules, reports with their proposals, and reviews. */
const platform: readonly string[] = [
  `CREATE TABLE organizations (organization_id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE, name TEXT)`,
  `CREATE TABLE brands (
     organization_id INTEGER NOT NULL REFERENCES organizations, brand_id INTEGER NOT NULL, name TEXT NOT NULL,
     PRIMARY KEY (organization_id, brand_id)) WITHOUT ROWID`,
  `CREATE TABLE api_keys (
     key_id TEXT PRIMARY KEY, key_sha256 TEXT NOT NULL UNIQUE, name TEXT NOT NULL, role TEXT NOT NULL,
     organizations TEXT NOT NULL, created_at_ms INTEGER NOT NULL, revoked_at_ms INTEGER) WITHOUT ROWID`,

  // Global: an asset that one organization's review blocks is blocked for every organization.
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

  `CREATE TABLE reports (
     report_id INTEGER PRIMARY KEY, organization_id INTEGER NOT NULL REFERENCES organizations,
     created_at_ms INTEGER NOT NULL, updated_at_ms INTEGER NOT NULL, status TEXT NOT NULL, source TEXT NOT NULL,
     country TEXT, title TEXT, reporter_kind TEXT NOT NULL, reporter_name TEXT, reporter_organization TEXT,
     sla_due_at_ms INTEGER, sla_breached INTEGER)`,
  // The listing walks it, newest first.
  `CREATE INDEX reports_by_creation ON reports (organization_id, created_at_ms, report_id)`,
  `CREATE TABLE proposals (
     proposal_id INTEGER PRIMARY KEY, report_id INTEGER NOT NULL REFERENCES reports,
     asset_id INTEGER NOT NULL REFERENCES assets, decision TEXT, decided_by TEXT, queue TEXT NOT NULL,
     is_resolved INTEGER NOT NULL)`,
  `CREATE INDEX proposals_by_report ON proposals (report_id)`,
  `CREATE INDEX proposals_by_asset ON proposals (asset_id)`,
  `CREATE TABLE scans (
     report_id INTEGER NOT NULL REFERENCES reports, scan_id INTEGER NOT NULL,
     asset_id INTEGER NOT NULL REFERENCES assets, status TEXT NOT NULL, at_ms INTEGER NOT NULL,
     PRIMARY KEY (report_id, scan_id)) WITHOUT ROWID`,
  `CREATE INDEX scans_by_asset ON scans (asset_id)`,
  `CREATE TABLE reviews (
     review_id INTEGER PRIMARY KEY AUTOINCREMENT, proposal_id INTEGER NOT NULL REFERENCES proposals,
     organization_id INTEGER NOT NULL REFERENCES organizations, origin TEXT NOT NULL, key_id TEXT,
     decision TEXT NOT NULL, label TEXT NOT NULL, brand_id INTEGER, comment TEXT NOT NULL,
     is_watchlisted INTEGER NOT NULL, created_at_ms INTEGER NOT NULL)`,
  `CREATE INDEX reviews_by_proposal ON reviews (proposal_id)`,
  // The reviews that count in the budget.
  `CREATE INDEX reviews_by_api ON reviews (organization_id, created_at_ms) WHERE origin = 'api'`,
];

/** The current list of each source of organizations, a JSON array of ListedOrganization (CONTRACT 14). */
const discovery: readonly string[] = [
  `CREATE TABLE discovery_lists (name TEXT PRIMARY KEY, list TEXT NOT NULL) WITHOUT ROWID`,
];

/** Creates the schema of the first release; statements are in SQLite's dialect. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { ddl } = dialectOf(db);
  for (const statement of [...events, ...runs, ...alerts, ...acts, ...discovery, ...platform])
    await sql.raw(ddl(statement)).execute(db);
}
