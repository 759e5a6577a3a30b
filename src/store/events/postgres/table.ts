import { sql } from "kysely";
import { hourMs } from "../../../base/time.ts";
import { readHistory } from "../sqlite/history.ts";
import { withAssetCounts } from "../counted-events.ts";
import { forgetEvents } from "../forgetting.ts";
import { addEventsInPostgres } from "./adding.ts";
import { deathsInPostgres } from "./counts.ts";
import type { EventStore } from "../events.ts";
import { inTransaction } from "../../engine/in-transaction.ts";
import type { PlainDb } from "../../schema.ts";

/**
 * Creates the event store on PostgreSQL, over the same tables as on SQLite.
 */
export function createPostgresEventStore(db: PlainDb): EventStore {
  return {
    sums: null,
    deaths: withAssetCounts(db, (queries) => deathsInPostgres(db, queries)),
    firstEventAtMs: async (slug) => {
      const { rows } = await sql<{ at_ms: number }>`
        SELECT at_ms FROM events WHERE slug_id = (SELECT slug_id FROM event_slugs WHERE slug = ${slug})
        ORDER BY slug_id, at_ms LIMIT 1`.execute(db);
      return rows[0]?.at_ms ?? null;
    },
    firstEvents: async (slugs) => {
      const { rows } = await sql<{ slug: string; at_ms: number | null }>`
        SELECT slug, at_ms FROM event_slugs
        LEFT JOIN LATERAL (
          SELECT at_ms FROM events WHERE events.slug_id = event_slugs.slug_id ORDER BY slug_id, at_ms LIMIT 1) AS first ON true
        WHERE slug = ANY(${[...slugs]}::text[])
          AND (at_ms IS NOT NULL OR slug_id IN (SELECT slug_id FROM event_pruned_slugs))`.execute(db);
      return new Map(rows.map(({ slug, at_ms }) => [slug, at_ms]));
    },
    history: (slug) => readHistory(db, slug),
    slugs: async () => {
      const { rows } = await sql<{ slug: string }>`
        SELECT slug FROM event_slugs
        WHERE EXISTS (SELECT 1 FROM events WHERE events.slug_id = event_slugs.slug_id) ORDER BY slug`.execute(db);
      return rows.map(({ slug }) => slug);
    },
    isEmpty: async () => {
      const { rows } = await sql`SELECT 1 FROM events LIMIT 1`.execute(db);
      return rows.length === 0;
    },
    add: (events, receivedAtMs) => addEventsInPostgres(db, events, receivedAtMs ?? null),
    prune: (limits) => inTransaction(db, (transaction) => pruneEvents(transaction, limits), "latest"),
    forget: (slug, maxRows) => inTransaction(db, (transaction) => forgetEvents(transaction, slug, maxRows), "latest"),
  };
}

/** Deletes whole hours that end at or before `beforeMs`: a rollup then never counts a deleted event. */
async function pruneEvents(db: PlainDb, limits: { beforeMs: number; maxRows: number }): Promise<{ hasMore: boolean }> {
  const { maxRows } = limits;
  const endHour = Math.floor((limits.beforeMs + 1) / hourMs);
  const events = await deleteOld(db, "events", "at_ms", "import_id, ordinal", endHour * hourMs, maxRows);
  await sql`
    INSERT INTO event_pruned_slugs (slug_id) SELECT DISTINCT unnest(${events}::int8[])
    ON CONFLICT DO NOTHING`.execute(db);
  const minutes = await deleteOld(db, "event_minutes", "minute", "type_id, import_id", endHour * 60, maxRows);
  const hours = await deleteOld(db, "event_hours", "hour", "type_id, import_id", endHour, maxRows);
  const hasMore = [events, minutes, hours].some(({ length }) => length === maxRows);
  if (!hasMore) {
    // Arrivals before the remaining events are not needed: they count as known from the start.
    await sql`
      DELETE FROM event_receipts WHERE first_ordinal <
        (SELECT max(first_ordinal) FROM event_receipts WHERE received_at_ms < ${endHour * hourMs})`.execute(db);
  }
  return { hasMore };
}

/** Deletes by organization, oldest rows first; skips rows that another replica is deleting. */
async function deleteOld(
  db: PlainDb,
  table: string,
  span: string,
  rest: string,
  end: number,
  maxRows: number,
): Promise<readonly number[]> {
  const key = sql.raw(`slug_id, ${span}, ${rest}`);
  const { rows } = await sql<{ slug_id: number }>`
    DELETE FROM ${sql.table(table)} WHERE (${key}) IN (
      SELECT ${key} FROM (
        SELECT old.* FROM event_slugs CROSS JOIN LATERAL (
          SELECT ${key} FROM ${sql.table(table)} AS row
          WHERE row.slug_id = event_slugs.slug_id AND ${sql.ref(span)} < ${end}
          ORDER BY slug_id, ${sql.ref(span)} LIMIT ${maxRows} FOR UPDATE SKIP LOCKED) AS old
        LIMIT ${maxRows}) AS found)
    RETURNING slug_id`.execute(db);
  return rows.map(({ slug_id }) => slug_id);
}
