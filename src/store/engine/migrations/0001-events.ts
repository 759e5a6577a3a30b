import type { Kysely } from "kysely";
import { runStatements, type MigrationStatement } from "./statements.ts";

const statements: readonly MigrationStatement[] = [
  // Dictionaries: an event names its organization, type and status by a small integer.
  `CREATE TABLE event_slugs (slug_id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE)`,
  `CREATE TABLE event_asset_types (type_id INTEGER PRIMARY KEY, asset_type TEXT NOT NULL UNIQUE)`,
  `CREATE TABLE event_statuses (status_id INTEGER PRIMARY KEY, status TEXT NOT NULL UNIQUE)`,
  // 1 is deadStatusId of src/store/events/sqlite/writer.ts: what counts as a death.
  `INSERT INTO event_statuses VALUES (1, 'DETECTED_AS_DEAD')`,
  { postgres: `ALTER TABLE event_statuses ALTER COLUMN status_id SET START WITH 2 RESTART` },

  // Rows of an import count for nothing until its state is 'published'. Import 0 is what was posted directly.
  `CREATE TABLE event_imports (
     import_id INTEGER PRIMARY KEY AUTOINCREMENT,
     state TEXT NOT NULL CHECK (state IN ('staging', 'published', 'abandoned')),
     started_at_ms INTEGER NOT NULL,
     published_at_ms INTEGER,
     next_ordinal INTEGER NOT NULL DEFAULT 0)`,
  `CREATE INDEX event_imports_unpublished ON event_imports (import_id) WHERE state <> 'published'`,
  `INSERT INTO event_imports (import_id, state, started_at_ms, published_at_ms) VALUES (0, 'published', 0, 0)`,

  // Every event as it came; ordinal tells apart those of one import at one instant. type_id 0: none.
  `CREATE TABLE events (
     slug_id INTEGER NOT NULL, at_ms INTEGER NOT NULL, import_id INTEGER NOT NULL, ordinal INTEGER NOT NULL,
     type_id INTEGER NOT NULL, status_id INTEGER NOT NULL, count INTEGER NOT NULL, asset TEXT, id TEXT,
     PRIMARY KEY (slug_id, at_ms, import_id, ordinal)) WITHOUT ROWID`,
  // A hash index over (slug, id): the hash finds candidates, the text in events decides.
  {
    sqlite: `CREATE TABLE event_ids (
     slug_id INTEGER NOT NULL, id_hash INTEGER NOT NULL, import_id INTEGER NOT NULL, ordinal INTEGER NOT NULL,
     at_ms INTEGER NOT NULL,
     PRIMARY KEY (slug_id, id_hash, import_id, ordinal)) WITHOUT ROWID`,
    // An import is one transaction there: no two rows with one id are ever stored, not even to be settled later.
    postgres: `CREATE UNIQUE INDEX events_by_id ON events (slug_id, id) WHERE id IS NOT NULL`,
  },

  // Deaths only. minute and hour are at_ms divided by their length, rounded down.
  `CREATE TABLE event_minutes (
     slug_id INTEGER NOT NULL, minute INTEGER NOT NULL, type_id INTEGER NOT NULL, import_id INTEGER NOT NULL,
     deaths INTEGER NOT NULL,
     PRIMARY KEY (slug_id, minute, type_id, import_id)) WITHOUT ROWID`,
  `CREATE TABLE event_hours (
     slug_id INTEGER NOT NULL, hour INTEGER NOT NULL, type_id INTEGER NOT NULL, import_id INTEGER NOT NULL,
     deaths INTEGER NOT NULL,
     PRIMARY KEY (slug_id, hour, type_id, import_id)) WITHOUT ROWID`,
  // At or before an organization's first event of an import: where the search for the first one begins.
  {
    sqlite: `CREATE TABLE event_extents (
     slug_id INTEGER NOT NULL, import_id INTEGER NOT NULL, first_at_ms INTEGER NOT NULL,
     PRIMARY KEY (slug_id, import_id)) WITHOUT ROWID`,
  },

  // Rows of an unpublished import whose id may be in another one too; settled when the import is published.
  {
    sqlite: `CREATE TABLE event_contests (
     import_id INTEGER NOT NULL, rival_id INTEGER NOT NULL, slug_id INTEGER NOT NULL, id_hash INTEGER NOT NULL,
     ordinal INTEGER NOT NULL, at_ms INTEGER NOT NULL,
     PRIMARY KEY (import_id, rival_id, slug_id, id_hash, ordinal)) WITHOUT ROWID`,
  },
  { sqlite: `CREATE INDEX event_contests_by_rival ON event_contests (rival_id)` },

  // What was imported before, by SHA-256 of the decompressed content.
  `CREATE TABLE event_files (
     sha256 TEXT NOT NULL, import_id INTEGER NOT NULL, name TEXT NOT NULL, rows_without_id INTEGER NOT NULL,
     imported_at_ms INTEGER NOT NULL,
     PRIMARY KEY (sha256, import_id)) WITHOUT ROWID`,
  // Answers to posts with an Idempotency-Key, for 24 h.
  `CREATE TABLE event_posts (
     idempotency_key TEXT PRIMARY KEY, body_sha256 TEXT NOT NULL, received INTEGER NOT NULL, stored INTEGER NOT NULL,
     duplicates INTEGER NOT NULL, at_ms INTEGER NOT NULL) WITHOUT ROWID`,
  `CREATE INDEX event_posts_by_time ON event_posts (at_ms)`,
];

/** Liveness events with their rollups, and what their import needs (CONTRACT 10). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, statements);
}
