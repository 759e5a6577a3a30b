import { CompiledQuery } from "kysely";
import { hourMs } from "../../../base/time.ts";
import type { AssetTypeDeaths, DeathsQuery } from "../../../contract/liveness-counts.ts";
import { withAssetCounts } from "../counted-events.ts";
import { forgetEvents } from "../forgetting.ts";
import { addEvents } from "./adding.ts";
import { hashId } from "./block.ts";
import { noteStoreChange } from "./changes.ts";
import { splitInterval } from "./spans.ts";
import type { EventSums } from "../sums/event-sums.ts";
import { deadStatusId } from "./writer.ts";
import { readHistory } from "./history.ts";
import type { EventStore } from "../events.ts";
import type { PlainDb } from "../../schema.ts";

// Plain SQL, built once: a fleet of a thousand organizations counts every few minutes, and building this query costs more
// than running it.

/**
 * Creates the event store over its tables and rollups (CONTRACT 2 and 10). `sums` answer what they have in memory; without
 * them, as within a transaction, the database answers.
 */
export function createEventStore(db: PlainDb, sums: EventSums | null = null): EventStore {
  return {
    sums,
    deaths: withAssetCounts(db, async (queries) => {
      const known = sums === null ? [] : await sums.deaths(queries);
      return Promise.all(queries.map(async (query, index) => known[index] ?? (await deathsInSql(db, query))));
    }),
    firstEventAtMs: async (slug) => {
      const rows = await read<{ at_ms: number }>(db, firstEventSql, [slug]);
      return rows[0]?.at_ms ?? null;
    },
    firstEvents: async (slugs) => {
      const rows = await read<FirstEventRow>(db, firstEventsSql, [JSON.stringify(slugs)]);
      return new Map(rows.map(({ slug, at_ms }) => [slug, at_ms]));
    },
    history: (slug) => readHistory(db, slug),
    slugs: async () => (await read<{ slug: string }>(db, slugsSql, [])).map(({ slug }) => slug),
    isEmpty: async () => (await read(db, "SELECT 1 FROM events LIMIT 1", [])).length === 0,
    add: (events, receivedAtMs) =>
      inTransaction(db, (transaction) => addEvents(transaction, events, receivedAtMs ?? null)),
    prune: (limits) => inTransaction(db, (transaction) => pruneEvents(transaction, limits)),
    forget: (slug, maxRows) => inTransaction(db, (transaction) => forgetEvents(transaction, slug, maxRows)),
  };
}

async function deathsInSql(db: PlainDb, { slug, intervals }: DeathsQuery): Promise<AssetTypeDeaths[]> {
  const byType = new Map<string | null, number[]>();
  for (const [index, { afterMs, untilMs }] of intervals.entries()) {
    const { hours, minutes, instants } = splitInterval(afterMs, untilMs);
    const bounds = [hours, ...minutes, ...instants].flatMap(({ from, to }) => [from, to]);
    for (const { assetType, count } of await read<DeathsRow>(db, deathsSql, [slug, ...bounds])) {
      const deaths = byType.get(assetType) ?? intervals.map(() => 0);
      deaths[index] = count;
      byType.set(assetType, deaths);
    }
  }
  return [...byType].map(([assetType, deaths]) => ({ assetType, deaths }));
}

async function read<Row>(db: PlainDb, text: string, parameters: readonly unknown[]): Promise<Row[]> {
  const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(text, [...parameters]));
  return rows;
}

async function inTransaction<Result>(db: PlainDb, work: (transaction: PlainDb) => Promise<Result>): Promise<Result> {
  return db.isTransaction ? await work(db) : await db.transaction().execute(work);
}

interface DeathsRow {
  readonly assetType: string | null;
  readonly count: number;
}

/** Counts the rows of one span; its bounds are parameters. */
const part = (table: string, column: string, deaths: string, and = ""): string => `
  SELECT type_id, ${deaths} AS deaths
  FROM ${table} WHERE slug_id = (SELECT slug_id FROM asked) AND ${column} >= ? AND ${column} < ? ${and}`;
const hoursPart = part("event_hours", "hour", "deaths");
const minutesPart = part("event_minutes", "minute", "deaths");
const instantsPart = part("events", "at_ms", "count", ` AND status_id = ${deadStatusId}`);

const deathsSql = `
  WITH asked AS MATERIALIZED (SELECT slug_id FROM event_slugs WHERE slug = ?)
  -- A sum beyond the integers of JavaScript could not be read at all.
  SELECT event_asset_types.asset_type AS assetType, min(sum(deaths), ${Number.MAX_SAFE_INTEGER}) AS count
  FROM (${[hoursPart, minutesPart, minutesPart, instantsPart, instantsPart].join(" UNION ALL ")}) AS counted
  LEFT JOIN event_asset_types ON event_asset_types.type_id = counted.type_id
  GROUP BY counted.type_id HAVING sum(deaths) > 0
  ORDER BY assetType`;

const firstEventSql = `
  SELECT at_ms FROM events WHERE slug_id = (SELECT slug_id FROM event_slugs WHERE slug = ?) ORDER BY at_ms LIMIT 1`;

interface FirstEventRow {
  readonly slug: string;
  readonly at_ms: number | null;
}

// CROSS JOIN: each asked slug is looked up by its index.
const firstEventsSql = `
  SELECT slug, at_ms FROM (
    SELECT event_slugs.slug_id, slug,
      (SELECT at_ms FROM events WHERE events.slug_id = event_slugs.slug_id ORDER BY at_ms LIMIT 1) AS at_ms
    FROM json_each(?) AS asked CROSS JOIN event_slugs ON event_slugs.slug = asked.value)
  WHERE at_ms IS NOT NULL OR slug_id IN (SELECT slug_id FROM event_pruned_slugs)`;

const slugsSql = `
  SELECT slug FROM event_slugs
  WHERE EXISTS (SELECT 1 FROM events WHERE events.slug_id = event_slugs.slug_id) ORDER BY slug`;

/** Deletes whole hours that end at or before `beforeMs`: a rollup then never counts a deleted event. */
async function pruneEvents(db: PlainDb, limits: { beforeMs: number; maxRows: number }): Promise<{ hasMore: boolean }> {
  const { maxRows } = limits;
  const endHour = Math.floor((limits.beforeMs + 1) / hourMs);
  const old = await read<EventKey>(db, oldEventsSql, [endHour * hourMs, maxRows]);
  for (let start = 0; start < old.length; start += keysAStatement) {
    const keys = old.slice(start, start + keysAStatement);
    const events = keys.flatMap(({ slug_id, at_ms, import_id, ordinal }) => [slug_id, at_ms, import_id, ordinal]);
    await read(db, deleteSql("events", "slug_id, at_ms, import_id, ordinal", keys.length), events);
    await read(db, prunedSql, [JSON.stringify([...new Set(keys.map(({ slug_id }) => slug_id))])]);
    const ids = keys.flatMap(({ slug_id, import_id, ordinal, id }) =>
      id === null ? [] : [slug_id, hashOf(id), import_id, ordinal],
    );
    if (ids.length > 0) {
      await read(db, deleteSql("event_ids", "slug_id, id_hash, import_id, ordinal", ids.length / 4), ids);
    }
  }
  const minutes = await deleteSpans(db, "event_minutes", "minute", endHour * 60, maxRows);
  const hours = await deleteSpans(db, "event_hours", "hour", endHour, maxRows);
  if (old.length > 0 || minutes > 0) await noteStoreChange(db, { kind: "pruned", detail: [endHour * 60] });
  const hasMore = old.length === maxRows || minutes === maxRows || hours === maxRows;
  if (!hasMore) await read(db, oldReceiptsSql, [endHour * hourMs]);
  return { hasMore };
}

interface EventKey {
  readonly slug_id: number;
  readonly at_ms: number;
  readonly import_id: number;
  readonly ordinal: number;
  readonly id: string | null;
}

// CROSS JOIN: by organization, from its oldest event.
const oldEventsSql = `
  SELECT events.slug_id, at_ms, import_id, ordinal, id
  FROM event_slugs CROSS JOIN events ON events.slug_id = event_slugs.slug_id
  WHERE at_ms < ? LIMIT ?`;

const prunedSql = `INSERT OR IGNORE INTO event_pruned_slugs (slug_id) SELECT value FROM json_each(?)`;

// Arrivals before the remaining events are not needed: they count as known from the start.
const oldReceiptsSql = `
  DELETE FROM event_receipts
  WHERE first_ordinal < (SELECT max(first_ordinal) FROM event_receipts WHERE received_at_ms < ?)`;

const keysAStatement = 200;

function deleteSql(table: string, key: string, rows: number): string {
  const values = Array.from({ length: rows }, () => "(?, ?, ?, ?)").join(", ");
  return `DELETE FROM ${table} WHERE (${key}) IN (VALUES ${values})`;
}

async function deleteSpans(db: PlainDb, table: string, span: string, end: number, maxRows: number): Promise<number> {
  const key = `${table}.slug_id, ${span}, type_id, import_id`;
  const { numAffectedRows } = await db.executeQuery(
    CompiledQuery.raw(
      `DELETE FROM ${table} WHERE (slug_id, ${span}, type_id, import_id) IN (
         SELECT ${key} FROM event_slugs CROSS JOIN ${table} ON ${table}.slug_id = event_slugs.slug_id
         WHERE ${span} < ? LIMIT ?)`,
      [end, maxRows],
    ),
  );
  return Number(numAffectedRows ?? 0n);
}

function hashOf(id: string): number {
  const bytes = Buffer.from(id);
  return hashId(bytes, 0, bytes.length);
}
