import { sql, type RawBuilder } from "kysely";
import { minuteMs } from "../../base/time.ts";
import { noType, type AssetLook } from "../../contract/assets.ts";
import { aliveStatus } from "../../contract/liveness-status.ts";
import { inChunks } from "../engine/chunks.ts";
import { isAmong } from "../engine/dialect.ts";
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

/** An interval of one organization. */
export interface SlugInterval {
  readonly slug: string;
  readonly interval: Interval;
}

/** A page of the events of an organization's assets. */
interface AssetEventsQuery extends SlugInterval {
  readonly after: EventPlace | null;
}

/** The organizations, intervals and asset types whose deaths are wanted. */
interface NewestDeathsQuery {
  /** An organization may have several. */
  readonly spans: readonly SlugInterval[];
  /** Empty: of any type, and of none. */
  readonly assetTypes: readonly string[];
  /** Different assets. */
  readonly limit: number;
}

/** A death with its organization. */
type DeathOf = AssetEventRow & Pick<SlugInterval, "slug">;

/** Rows of a page; reading them takes a few milliseconds. */
const assetEventsAPage = 4_096;

const newestAPage = 256;
// At most so many minutes with deaths are read, in spans of at most 15 minutes: other events lie between the deaths.
const mostMinutes = 2_000;
const minutesATime = 15;

interface AssetRow extends Omit<AssetEventRow, "isDeath"> {
  readonly statusId: number;
}

const isAlive = sql`status_id = (SELECT status_id FROM event_statuses WHERE status = ${aliveStatus})`;
const columns = sql`at_ms AS "atMs", ordinal, asset, type_id AS "typeId", attribute_set_id AS "attributeSetId",
  status_id AS "statusId", count`;

/** Creates the readings of single events of assets; each statement reads a bounded number of them. */
export function createAssetEvents(db: PlainDb) {
  return {
    /** Returns the next page of events of known assets in the interval, dead or alive, in the order of time. */
    assetEvents: async ({ slug, interval, after }: AssetEventsQuery): Promise<readonly AssetEventRow[]> => {
      const { atMs, ordinal } = after ?? { atMs: interval.afterMs + 1, ordinal: -1 };
      const { rows } = await sql<AssetRow>`
        SELECT ${columns} FROM events
        WHERE slug_id = ${slugId(slug)} AND at_ms >= ${atMs} AND at_ms <= ${interval.untilMs}
          AND (at_ms, ordinal) > (${atMs}, ${ordinal})
          AND asset IS NOT NULL AND (status_id = ${deadStatusId} OR ${isAlive})
        ORDER BY at_ms, ordinal LIMIT ${assetEventsAPage}`.execute(db);
      return rows.map(assetEvent);
    },
    /** The names of asset types and the attributes of these rows. */
    factsOf: async (events: readonly Pick<AssetEventRow, "typeId" | "attributeSetId">[]): Promise<EventFacts> => {
      const typeIds = new Set(events.map(({ typeId }) => typeId).filter((typeId) => typeId !== noType));
      const types = await inChunks([...typeIds], async (ids) => {
        const { rows } = await sql<{ type_id: number; asset_type: string }>`
          SELECT type_id, asset_type FROM event_asset_types WHERE type_id IN (${sql.join(ids)})`.execute(db);
        return rows;
      });
      const setIds = new Set(events.flatMap(({ attributeSetId }) => attributeSetId ?? []));
      const sets = await inChunks([...setIds], async (ids) => {
        const { rows } = await sql<{ attribute_set_id: number; attributes: string }>`
          SELECT attribute_set_id, attributes FROM event_attribute_sets
          WHERE attribute_set_id IN (${sql.join(ids)})`.execute(db);
        return rows;
      });
      return {
        assetTypes: new Map(types.map((row) => [row.type_id, row.asset_type])),
        attributeSets: new Map(
          sets.map((row) => [row.attribute_set_id, JSON.parse(row.attributes) as Record<string, string>]),
        ),
      };
    },
    /**
     * The deaths of the assets that died last, each asset of an organization once, newest first. Reads only the latest
     * minutes with deaths, so that an alert does not wait for it.
     */
    newestDeaths: async ({ spans, assetTypes, limit }: NewestDeathsQuery): Promise<readonly DeathOf[]> => {
      if (limit <= 0) return [];
      const ofThese = ofTypes(assetTypes);
      const bySlug = Map.groupBy(spans, (span) => span.slug);
      let newest: DeathOf[] = [];
      for await (const { slug, atMs } of lastDeaths(db, new Set(bySlug.keys()))) {
        // The organizations that follow have no later death.
        if (newest.length === limit && atMs <= (newest.at(-1)?.atMs ?? Infinity)) break;
        const intervals = (bySlug.get(slug) ?? []).map(({ interval }) => interval);
        newest = [...newest, ...(await newestOf(db, { slug, intervals, ofThese, limit }))]
          .toSorted((left, right) => right.atMs - left.atMs || right.ordinal - left.ordinal)
          .slice(0, limit);
      }
      return newest;
    },
    /** The last events that found an asset alive, newest first; an asset may be there more than once. */
    newestAlive: async (query: SlugInterval & Omit<NewestDeathsQuery, "spans">): Promise<readonly AssetEventRow[]> => {
      const { slug, interval, assetTypes, limit } = query;
      const { rows } = await sql<AssetRow>`
        SELECT ${columns} FROM events
        WHERE slug_id = ${slugId(slug)} AND at_ms > ${interval.afterMs} AND at_ms <= ${interval.untilMs}
          AND ${isAlive} AND asset IS NOT NULL ${ofTypes(assetTypes)}
        ORDER BY at_ms DESC, ordinal DESC LIMIT ${limit}`.execute(db);
      return rows.map(assetEvent);
    },
  };
}

/** Yields all pages of `assetEvents`; the last one may be empty. */
export async function* assetEventPages(
  evidence: Pick<ReturnType<typeof createAssetEvents>, "assetEvents">,
  query: SlugInterval,
): AsyncGenerator<readonly AssetEventRow[]> {
  let after: EventPlace | null = null;
  for (;;) {
    const page: readonly AssetEventRow[] = await evidence.assetEvents({ ...query, after });
    yield page;
    if (page.length < assetEventsAPage) return;
    after = page.at(-1) ?? null;
  }
}

/** Yields the last death of each organization, of a named asset or not, the latest first; absent: it has none. */
async function* lastDeaths(db: PlainDb, slugs: Set<string>): AsyncGenerator<{ slug: string; atMs: number }> {
  // Most callers want the first ones of thousands.
  for (let isMore = true; isMore;) {
    const { rows } = await sql<{ slug: string; atMs: number }>`
      SELECT slug, (SELECT max(at_ms) FROM events WHERE events.slug_id = latest.slug_id AND status_id = ${deadStatusId}
        AND at_ms >= latest.minute * ${minuteMs} AND at_ms < (latest.minute + 1) * ${minuteMs}) AS "atMs"
      FROM (SELECT slug, slug_id, (SELECT max(minute) FROM event_minutes
          WHERE event_minutes.slug_id = event_slugs.slug_id) AS minute
        FROM event_slugs WHERE ${isAmong(db, "slug", [...slugs])}) AS latest
      WHERE latest.minute IS NOT NULL ORDER BY "atMs" DESC LIMIT ${newestAPage}`.execute(db);
    for (const row of rows) {
      slugs.delete(row.slug);
      yield row;
    }
    isMore = rows.length === newestAPage;
  }
}

interface NewestOfOne extends Pick<NewestDeathsQuery, "limit"> {
  readonly slug: string;
  readonly intervals: readonly Interval[];
  readonly ofThese: RawBuilder<unknown>;
}

async function newestOf(db: PlainDb, { slug, intervals, ofThese, limit }: NewestOfOne): Promise<readonly DeathOf[]> {
  const first = Math.floor(Math.min(...intervals.map(({ afterMs }) => afterMs + 1)) / minuteMs);
  const last = Math.floor(Math.max(...intervals.map(({ untilMs }) => untilMs)) / minuteMs);
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

function ofTypes(assetTypes: readonly string[]): RawBuilder<unknown> {
  return assetTypes.length === 0
    ? sql``
    : sql`AND type_id IN (SELECT type_id FROM event_asset_types WHERE asset_type IN (${sql.join(assetTypes)}))`;
}

function assetEvent({ statusId, ...row }: AssetRow): AssetEventRow {
  return { ...row, isDeath: statusId === deadStatusId };
}

/** Selects the id of a slug; null: it has no events. */
export function slugId(slug: string): RawBuilder<number> {
  return sql<number>`(SELECT slug_id FROM event_slugs WHERE slug = ${slug})`;
}
