import { sql, type Kysely } from "kysely";

// Plain enough for every engine.
const statements = [
  `CREATE TABLE markers (
     id TEXT PRIMARY KEY, at_ms BIGINT NOT NULL, text TEXT NOT NULL, slug TEXT, created_by TEXT,
     created_at_ms BIGINT NOT NULL)`,
  `CREATE INDEX markers_by_time ON markers (at_ms)`,
  `CREATE TABLE gate_releases (
     slug TEXT NOT NULL, at_ms BIGINT NOT NULL, released_by TEXT, comment TEXT, PRIMARY KEY (slug, at_ms))`,
];

/** What operators tell: markers of what they did, and releases of the gate. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
