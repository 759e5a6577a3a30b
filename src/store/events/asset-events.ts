import { sql, type RawBuilder } from "kysely";
import { minuteMs } from "../../base/time.ts";
import { noType, type AssetLook } from "../../contract/assets.ts";
import { aliveStatus } from "../../contract/liveness-status.ts";
import { chunksOf } from "../engine/chunks.ts";
import type { Interval } from "../../contract/liveness-counts.ts";
import type { PlainDb } from "../schema.ts";
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
// How far back the first look for the newest deaths of one organization goes: a day's window.
const firstMinutes = 1_440;
// It goes on until so many minutes with deaths were read of an organization on average, and so many of all.
const mostMinutes = 2_000;
const mostMinutesOfAll = 100_000;
const organizationsAStatement = 5_000;

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
export async function newestDeaths(db: PlainDb, query: NewestDeathsQuery): Promise<readonly DeathOf[]> {
  const { spans, limit } = query;
  if (limit <= 0) return [];
  const found: DeathOf[] = [];
  for (const some of chunksOf([...Map.groupBy(spans, ({ slug }) => slug)], organizationsAStatement))
    found.push(...(await newestOfSome(db, query, new Map(some))));
  return found.toSorted(byNewest).slice(0, limit);
}

/**
 * Looks back from the last deaths in stretches, each twice as long as the one before, until there are enough. A checker that
 * breaks lets all of a fleet die within the same minutes: of thousands the first stretch is a minute, of one it is a day.
 */
async function newestOfSome(
  db: PlainDb,
  { assetTypes, limit }: NewestDeathsQuery,
  ofSlug: ReadonlyMap<string, readonly SlugInterval[]>,
): Promise<readonly DeathOf[]> {
  const intervals = [...ofSlug.values()].flatMap((spans) => spans.map(({ interval }) => interval));
  const firstMinute = Math.min(...intervals.map(({ afterMs }) => minuteOf(afterMs + 1)));
  const mostPairs = Math.min(mostMinutes * ofSlug.size, mostMinutesOfAll);
  const ofThese = ofTypes(assetTypes);
  const known = new Set<string>();
  const newest: DeathOf[] = [];
  let to = Math.max(...intervals.map(({ untilMs }) => minuteOf(untilMs)));
  let minutes = Math.ceil(firstMinutes / ofSlug.size);
  for (let pairs = 0; pairs < mostPairs; minutes *= 2) {
    to = await lastMinute(db, [...ofSlug.keys()], to);
    if (to < firstMinute) break;
    const from = Math.max(to - minutes + 1, firstMinute);
    const meant = (await minutesWithDeaths(db, ofSlug, { from, to, ofThese })).filter(({ slug, minute }) =>
      areWithin(ofSlug.get(slug), minute, minute),
    );
    for (const some of together(meant, limit))
      for await (const death of deathsOfMinutes(db, some, ofThese)) {
        const key = JSON.stringify([death.slug, death.typeId, death.asset]);
        if (!isWithin(ofSlug.get(death.slug), death.atMs, death.atMs) || known.has(key)) continue;
        known.add(key);
        newest.push(death);
        if (newest.length === limit) return newest;
      }
    pairs += meant.length;
    to = from - 1;
  }
  return newest;
}

function minuteOf(atMs: number): number {
  return Math.floor(atMs / minuteMs);
}

/** Whether any instant from `fromMs` through `throughMs` is in one of the spans. */
function isWithin(spans: readonly SlugInterval[] | undefined, fromMs: number, throughMs: number): boolean {
  return spans?.some(({ interval: { afterMs, untilMs } }) => throughMs > afterMs && fromMs <= untilMs) ?? false;
}

/** The same of the minutes from `from` through `to`. */
function areWithin(spans: readonly SlugInterval[] | undefined, from: number, to: number): boolean {
  return isWithin(spans, from * minuteMs, (to + 1) * minuteMs - 1);
}

function byNewest(left: DeathOf, right: DeathOf): number {
  return right.atMs - left.atMs || right.ordinal - left.ordinal;
}

/** The latest minute until `to` in which any of these had deaths; -Infinity: there is none. */
async function lastMinute(db: PlainDb, slugs: readonly string[], to: number): Promise<number> {
  const { rows } = await sql<{ minute: number | null }>`
    SELECT max((SELECT max(minute) FROM event_minutes
      WHERE slug_id = event_slugs.slug_id AND minute <= ${to})) AS minute
    FROM event_slugs WHERE slug IN (${sql.join(slugs)})`.execute(db);
  return rows[0]?.minute ?? -Infinity;
}

/** A minute in which an organization had deaths. */
interface MinuteOf {
  readonly slug: string;
  readonly slugId: number;
  readonly minute: number;
  readonly deaths: number;
}

/** Returns the minutes of a stretch with deaths of those with a span in it, the latest first. */
async function minutesWithDeaths(
  db: PlainDb,
  ofSlug: ReadonlyMap<string, readonly SlugInterval[]>,
  { from, to, ofThese }: { readonly from: number; readonly to: number; readonly ofThese: RawBuilder<unknown> },
): Promise<readonly MinuteOf[]> {
  const slugs = [...ofSlug.keys()].filter((slug) => areWithin(ofSlug.get(slug), from, to));
  if (slugs.length === 0) return [];
  const { rows } = await sql<{ slug: string; slug_id: number; minute: number; deaths: number }>`
    SELECT slug, event_slugs.slug_id, minute, CAST(sum(deaths) AS BIGINT) AS deaths
    FROM event_slugs CROSS JOIN event_minutes
    WHERE slug IN (${sql.join(slugs)}) AND event_minutes.slug_id = event_slugs.slug_id
      AND minute >= ${from} AND minute <= ${to} ${ofThese}
    GROUP BY slug, event_slugs.slug_id, minute ORDER BY minute DESC`.execute(db);
  return rows.map(({ slug, slug_id, minute, deaths }) => ({ slug, slugId: slug_id, minute, deaths }));
}

/** Minutes that follow each other, and the organizations with deaths in them. */
interface Minutes {
  from: number;
  readonly to: number;
  readonly slugIds: Set<number>;
  deaths: number;
}

/** Takes as many minutes together as are likely to have `limit` deaths. */
function together(minutes: readonly MinuteOf[], limit: number): readonly Minutes[] {
  const found: Minutes[] = [];
  for (const { slugId, minute, deaths } of minutes) {
    let last = found.at(-1);
    if (last === undefined || (last.deaths >= limit && last.from !== minute))
      found.push((last = { from: minute, to: minute, slugIds: new Set(), deaths: 0 }));
    last.from = minute;
    last.slugIds.add(slugId);
    last.deaths += deaths;
  }
  return found;
}

async function* deathsOfMinutes(
  db: PlainDb,
  { from, to, slugIds }: Minutes,
  ofThese: RawBuilder<unknown>,
): AsyncGenerator<DeathOf> {
  const fromMs = from * minuteMs;
  let before: EventPlace = { atMs: (to + 1) * minuteMs, ordinal: -1 };
  for (let isMore = true; isMore;) {
    const { rows } = await sql<AssetRow & { readonly slug: string }>`
      SELECT slug, ${columns} FROM events JOIN event_slugs USING (slug_id)
      WHERE slug_id IN (${sql.join([...slugIds])}) AND at_ms >= ${fromMs} AND at_ms <= ${before.atMs}
        AND (at_ms, ordinal) < (${before.atMs}, ${before.ordinal})
        AND status_id = ${deadStatusId} AND count > 0 AND asset IS NOT NULL ${ofThese}
      ORDER BY at_ms DESC, ordinal DESC LIMIT ${newestAPage}`.execute(db);
    for (const row of rows) {
      const death = { slug: row.slug, ...assetEvent(row) };
      before = death;
      yield death;
    }
    isMore = rows.length === newestAPage;
  }
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
