import { sql, type RawBuilder } from "kysely";

import { dayMs, hourMs, minuteMs } from "../../base/time.ts";
import type { FirstEvents } from "../../contract/liveness-counts.ts";
import { dialectOf, inTransaction } from "../engine/dialect.ts";
import type { PlainDb, PruneLimits, Pruned } from "../tables.ts";
import { addEvents, removeDeaths, type Added, type AddOptions, type DeathRow } from "./add.ts";
import { slugId } from "./asset-events.ts";
import { createDeaths } from "./counts.ts";
import { deadStatusId, type LivenessEvent } from "./rules.ts";
import type { CountCache } from "./count-cache.ts";

/** One stored event of a replay. */
export interface HistoryEvent {
  readonly atMs: number;
  /** DETECTED_AS_DEAD is a death, DETECTED_AS_ALIVE undoes those of its asset, any other one only shows a look. */
  readonly status: string;
  readonly count: number;
  /** Number of the asset's type, or of none; the same for each event of a type. */
  readonly typeId: number;
  readonly asset: string | null;
  /** A JSON object; empty or absent: none. */
  readonly attributes?: string;
}

export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

export type EventStore = ReturnType<typeof createEventStore>;

/**
 * Creates the event store over its tables and rollups (CONTRACT 2 and 10). It reports changes to the cache, which
 * answers outside of transactions; otherwise the database counts.
 */
export function createEventStore(db: PlainDb, cache: CountCache | null = null) {
  return {
    /** null: the database counts everything. */
    cache,
    deaths: createDeaths(db, db.isTransaction ? null : cache),
    firstEventAtMs: async (slug: string): Promise<number | null> => {
      const { rows } = await sql<{ at_ms: number }>`
        SELECT at_ms FROM events WHERE slug_id = ${slugId(slug)} ORDER BY slug_id, at_ms LIMIT 1`.execute(db);
      return rows[0]?.at_ms ?? null;
    },
    /**
     * Returns the instant of the first stored event of each of these organizations; null: `eventRetention` has deleted
     * all of them. An organization that never had an event is absent.
     */
    firstEvents: async (slugs: readonly string[]): Promise<FirstEvents> => {
      const { rows } = await sql<{ slug: string; at_ms: number | null }>`
        SELECT slug, (
          SELECT at_ms FROM events WHERE events.slug_id = event_slugs.slug_id
          ORDER BY events.slug_id, at_ms LIMIT 1) AS at_ms
        FROM event_slugs WHERE slug IN (SELECT value FROM ${dialectOf(db).texts(slugs)} AS asked)`.execute(db);
      return new Map(rows.map(({ slug, at_ms }) => [slug, at_ms]));
    },
    /**
     * Returns all events of an organization, oldest first, in pages of some thousand; simultaneous ones in the order of
     * arrival.
     */
    history: (slug: string) => readHistory(db, slug),
    /** Returns the slugs that have events. */
    slugs: async (): Promise<readonly string[]> => {
      const { rows } = await sql<{ slug: string }>`
        SELECT slug FROM event_slugs
        WHERE EXISTS (SELECT 1 FROM events WHERE events.slug_id = event_slugs.slug_id) ORDER BY slug`.execute(db);
      return rows.map(({ slug }) => slug);
    },
    isEmpty: async (): Promise<boolean> => (await sql`SELECT 1 FROM events LIMIT 1`.execute(db)).rows.length === 0,
    /** Stores events in commits of at most 2,000; each counts once, also when it is sent again. @throws as addEvents */
    add: (events: readonly LivenessEvent[], options: Omit<AddOptions, "onChange"> = {}): Promise<Added> =>
      addEvents(db, events, { ...options, onChange: (firstMinutes) => cache?.noteAdded(firstMinutes) }),
    /** Deletes events and rollups at or before `beforeMs`, at most `maxRows` of each table at a time. */
    prune: (limits: PruneLimits): Promise<Pruned> =>
      inTransaction(db, (transaction) => pruneEvents(transaction, limits, cache)),
    /** Deletes an organization's events and rollups, at most `maxRows` of each table at a time. */
    forget: (slug: string, maxRows: number): Promise<Forgotten> =>
      inTransaction(db, (transaction) => {
        cache?.forget(slug);
        return forgetEvents(transaction, slug, maxRows);
      }),
    /** Deletes the events in [fromMs, toMs), at most `maxRows` at a time, and takes them out of the rollups. */
    forgetSpan: (slug: string, span: TimeSpan, maxRows: number) =>
      inTransaction(db, (transaction) => {
        cache?.forget(slug);
        return forgetSpan(transaction, slug, span, maxRows);
      }),
  };
}

// Some milliseconds per page, so that other users of the store get a turn.
const pageRows = 5_000;

/** Iterates over all events of an organization in the order of the table's key, page by page. */
async function* readHistory(db: PlainDb, slug: string): AsyncGenerator<readonly HistoryEvent[]> {
  let last = { atMs: -1, ordinal: -1 };
  for (;;) {
    const { rows } = await sql<HistoryEvent & { readonly ordinal: number }>`
      SELECT at_ms AS "atMs", ordinal, event_statuses.status AS status, count, type_id AS "typeId", asset,
        coalesce(attributes, '') AS attributes
      FROM events JOIN event_statuses ON event_statuses.status_id = events.status_id
        LEFT JOIN event_attribute_sets ON event_attribute_sets.attribute_set_id = events.attribute_set_id
      WHERE events.slug_id = ${slugId(slug)} AND (at_ms, ordinal) > (${last.atMs}, ${last.ordinal})
      ORDER BY at_ms, ordinal LIMIT ${pageRows}`.execute(db);
    if (rows.length > 0) yield rows;
    last = rows.at(-1) ?? last;
    if (rows.length < pageRows) return;
  }
}

/** Deletes whole hours that end at or before `beforeMs`: a rollup then never counts a deleted event. */
async function pruneEvents(db: PlainDb, { beforeMs, maxRows }: PruneLimits, cache: CountCache | null): Promise<Pruned> {
  const endHour = Math.floor((beforeMs + 1) / hourMs);
  const endMinute = endHour * (hourMs / minuteMs);
  cache?.prune(endMinute);
  const endMs = endHour * hourMs;
  const old = [
    ["events", "at_ms, ordinal", sql`at_ms < ${endMs}`],
    ["event_minutes", "minute, type_id", sql`minute < ${endMinute}`],
    ["event_hours", "hour, type_id", sql`hour < ${endHour}`],
  ] as const;
  const ofAll = sql`slug_id ${dialectOf(db).isOneOf(sql`SELECT slug_id FROM event_slugs`)}`;
  let hasMore = false;
  for (const [table, rest, isOld] of old)
    if ((await deleteSome(db, table, `slug_id, ${rest}`, sql`${ofAll} AND ${isOld}`, maxRows)) === maxRows)
      hasMore = true;
  if (!hasMore) await sql`DELETE FROM event_attribute_sets WHERE last_day < ${Math.floor(endMs / dayMs)}`.execute(db);
  return { hasMore };
}

/** Deletes at most `maxRows`; returns how many. */
async function deleteSome(
  db: PlainDb,
  table: string,
  columns: string,
  isMeant: RawBuilder<unknown>,
  maxRows: number,
): Promise<number> {
  const key = sql.raw(columns);
  const { numAffectedRows } = await sql`
    DELETE FROM ${sql.table(table)} WHERE (${key}) IN (
      SELECT ${key} FROM ${sql.table(table)} WHERE ${isMeant} LIMIT ${maxRows})`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

const tablesWithKeys = [
  ["events", "slug_id, at_ms, ordinal"],
  ["event_minutes", "slug_id, minute, type_id"],
  ["event_hours", "slug_id, hour, type_id"],
  ["event_attribute_sets", "attribute_set_id"],
] as const;

interface Forgotten {
  readonly removed: number;
  readonly hasMore: boolean;
}

async function forgetEvents(db: PlainDb, slug: string, maxRows: number): Promise<Forgotten> {
  let removed = 0;
  let hasMore = false;
  for (const [table, key] of tablesWithKeys) {
    const deleted = await deleteSome(db, table, key, sql`slug_id = ${slugId(slug)}`, maxRows);
    if (table === "events") removed = deleted;
    if (deleted === maxRows) hasMore = true;
  }
  if (!hasMore) await sql`DELETE FROM event_slugs WHERE slug = ${slug}`.execute(db);
  return { removed, hasMore };
}

async function forgetSpan(db: PlainDb, slug: string, { fromMs, toMs }: TimeSpan, maxRows: number): Promise<Forgotten> {
  const { rows } = await sql<DeathRow>`
    DELETE FROM events WHERE (slug_id, at_ms, ordinal) IN (
      SELECT slug_id, at_ms, ordinal FROM events
      WHERE slug_id = ${slugId(slug)} AND at_ms >= ${fromMs} AND at_ms < ${toMs}
      ORDER BY at_ms, ordinal LIMIT ${maxRows})
    RETURNING slug_id, at_ms, type_id, CASE status_id WHEN ${deadStatusId} THEN count ELSE 0 END AS deaths`.execute(db);
  await removeDeaths(db, rows);
  return { removed: rows.length, hasMore: rows.length === maxRows };
}
