import { sql, type Kysely } from "kysely";

// Plain enough for every engine.
const statements = [
  `CREATE TABLE deliveries (
     notification_id TEXT NOT NULL, at_ms BIGINT NOT NULL, receiver TEXT NOT NULL, took_ms INTEGER NOT NULL,
     outcome TEXT NOT NULL, detail TEXT NOT NULL, slugs TEXT NOT NULL, PRIMARY KEY (notification_id, at_ms))`,
  `CREATE INDEX deliveries_by_receiver ON deliveries (receiver, at_ms)`,
  `CREATE INDEX deliveries_by_time ON deliveries (at_ms)`,
  // Which of them told of an organization.
  `CREATE TABLE delivery_slugs (
     slug TEXT NOT NULL, at_ms BIGINT NOT NULL, notification_id TEXT NOT NULL,
     PRIMARY KEY (slug, at_ms, notification_id))`,
  `CREATE INDEX delivery_slugs_by_time ON delivery_slugs (at_ms)`,
];

/** What receivers answered, for those who look back: the outbox forgets what was accepted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
