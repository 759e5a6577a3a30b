import type { Kysely } from "kysely";
import { runStatements, type MigrationStatement, type SchemaPart } from "./statements.ts";

/** Liveness events with their rollups, and the state of imports (CONTRACT 10). */
const events: readonly MigrationStatement[] = [
  // Dictionaries: an event refers to its organization, type and status by a small integer.
  `CREATE TABLE event_slugs (slug_id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE)`,
  `CREATE TABLE event_asset_types (type_id INTEGER PRIMARY KEY, asset_type TEXT NOT NULL UNIQUE)`,
  `CREATE TABLE event_statuses (status_id INTEGER PRIMARY KEY, status TEXT NOT NULL UNIQUE)`,
  // 1 is deadStatusId of src/store/events/rules.ts: the status that counts as a death.
  `INSERT INTO event_statuses VALUES (1, 'DETECTED_AS_DEAD')`,
  { postgres: `ALTER TABLE event_statuses ALTER COLUMN status_id SET START WITH 2 RESTART` },

  // Import 0 holds posted events.
  `CREATE TABLE event_imports (
     import_id INTEGER PRIMARY KEY AUTOINCREMENT, next_ordinal INTEGER NOT NULL DEFAULT 0)`,
  `INSERT INTO event_imports (import_id) VALUES (0)`,

  // Every event; ordinal distinguishes events of one import at one instant. type_id 0: none.
  `CREATE TABLE events (
     slug_id INTEGER NOT NULL, at_ms INTEGER NOT NULL, import_id INTEGER NOT NULL, ordinal INTEGER NOT NULL,
     type_id INTEGER NOT NULL, status_id INTEGER NOT NULL, count INTEGER NOT NULL, asset TEXT, id TEXT,
     attribute_set_id INTEGER, PRIMARY KEY (slug_id, at_ms, import_id, ordinal)) WITHOUT ROWID`,
  // Who has an id: the first event with it, in one file, in the store and in a race.
  `CREATE TABLE event_ids (
     slug_id INTEGER NOT NULL, id TEXT NOT NULL, import_id INTEGER NOT NULL, ordinal INTEGER NOT NULL,
     PRIMARY KEY (slug_id, id)) WITHOUT ROWID`,

  // Deaths only. minute and hour are at_ms divided by their length, rounded down.
  `CREATE TABLE event_minutes (
     slug_id INTEGER NOT NULL, minute INTEGER NOT NULL, type_id INTEGER NOT NULL, import_id INTEGER NOT NULL,
     deaths INTEGER NOT NULL,
     PRIMARY KEY (slug_id, minute, type_id, import_id)) WITHOUT ROWID`,
  `CREATE TABLE event_hours (
     slug_id INTEGER NOT NULL, hour INTEGER NOT NULL, type_id INTEGER NOT NULL, import_id INTEGER NOT NULL,
     deaths INTEGER NOT NULL,
     PRIMARY KEY (slug_id, hour, type_id, import_id)) WITHOUT ROWID`,
  // Organizations with events that eventRetention has deleted, also if none is left.
  `CREATE TABLE event_pruned_slugs (slug_id INTEGER PRIMARY KEY)`,

  // Imported content, by SHA-256 after decompression.
  `CREATE TABLE event_files (
     sha256 TEXT NOT NULL, import_id INTEGER NOT NULL, name TEXT NOT NULL, rows_without_id INTEGER NOT NULL,
     imported_at_ms INTEGER NOT NULL,
     PRIMARY KEY (sha256, import_id)) WITHOUT ROWID`,
  // Answers to posts with an Idempotency-Key, for 24 h.
  `CREATE TABLE event_posts (
     idempotency_key TEXT PRIMARY KEY, body_sha256 TEXT NOT NULL, received INTEGER NOT NULL, stored INTEGER NOT NULL,
     duplicates INTEGER NOT NULL, at_ms INTEGER NOT NULL) WITHOUT ROWID`,
  `CREATE INDEX event_posts_by_time ON event_posts (at_ms)`,
  // A set of attributes as a JSON object, names in order; an event refers to it by a small integer.
  `CREATE TABLE event_attribute_sets (attribute_set_id INTEGER PRIMARY KEY, attributes TEXT NOT NULL UNIQUE)`,
  // Changes of event_minutes, in the order of commits, for running sums in memory (store/events/sums/changes.ts): a row with
  // deaths adds them to its minute, one without says that the organization changed, and one without an organization that
  // everything before its minute was deleted. The newest row is always kept: positions are never used again.
  {
    sqlite: `CREATE TABLE event_changes (
     position INTEGER PRIMARY KEY, slug_id INTEGER, minute INTEGER, type_id INTEGER, deaths INTEGER)`,
  },
];

/** The writer, and the results of runs. */
const runs: readonly MigrationStatement[] = [
  // The process that writes. The epoch is a key, so that a renewal, which does not change it, waits for no transaction that
  // holds it (FOR KEY SHARE), and a takeover waits for each. Pages have free space, because it is renewed all the time.
  {
    sqlite: `CREATE TABLE writer (epoch INTEGER PRIMARY KEY, holder TEXT NOT NULL, expires_at_ms INTEGER NOT NULL)`,
    postgres: `CREATE TABLE writer (
     epoch BIGINT PRIMARY KEY, holder TEXT COLLATE "C" NOT NULL, expires_at_ms BIGINT NOT NULL) WITH (fillfactor = 50)`,
  },
  `INSERT INTO writer (epoch, holder, expires_at_ms) VALUES (0, '', 0)`,
  // A check of an organization, its permanent number, because the history outlives the configuration, and the last state. report
  // is the last run's, as JSON; last_result the last one with a result, if that has none.
  {
    sqlite: `CREATE TABLE checks (
     check_id INTEGER PRIMARY KEY, check_name TEXT NOT NULL, slug TEXT NOT NULL, due_at_ms INTEGER, is_asked INTEGER,
     severity_since_ms INTEGER, report TEXT, last_result TEXT,
     UNIQUE (check_name, slug))`,
    // Pages have free space, because each run rewrites its row.
    postgres: `CREATE TABLE checks (
     check_id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, check_name TEXT COLLATE "C" NOT NULL,
     slug TEXT COLLATE "C" NOT NULL, due_at_ms BIGINT, is_asked BIGINT, severity_since_ms BIGINT, report TEXT COLLATE "C",
     last_result TEXT COLLATE "C", UNIQUE (check_name, slug))
     WITH (fillfactor = 50)`,
  },
  // The runs of the last days, then an hour of them in a row (store/runs/history.ts). at_ms is the end, of an hour that of its
  // last run; severity is the index of contract/severity.ts.
  `CREATE TABLE runs (
     check_id INTEGER NOT NULL, at_ms INTEGER NOT NULL, severity INTEGER NOT NULL, current_count REAL, expected_count REAL,
     PRIMARY KEY (check_id, at_ms)) WITHOUT ROWID`,
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
const alerts: readonly MigrationStatement[] = [
  // From pending until pruned; ends_at_ms and end_body are null while it lives. What people say of it, and the gate, have columns
  // of their own, which an act changes for thousands at once. body: store/alerts/alerts.ts.
  `CREATE TABLE alerts (
     id TEXT PRIMARY KEY, check_name TEXT NOT NULL, slug TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL,
     incident_number INTEGER, ends_at_ms INTEGER, end_body TEXT, acknowledgement TEXT, verdict TEXT, judgement TEXT,
     failed_at_ms INTEGER, released_at_ms INTEGER, body TEXT NOT NULL)`,
  `CREATE UNIQUE INDEX alerts_live ON alerts (check_name, slug, kind) WHERE ends_at_ms IS NULL`,
  `CREATE INDEX alerts_by_incident ON alerts (incident_number) WHERE incident_number IS NOT NULL`,
  `CREATE INDEX alerts_by_check ON alerts (check_name, slug, ends_at_ms) WHERE ends_at_ms IS NOT NULL`,
  `CREATE INDEX alerts_by_end ON alerts (ends_at_ms) WHERE ends_at_ms IS NOT NULL`,
  `CREATE INDEX alerts_judged ON alerts (slug) WHERE verdict IS NOT NULL`,
  `CREATE INDEX alerts_failed ON alerts (slug) WHERE failed_at_ms IS NOT NULL`,
  // What began together; its members are the alerts with its number. body is JSON (store/alerts/incidents.ts).
  `CREATE TABLE incidents (
     number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, family TEXT NOT NULL,
     started_at_ms INTEGER NOT NULL, ended_at_ms INTEGER, body TEXT NOT NULL)`,
  `CREATE INDEX incidents_open ON incidents (number) WHERE ended_at_ms IS NULL`,
  // Organizations of which a spike alert fired on a day, in days since the epoch.
  `CREATE TABLE spike_days (
     day INTEGER NOT NULL, slug TEXT NOT NULL, incident_number INTEGER NOT NULL, PRIMARY KEY (day, slug)) WITHOUT ROWID`,
  // Judgements of alerts; append-only. verdict null: withdrawn.
  `CREATE TABLE judgements (
     judgement_id INTEGER PRIMARY KEY AUTOINCREMENT, alert_id TEXT NOT NULL, check_name TEXT NOT NULL, slug TEXT NOT NULL,
     at_ms INTEGER NOT NULL, verdict TEXT, comment TEXT, author TEXT NOT NULL, note TEXT)`,
  `CREATE INDEX judgements_by_alert ON judgements (alert_id, judgement_id)`,
  // Comments on alerts, live and ended, or on an incident (then alert_id and slug are null, and alert_ids is a JSON array of
  // those of its alerts that an act with it was done to; null: it is of all); append-only. act: the act that it came with.
  `CREATE TABLE comments (
     comment_id INTEGER PRIMARY KEY AUTOINCREMENT, alert_id TEXT, slug TEXT, at_ms INTEGER NOT NULL,
     author TEXT NOT NULL, note TEXT, text TEXT NOT NULL, act TEXT, incident_number INTEGER, alert_ids TEXT)`,
  `CREATE INDEX comments_by_alert ON comments (alert_id, comment_id)`,
  `CREATE INDEX comments_by_incident ON comments (incident_number) WHERE incident_number IS NOT NULL`,

  // seq is the order of notifications, which is kept per receiver and alert. recipient: one of the receiver's recipients, or
  // empty. The payload is last: SQLite reads through it to get at a column behind it.
  `CREATE TABLE outbox (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, receiver TEXT NOT NULL, state TEXT NOT NULL,
     attempts INTEGER NOT NULL DEFAULT 0, created_at_ms INTEGER NOT NULL, next_attempt_at_ms INTEGER NOT NULL,
     last_error TEXT, recipient TEXT NOT NULL DEFAULT '', incident_number INTEGER, is_followed INTEGER NOT NULL DEFAULT 0,
     payload TEXT NOT NULL)`,
  `CREATE INDEX outbox_by_receiver ON outbox (receiver, state, next_attempt_at_ms)`,
  // A claim takes a receiver's oldest entries: without the index it would sort all waiting ones.
  `CREATE INDEX outbox_in_order ON outbox (receiver, seq)`,
  `CREATE INDEX outbox_by_incident ON outbox (incident_number, receiver, seq) WHERE incident_number IS NOT NULL`,
  `CREATE TABLE outbox_alerts (
     alert_id TEXT NOT NULL, seq INTEGER NOT NULL REFERENCES outbox (seq) ON DELETE CASCADE,
     PRIMARY KEY (alert_id, seq)) WITHOUT ROWID`,
  `CREATE INDEX outbox_alerts_by_seq ON outbox_alerts (seq)`,

  // A Retry-After of the receiver: nothing is claimed for it until then.
  `CREATE TABLE receiver_pauses (receiver TEXT PRIMARY KEY, until_ms INTEGER NOT NULL) WITHOUT ROWID`,

  `CREATE TABLE silences (
     id TEXT PRIMARY KEY, slug TEXT NOT NULL, check_name TEXT, starts_at_ms INTEGER NOT NULL,
     ends_at_ms INTEGER NOT NULL, comment TEXT NOT NULL, created_by TEXT, note TEXT,
     created_at_ms INTEGER NOT NULL) WITHOUT ROWID`,
  `CREATE INDEX silences_by_end ON silences (ends_at_ms)`,

  `CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`,

  // Written with the act, deleted when the notifications of it are formed.
  `CREATE TABLE act_notices (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, slug TEXT NOT NULL, at_ms INTEGER NOT NULL, body TEXT NOT NULL)`,
  // What was put into the outbox for each receiver, of an alert and of an incident, until the incident is over and all of it told.
  // severity null: what told of it was not delivered. Written with the outbox.
  `CREATE TABLE queued_alerts (
     alert_id TEXT NOT NULL, receiver TEXT NOT NULL, incident_number INTEGER NOT NULL, severity TEXT,
     is_ended INTEGER NOT NULL, queued_at_ms INTEGER NOT NULL, not_delivered_at_ms INTEGER,
     PRIMARY KEY (alert_id, receiver)) WITHOUT ROWID`,
  `CREATE TABLE queued_incidents (
     receiver TEXT NOT NULL, incident_number INTEGER NOT NULL, last_at_ms INTEGER NOT NULL,
     last_new_at_ms INTEGER NOT NULL, members INTEGER NOT NULL, knows_verdict INTEGER NOT NULL,
     is_escalated INTEGER NOT NULL, knows_stop INTEGER NOT NULL, known_look INTEGER NOT NULL,
     acknowledged_key INTEGER, PRIMARY KEY (receiver, incident_number)) WITHOUT ROWID`,
  // The one message of an incident that a receiver edits, for as long as the incident is kept.
  `CREATE TABLE receiver_messages (
     receiver TEXT NOT NULL, incident_number INTEGER NOT NULL, channel TEXT NOT NULL, message TEXT NOT NULL,
     PRIMARY KEY (receiver, incident_number)) WITHOUT ROWID`,
  // Questions to the verifier about dead assets of an incident; number counts within it. answers: one row per asset.
  `CREATE TABLE looks (
     incident_number INTEGER NOT NULL, number INTEGER NOT NULL, started_at_ms INTEGER NOT NULL, ended_at_ms INTEGER,
     lease_until_ms INTEGER NOT NULL, is_by_hand INTEGER NOT NULL,
     PRIMARY KEY (incident_number, number)) WITHOUT ROWID`,
  `CREATE INDEX looks_open ON looks (incident_number) WHERE ended_at_ms IS NULL`,
  `CREATE TABLE look_answers (
     incident_number INTEGER NOT NULL, number INTEGER NOT NULL, ordinal INTEGER NOT NULL, slug TEXT NOT NULL,
     asset TEXT NOT NULL, asset_type TEXT, role TEXT NOT NULL, answer TEXT NOT NULL, detail TEXT,
     PRIMARY KEY (incident_number, number, ordinal)) WITHOUT ROWID`,

  `CREATE TABLE deliveries (
     notification_id TEXT NOT NULL, at_ms INTEGER NOT NULL, receiver TEXT NOT NULL, took_ms INTEGER NOT NULL,
     outcome TEXT NOT NULL, detail TEXT NOT NULL, slugs TEXT NOT NULL, recipient TEXT NOT NULL DEFAULT '',
     fleet_id TEXT, PRIMARY KEY (notification_id, at_ms))`,
  // The fleet verdict of the notification, if any.
  `CREATE INDEX deliveries_by_fleet ON deliveries (fleet_id) WHERE fleet_id IS NOT NULL`,
  `CREATE INDEX deliveries_by_receiver ON deliveries (receiver, at_ms)`,
  `CREATE INDEX deliveries_by_time ON deliveries (at_ms)`,
  // The organizations of a delivery.
  `CREATE TABLE delivery_slugs (
     slug TEXT NOT NULL, at_ms INTEGER NOT NULL, notification_id TEXT NOT NULL,
     PRIMARY KEY (slug, at_ms, notification_id))`,
  `CREATE INDEX delivery_slugs_by_time ON delivery_slugs (at_ms)`,
  // When a receiver first accepted a message about the alert.
  `CREATE TABLE alert_notified (
     alert_id TEXT NOT NULL, receiver TEXT NOT NULL, at_ms INTEGER NOT NULL, PRIMARY KEY (alert_id, receiver)) WITHOUT ROWID`,

  `CREATE TABLE markers (
     id TEXT PRIMARY KEY, at_ms INTEGER NOT NULL, text TEXT NOT NULL, slug TEXT, created_by TEXT, note TEXT,
     created_at_ms INTEGER NOT NULL)`,
  `CREATE INDEX markers_by_time ON markers (at_ms)`,
  // What ended a hold of the gate; alert_id null: a manual release of all failures.
  `CREATE TABLE gate_releases (
     release_id INTEGER PRIMARY KEY AUTOINCREMENT, slug TEXT NOT NULL, at_ms INTEGER NOT NULL, how TEXT NOT NULL,
     alert_id TEXT, released_by TEXT, comment TEXT)`,
  `CREATE INDEX gate_releases_by_slug ON gate_releases (slug, at_ms)`,
];

/** Acts of people and programs. */
const acts: readonly MigrationStatement[] = [
  // detail is a JSON object.
  `CREATE TABLE audit (
     entry_id INTEGER PRIMARY KEY AUTOINCREMENT, at_ms INTEGER NOT NULL, actor TEXT NOT NULL, via TEXT NOT NULL,
     action TEXT NOT NULL, slug TEXT, subject TEXT, detail TEXT NOT NULL)`,
  `CREATE INDEX audit_by_time ON audit (at_ms, entry_id)`,
  // Links that were followed and events of PagerDuty that were applied: each counts once.
  `CREATE TABLE outside_acts (
     via TEXT NOT NULL, id TEXT NOT NULL, subject TEXT NOT NULL, occurred_at_ms INTEGER NOT NULL, at_ms INTEGER NOT NULL,
     PRIMARY KEY (via, id)) WITHOUT ROWID`,
  `CREATE INDEX outside_acts_by_subject ON outside_acts (via, subject, occurred_at_ms)`,
  // Who signed in on the page.
  `CREATE TABLE sessions (
     sha256 TEXT PRIMARY KEY, token_name TEXT NOT NULL, token_proof TEXT NOT NULL, person_name TEXT NOT NULL,
     is_remembered INTEGER NOT NULL, created_at_ms INTEGER NOT NULL, last_used_at_ms INTEGER NOT NULL) WITHOUT ROWID`,
];

/** Records of API v2: organizations, keys, assets, legitimacy rules, reports with their proposals, and reviews. */
const platform: readonly MigrationStatement[] = [
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
  // The reviews that count in the budget.
  `CREATE INDEX reviews_by_api ON reviews (organization_id, created_at_ms) WHERE origin = 'api'`,
];

/** Sources of organizations, and what they listed last (CONTRACT 14). */
const discovery: readonly MigrationStatement[] = [
  // held: a HeldListState (store/discovery/discovered-lists.ts) as JSON.
  `CREATE TABLE discovery_sources (
     name TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, etag TEXT, problem TEXT, refreshed_at_ms INTEGER NOT NULL,
     applied_digest TEXT, applied_at_ms INTEGER, held TEXT) WITHOUT ROWID`,
  // kind: applied or held. Apart from the sources, because a row with a long text is rewritten as a whole.
  `CREATE TABLE discovery_lists (name TEXT NOT NULL, kind TEXT NOT NULL, list TEXT NOT NULL, PRIMARY KEY (name, kind))`,
];

const state = [...runs, ...alerts, ...acts, ...discovery, ...platform];
const statements = { all: [...events, ...state], state, events };

/** Creates the schema of the first release. */
export async function up(db: Kysely<unknown>, part: SchemaPart): Promise<void> {
  await runStatements(db, statements[part]);
}
