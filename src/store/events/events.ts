import { sql } from "kysely";

import { hourMs } from "../../base/time.ts";
import type { FirstEvents } from "../../contract/liveness-counts.ts";
import { dialectOf } from "../engine/dialect.ts";
import { inTransaction } from "../engine/in-transaction.ts";
import { rowStatement } from "../engine/row-statement.ts";
import type { Pruned, PruneLimits } from "../prune-limits.ts";
import type { PlainDb } from "../schema.ts";
import { slugId } from "./asset-events.ts";
import { createDeaths } from "./counts.ts";
import { storeStaging } from "./posts.ts";
import { attributesKey, byName } from "./rules.ts";
import { Staging } from "./stage.ts";
import { noteChange } from "./sums/changes.ts";
import type { EventSums } from "./sums/event-sums.ts";

/** One stored liveness event (CONTRACT 10). */
export interface LivenessEvent {
  readonly atMs: number;
  readonly slug: string;
  readonly assetType: string | null;
  readonly asset: string | null;
  /** Any name; only DETECTED_AS_DEAD counts as a death. */
  readonly status: string;
  readonly id: string | null;
  /** Number of events, for data that is already aggregated; 0: an empty bucket. */
  readonly count: number;
  /** Lower-case names with texts; absent: none. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/** One stored event of a replay. */
export interface HistoryEvent {
  readonly atMs: number;
  /** DETECTED_AS_DEAD is a death, DETECTED_AS_ALIVE undoes those of its asset, any other only shows that the asset was looked at. */
  readonly status: string;
  readonly count: number;
  /** Number of the asset's type, or of none; the same for each event of a type. */
  readonly typeId: number;
  readonly asset: string | null;
}

export interface IngestOutcome {
  readonly received: number;
  readonly stored: number;
  readonly duplicates: number;
  /** Events whose id is stored with other content. */
  readonly conflicts: number;
}

export type EventStore = ReturnType<typeof createEventStore>;

/**
 * Creates the event store over its tables and rollups (CONTRACT 2 and 10). `sums` answer what they have in memory; without them
 * the database answers. `changing` is the connection by which events are added and deleted.
 */
export function createEventStore(db: PlainDb, sums: EventSums | null = null, changing: PlainDb = db) {
  return {
    /** Running sums of the deaths in memory; null if the database answers everything. */
    sums,
    deaths: createDeaths(db, sums),
    firstEventAtMs: async (slug: string): Promise<number | null> => {
      const { rows } = await sql<{ at_ms: number }>`
        SELECT at_ms FROM events WHERE slug_id = ${slugId(slug)} ORDER BY slug_id, at_ms LIMIT 1`.execute(db);
      return rows[0]?.at_ms ?? null;
    },
    /**
     * Returns the instant of the first stored event of each of these organizations; null where `eventRetention` has deleted
     * all of them since. An organization of which no event was ever stored is absent.
     */
    firstEvents: async (slugs: readonly string[]): Promise<FirstEvents> => {
      const { rows } = await sql<{ slug: string; at_ms: number | null }>`
        SELECT slug, at_ms FROM (
          SELECT slug_id, slug, (
            SELECT at_ms FROM events WHERE events.slug_id = event_slugs.slug_id ORDER BY events.slug_id, at_ms LIMIT 1) AS at_ms
          FROM event_slugs WHERE slug IN (SELECT value FROM ${dialectOf(db).texts(slugs)} AS asked)) AS known
        WHERE at_ms IS NOT NULL OR slug_id IN (SELECT slug_id FROM event_pruned_slugs)`.execute(db);
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
    /**
     * Stores a few events as posted ones (files: import.ts, bodies: thread.ts) in the surrounding transaction, idempotent by (slug,
     * id).
     */
    add: (events: readonly LivenessEvent[]): Promise<IngestOutcome> =>
      inTransaction(changing, (transaction) => addEvents(transaction, events)),
    /** Deletes events and rollups at or before `beforeMs`, at most `maxRows` of each table at a time. */
    prune: (limits: PruneLimits): Promise<Pruned> =>
      inTransaction(changing, (transaction) => pruneEvents(transaction, limits)),
    /** Deletes an organization's events and rollups, at most `maxRows` of each table at a time; answers the deleted events. */
    forget: (slug: string, maxRows: number): Promise<{ readonly removed: number; readonly hasMore: boolean }> =>
      inTransaction(changing, (transaction) => forgetEvents(transaction, slug, maxRows)),
  };
}

async function addEvents(db: PlainDb, events: readonly LivenessEvent[]): Promise<IngestOutcome> {
  const staging = new Staging();
  const { slugs, assetTypes, statuses, attributes: sets } = staging.names;
  for (const { slug, assetType, status, attributes, ...event } of events) {
    const key = attributesKey(Object.entries(attributes ?? {}).toSorted(byName));
    staging.row({
      ...event,
      slug: slugs.keep(slug),
      assetType: assetType === null ? -1 : assetTypes.keep(assetType),
      status: statuses.keep(status),
      attributes: typeof key === "string" ? sets.keep(key) : -1,
    });
  }
  await staging.number(db);
  const { received, stored, duplicates, conflicts } = await storeStaging(db, staging);
  return { received, stored, duplicates, conflicts };
}

// Some milliseconds per page, so that other users of the store get a turn.
const pageRows = 5_000;

interface HistoryRow {
  readonly at_ms: number;
  readonly import_id: number;
  readonly ordinal: number;
  readonly status: string;
  readonly count: number;
  readonly type_id: number;
  readonly asset: string | null;
}

/** Iterates over all events of an organization in the order of the table's key, page by page. */
async function* readHistory(db: PlainDb, slug: string): AsyncGenerator<readonly HistoryEvent[]> {
  let last: HistoryRow = { at_ms: -1, import_id: -1, ordinal: -1, status: "", count: 0, type_id: 0, asset: null };
  for (;;) {
    const { rows } = await sql<HistoryRow>`
      SELECT at_ms, import_id, ordinal, event_statuses.status AS status, count, type_id, asset
      FROM events JOIN event_statuses ON event_statuses.status_id = events.status_id
      WHERE slug_id = ${slugId(slug)} AND (at_ms, import_id, ordinal) > (${last.at_ms}, ${last.import_id}, ${last.ordinal})
      ORDER BY at_ms, import_id, ordinal LIMIT ${pageRows}`.execute(db);
    if (rows.length > 0)
      yield rows.map(({ at_ms: atMs, type_id: typeId, status, count, asset }) => ({
        atMs,
        status,
        count,
        typeId,
        asset,
      }));
    last = rows.at(-1) ?? last;
    if (rows.length < pageRows) return;
  }
}

/** Deletes whole hours that end at or before `beforeMs`: a rollup then never counts a deleted event. */
async function pruneEvents(db: PlainDb, { beforeMs, maxRows }: PruneLimits): Promise<Pruned> {
  const endHour = Math.floor((beforeMs + 1) / hourMs);
  const events = await deleteOld(db, "events", "at_ms", "import_id, ordinal", { end: endHour * hourMs, maxRows });
  const ids = events.flatMap(({ slug_id, id }) => (id === null ? [] : [[slug_id, id]]));
  await deleteIds(db, ids);
  const slugs = [...new Set(events.map(({ slug_id }) => slug_id))].map((slug) => [slug]);
  await notePruned(db, slugs);
  const minutes = await deleteOld(db, "event_minutes", "minute", "type_id, import_id", { end: endHour * 60, maxRows });
  const hours = await deleteOld(db, "event_hours", "hour", "type_id, import_id", { end: endHour, maxRows });
  if (events.length > 0 || minutes.length > 0) await noteChange(db, { firstMinute: endHour * 60 });
  return { hasMore: [events, minutes, hours].some(({ length }) => length === maxRows) };
}

/** Deletes by organization; skips rows that a post is writing. */
async function deleteOld(
  db: PlainDb,
  table: string,
  span: string,
  rest: string,
  { end, maxRows }: { readonly end: number; readonly maxRows: number },
): Promise<readonly { readonly slug_id: number; readonly id: string | null }[]> {
  const { isOneOf, lock } = dialectOf(db);
  const key = sql.raw(`slug_id, ${span}, ${rest}`);
  const { rows } = await sql<{ slug_id: number; id: string | null }>`
    DELETE FROM ${sql.table(table)} WHERE (${key}) IN (
      SELECT ${key} FROM ${sql.table(table)}
      WHERE slug_id ${isOneOf(sql`SELECT slug_id FROM event_slugs`)} AND ${sql.ref(span)} < ${end}
      LIMIT ${maxRows} ${lock("FOR UPDATE SKIP LOCKED")})
    RETURNING slug_id, ${table === "events" ? sql.ref("id") : sql`null AS id`}`.execute(db);
  return rows;
}

const deleteIds = rowStatement(["bigint", "text"], (rows) => `DELETE FROM event_ids WHERE (slug_id, id) IN (${rows})`);
const notePruned = rowStatement(
  ["bigint"],
  (rows) => `INSERT INTO event_pruned_slugs (slug_id) ${rows} ON CONFLICT DO NOTHING`,
);

const tablesWithKeys = [
  ["events", "slug_id, at_ms, import_id, ordinal"],
  ["event_ids", "slug_id, id"],
  ["event_minutes", "slug_id, minute, type_id, import_id"],
  ["event_hours", "slug_id, hour, type_id, import_id"],
  ["event_pruned_slugs", "slug_id"],
] as const;

async function forgetEvents(
  db: PlainDb,
  slug: string,
  maxRows: number,
): Promise<{ readonly removed: number; readonly hasMore: boolean }> {
  const { rows } = await sql<{ slug_id: number }>`SELECT slug_id FROM event_slugs WHERE slug = ${slug}`.execute(db);
  const [known] = rows;
  if (known === undefined) return { removed: 0, hasMore: false };
  let removed = 0;
  let hasMore = false;
  for (const [table, key] of tablesWithKeys) {
    const keys = sql.raw(key);
    const { numAffectedRows } = await sql`
      DELETE FROM ${sql.table(table)} WHERE (${keys}) IN (
        SELECT ${keys} FROM ${sql.table(table)} WHERE slug_id = ${known.slug_id} LIMIT ${maxRows})`.execute(db);
    const deleted = Number(numAffectedRows ?? 0n);
    if (table === "events") removed = deleted;
    if (deleted === maxRows) hasMore = true;
  }
  await noteChange(db, { slugId: known.slug_id });
  return { removed, hasMore };
}
