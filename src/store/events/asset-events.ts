import { sql, type RawBuilder } from "kysely";
import { minuteMs } from "../../base/time.ts";
import { noType, type AssetLook } from "../../contract/assets.ts";
import { aliveStatus } from "../../contract/liveness-status.ts";
import { chunksOf } from "../engine/chunks.ts";
import type { Interval } from "../../contract/liveness-counts.ts";
import type { PlainDb } from "../tables.ts";
import { deadStatusId } from "./rules.ts";

/** Position of an event among those of its organization, by time. */
export interface EventPlace {
  readonly atMs: number;
  readonly ordinal: number;
}

/** A death, or an event that found the asset alive. */
export interface AssetEventRow extends EventPlace, AssetLook {
  readonly attributeSetId: number | null;
}

/** The texts behind the numbers of {@link AssetEventRow}; a type that is absent is none. */
export interface EventFacts {
  readonly assetTypes: ReadonlyMap<number, string>;
  readonly attributeSets: ReadonlyMap<number, Readonly<Record<string, string>>>;
}

/** A page of the events of an organization's assets. */
export interface AssetEventsQuery {
  readonly slug: string;
  readonly interval: Interval;
  readonly after: EventPlace | null;
}

/** An interval of one organization. */
export interface SlugInterval {
  readonly slug: string;
  readonly interval: Interval;
}

/** Deaths of which organizations, intervals and asset types. */
export interface NewestDeathsQuery {
  /** Of an organization more than one may be given. */
  readonly spans: readonly SlugInterval[];
  /** Empty: of any, also of none. */
  readonly assetTypes: readonly string[];
  /** Different assets. */
  readonly limit: number;
}

/** The same of one organization. */
export type NewestAliveQuery = SlugInterval & Omit<NewestDeathsQuery, "spans">;

/** A death with its organization. */
export type DeathOf = AssetEventRow & Pick<SlugInterval, "slug">;

/** Rows of a page; reading them takes a few milliseconds. */
const assetEventsAPage = 4_096;

const newestAPage = 256;
// As many minutes with deaths are looked at, and so many of the clock at a time: between two lie events that are no deaths.
const mostMinutes = 2_000;
const minutesATime = 15;

interface AssetRow {
  readonly at_ms: number;
  readonly ordinal: number;
  readonly asset: string;
  readonly type_id: number;
  readonly attribute_set_id: number | null;
  readonly status_id: number;
  readonly count: number;
}

const columns = sql.raw("at_ms, ordinal, asset, type_id, attribute_set_id, status_id, count");

/** Reads a page for EvidenceStore.assetEvents. */
export async function assetEvents(db: PlainDb, query: AssetEventsQuery): Promise<readonly AssetEventRow[]> {
  const { slug, interval, after } = query;
  const { atMs, ordinal } = after ?? { atMs: interval.afterMs + 1, ordinal: -1 };
  const { rows } = await sql<AssetRow>`
    SELECT ${columns} FROM events
    WHERE slug_id = ${slugId(slug)} AND at_ms >= ${atMs} AND at_ms <= ${interval.untilMs}
      AND (at_ms, ordinal) > (${atMs}, ${ordinal})
      AND asset IS NOT NULL
      AND status_id IN (${deadStatusId}, (SELECT status_id FROM event_statuses WHERE status = ${aliveStatus}))
    ORDER BY at_ms, ordinal LIMIT ${assetEventsAPage}`.execute(db);
  return rows.map(assetEvent);
}

/** Yields all pages of `EvidenceStore.assetEvents`; the last one may be empty. `pause` is awaited between two [not at all]. */
export async function* assetEventPages(
  evidence: { readonly assetEvents: (query: AssetEventsQuery) => Promise<readonly AssetEventRow[]> },
  query: Pick<AssetEventsQuery, "slug" | "interval">,
): AsyncGenerator<readonly AssetEventRow[]> {
  let after: EventPlace | null = null;
  for (;;) {
    const page: readonly AssetEventRow[] = await evidence.assetEvents({ ...query, after });
    yield page;
    if (page.length < assetEventsAPage) return;
    after = page.at(-1) ?? null;
  }
}

/** Reads EvidenceStore.factsOf. */
export async function factsOf(
  db: PlainDb,
  events: readonly Pick<AssetEventRow, "typeId" | "attributeSetId">[],
): Promise<EventFacts> {
  const typeIds = new Set(events.map(({ typeId }) => typeId));
  typeIds.delete(noType);
  const assetTypes = new Map<number, string>();
  for (const ids of chunksOf([...typeIds])) {
    const { rows } = await sql<{ type_id: number; asset_type: string }>`
      SELECT type_id, asset_type FROM event_asset_types WHERE type_id IN (${sql.join(ids)})`.execute(db);
    for (const row of rows) assetTypes.set(row.type_id, row.asset_type);
  }
  const attributeSets = new Map<number, Readonly<Record<string, string>>>();
  for (const ids of chunksOf([...new Set(events.flatMap(({ attributeSetId }) => attributeSetId ?? []))])) {
    const { rows } = await sql<{ attribute_set_id: number; attributes: string }>`
      SELECT attribute_set_id, attributes FROM event_attribute_sets
      WHERE attribute_set_id IN (${sql.join(ids)})`.execute(db);
    for (const { attribute_set_id, attributes } of rows)
      attributeSets.set(attribute_set_id, JSON.parse(attributes) as Record<string, string>);
  }
  return { assetTypes, attributeSets };
}

/** Reads EvidenceStore.newestDeaths: the rollups give the minutes with deaths, whatever the other events are. */
export async function newestDeaths(
  db: PlainDb,
  { spans, assetTypes, limit }: NewestDeathsQuery,
): Promise<readonly DeathOf[]> {
  const ofThese = ofTypes(assetTypes);
  let newest: DeathOf[] = [];
  for (const [slug, own] of limit <= 0 ? [] : Map.groupBy(spans, ({ slug }) => slug)) {
    // What is older than all that is found is not asked for.
    const sinceMs = newest.length < limit ? -Infinity : (newest.at(-1)?.atMs ?? -Infinity);
    const intervals = own.map(({ interval: { afterMs, untilMs } }) => ({
      afterMs: Math.max(afterMs, sinceMs - 1),
      untilMs,
    }));
    const found = await newestOf(db, { slug, intervals, ofThese, limit });
    newest = [...newest, ...found].toSorted(byNewest).slice(0, limit);
  }
  return newest;
}

interface NewestOfOne extends Pick<NewestDeathsQuery, "limit"> {
  readonly slug: string;
  readonly intervals: readonly Interval[];
  readonly ofThese: RawBuilder<unknown>;
}

async function newestOf(db: PlainDb, { slug, intervals, ofThese, limit }: NewestOfOne): Promise<readonly DeathOf[]> {
  const first = Math.min(...intervals.map(({ afterMs }) => minuteOf(afterMs + 1)));
  const last = Math.max(...intervals.map(({ untilMs }) => minuteOf(untilMs)));
  const { rows: minutes } = await sql<{ minute: number; deaths: number }>`
    SELECT minute, CAST(sum(deaths) AS BIGINT) AS deaths FROM event_minutes
    WHERE slug_id = ${slugId(slug)} AND minute >= ${first} AND minute <= ${last} ${ofThese}
    GROUP BY minute ORDER BY minute DESC LIMIT ${mostMinutes}`.execute(db);
  const newest = new Map<string, DeathOf>();
  for (let at = 0; at < minutes.length;) {
    const to = minutes[at]?.minute ?? 0;
    let from = to;
    let deaths = 0;
    for (; at < minutes.length && deaths < limit && (minutes[at]?.minute ?? 0) > to - minutesATime; at++) {
      from = minutes[at]?.minute ?? 0;
      deaths += minutes[at]?.deaths ?? 0;
    }
    for await (const death of deathsOf(db, { slug, from, to, ofThese })) {
      const { typeId, asset, atMs } = death;
      const key = `${typeId}\n${asset}`;
      if (newest.has(key) || !intervals.some(({ afterMs, untilMs }) => atMs > afterMs && atMs <= untilMs)) continue;
      newest.set(key, { slug, ...death });
      if (newest.size === limit) return [...newest.values()];
    }
  }
  return [...newest.values()];
}

/** Yields the deaths from one minute through another, the newest first. */
async function* deathsOf(
  db: PlainDb,
  { slug, from, to, ofThese }: { slug: string; from: number; to: number; ofThese: RawBuilder<unknown> },
): AsyncGenerator<AssetEventRow> {
  let before: EventPlace = { atMs: (to + 1) * minuteMs, ordinal: -1 };
  for (let isMore = true; isMore;) {
    const { rows } = await sql<AssetRow>`
      SELECT ${columns} FROM events
      WHERE slug_id = ${slugId(slug)} AND at_ms >= ${from * minuteMs} AND at_ms <= ${before.atMs}
        AND (at_ms, ordinal) < (${before.atMs}, ${before.ordinal})
        AND status_id = ${deadStatusId} AND count > 0 AND asset IS NOT NULL ${ofThese}
      ORDER BY at_ms DESC, ordinal DESC LIMIT ${newestAPage}`.execute(db);
    for (const row of rows.map(assetEvent)) yield (before = row);
    isMore = rows.length === newestAPage;
  }
}

function minuteOf(atMs: number): number {
  return Math.floor(atMs / minuteMs);
}

function byNewest(left: DeathOf, right: DeathOf): number {
  return right.atMs - left.atMs || right.ordinal - left.ordinal;
}

/** Reads EvidenceStore.newestAlive. */
export async function newestAlive(db: PlainDb, query: NewestAliveQuery): Promise<readonly AssetEventRow[]> {
  const { slug, interval, assetTypes, limit } = query;
  const { rows } = await sql<AssetRow>`
    SELECT ${columns} FROM events
    WHERE slug_id = ${slugId(slug)} AND at_ms > ${interval.afterMs} AND at_ms <= ${interval.untilMs}
      AND status_id = (SELECT status_id FROM event_statuses WHERE status = ${aliveStatus}) AND asset IS NOT NULL
      ${ofTypes(assetTypes)}
    ORDER BY at_ms DESC, ordinal DESC LIMIT ${limit}`.execute(db);
  return rows.map(assetEvent);
}

function ofTypes(assetTypes: readonly string[]): RawBuilder<unknown> {
  return assetTypes.length === 0
    ? sql``
    : sql`AND type_id IN (SELECT type_id FROM event_asset_types WHERE asset_type IN (${sql.join(assetTypes)}))`;
}

function assetEvent(row: AssetRow): AssetEventRow {
  return {
    atMs: row.at_ms,
    ordinal: row.ordinal,
    asset: row.asset,
    typeId: row.type_id,
    attributeSetId: row.attribute_set_id,
    isDeath: row.status_id === deadStatusId,
    count: row.count,
  };
}

/** Selects the id of a slug; null: it has no events. */
export function slugId(slug: string): RawBuilder<number> {
  return sql<number>`(SELECT slug_id FROM event_slugs WHERE slug = ${slug})`;
}
