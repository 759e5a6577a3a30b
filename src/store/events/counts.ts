import { sql } from "kysely";

import { eventLoopTurn, hourMs, minuteMs } from "../../base/time.ts";
import type { AssetTypeDeaths, DeathsQuery } from "../../contract/liveness-counts.ts";
import { rowStatement } from "../engine/dialect.ts";
import type { PlainDb } from "../tables.ts";
import { slugId } from "./asset-events.ts";
import { deadStatusId } from "./rules.ts";
import type { CountCache } from "./count-cache.ts";

/** Numbers from ≤ n < to; empty if from = to. */
type Span = readonly [from: number, to: number];

/**
 * Splits (afterMs, throughMs], the form of every window (CONTRACT 2), so that as few events as possible are read: into
 * whole hours, the whole minutes before and after them, and the instants before and after these.
 */
function splitInterval(afterMs: number, throughMs: number): readonly Span[] {
  // Instants are integers: (a, b] is [a + 1, b + 1).
  const [firstInstants, inMinutes, lastInstants] = splitSpan([afterMs + 1, Math.max(afterMs, throughMs) + 1], minuteMs);
  const [firstMinutes, hours, lastMinutes] = splitSpan(inMinutes, hourMs / minuteMs);
  return [hours, firstMinutes, lastMinutes, firstInstants, lastInstants];
}

/** Returns the whole multiples of `size` in a span, in units of `size`, and the rest before and after them. */
function splitSpan([from, to]: Span, size: number): readonly [Span, Span, Span] {
  const [first, end] = [Math.ceil(from / size), Math.floor(to / size)];
  if (first >= end)
    return [
      [from, to],
      [0, 0],
      [0, 0],
    ];
  return [
    [from, first * size],
    [first, end],
    [end * size, to],
  ];
}

/** Sums the deaths of the organization by one column, within one of its spans. */
const part = (table: string, column: string, deaths: string, span: string): string => `
  SELECT place, type_id, ${deaths} AS deaths FROM asked CROSS JOIN ${table}
  WHERE ${table}.slug_id = asked.slug_id AND ${column} >= ${span}_from AND ${column} < ${span}_to`;
const instants = (span: string): string => `${part("events", "at_ms", "count", span)} AND status_id = ${deadStatusId}`;

/** Counts the deaths in all intervals: from the rollups for whole hours and minutes, from the events at the edges. */
const countDeaths = rowStatement<{ place: number; asset_type: string | null; deaths: number }>(
  ["bigint", "text", ...Array.from({ length: 10 }, () => "bigint" as const)],
  (rows) => `
    WITH given (place, slug, hours_from, hours_to, first_minutes_from, first_minutes_to, last_minutes_from,
        last_minutes_to, first_from, first_to, last_from, last_to) AS (${rows}),
      asked AS MATERIALIZED (
        SELECT given.*, event_slugs.slug_id FROM given CROSS JOIN event_slugs WHERE event_slugs.slug = given.slug)
    -- A sum beyond the integers of JavaScript could not be read at all.
    SELECT place, asset_type,
      CASE WHEN deaths < ${Number.MAX_SAFE_INTEGER} THEN deaths ELSE ${Number.MAX_SAFE_INTEGER} END AS deaths
    FROM (
      SELECT place, type_id, sum(deaths) AS deaths FROM (
        ${part("event_hours", "hour", "deaths", "hours")}
        UNION ALL ${part("event_minutes", "minute", "deaths", "first_minutes")}
        UNION ALL ${part("event_minutes", "minute", "deaths", "last_minutes")}
        UNION ALL ${instants("first")} UNION ALL ${instants("last")}) AS parts
      GROUP BY place, type_id HAVING sum(deaths) > 0) AS counted
    LEFT JOIN event_asset_types ON event_asset_types.type_id = counted.type_id
    ORDER BY asset_type NULLS FIRST`,
);

/** Returns the deaths of each query in SQL, in order: hundreds of organizations a statement. */
export async function deathsInSql(
  db: PlainDb,
  queries: readonly DeathsQuery[],
): Promise<readonly (readonly AssetTypeDeaths[])[]> {
  const asked = queries.flatMap(({ slug, intervals }, query) =>
    intervals.map(({ afterMs, untilMs }, interval) => ({ query, interval, slug, afterMs, untilMs })),
  );
  const byQuery = queries.map(() => new Map<string | null, number[]>());
  const rows = asked.map(({ slug, afterMs, untilMs }, place) => [
    place,
    slug,
    ...splitInterval(afterMs, untilMs).flat(),
  ]);
  for (const { place, asset_type, deaths } of await countDeaths(db, rows)) {
    const { query, interval } = asked[place] ?? { query: 0, interval: 0 };
    const byType = byQuery[query];
    const counts = byType?.get(asset_type) ?? (queries[query]?.intervals ?? []).map(() => 0);
    counts[interval] = deaths;
    byType?.set(asset_type, counts);
  }
  return byQuery.map((byType) => [...byType].map(([assetType, deaths]) => ({ assetType, deaths })));
}

/**
 * Counts the deaths of one query from single events, or the assets that died. Each interval is a statement and a turn
 * of the event loop.
 */
async function countEvents(
  db: PlainDb,
  { slug, intervals, count }: DeathsQuery,
  signal: AbortSignal | undefined,
): Promise<AssetTypeDeaths[]> {
  const counted =
    count === "assets"
      ? sql`count(DISTINCT asset) + coalesce(sum(CASE WHEN asset IS NULL THEN count END), 0)`
      : sql`sum(count)`;
  const byType = new Map<string | null, number[]>();
  for (const [index, { afterMs, untilMs }] of intervals.entries()) {
    signal?.throwIfAborted();
    const { rows } = await sql<{ asset_type: string | null; counted: number }>`
      SELECT asset_type, counted FROM (
        SELECT type_id, CAST(${counted} AS BIGINT) AS counted FROM events
        WHERE slug_id = ${slugId(slug)} AND at_ms > ${afterMs} AND at_ms <= ${untilMs}
          AND status_id = ${deadStatusId} AND count > 0
        GROUP BY type_id) AS of_types
      LEFT JOIN event_asset_types ON event_asset_types.type_id = of_types.type_id ORDER BY asset_type`.execute(db);
    for (const row of rows) {
      const known = byType.get(row.asset_type) ?? intervals.map(() => 0);
      known[index] = row.counted;
      byType.set(row.asset_type, known);
    }
    await eventLoopTurn();
  }
  return [...byType].map(([assetType, deaths]) => ({ assetType, deaths }));
}

/** Returns how deaths are counted: by `cache` where it knows them, else in SQL; assets from single events. */
export function createDeaths(
  db: PlainDb,
  cache: CountCache | null,
): (
  queries: readonly DeathsQuery[],
  options?: { readonly signal?: AbortSignal },
) => Promise<readonly (readonly AssetTypeDeaths[])[]> {
  const countOf = async (queries: readonly DeathsQuery[]): Promise<readonly (readonly AssetTypeDeaths[])[]> => {
    const known = cache === null ? [] : await cache.deaths(queries);
    const missing = queries.filter((_, index) => (known[index] ?? null) === null);
    const counted = (missing.length === 0 ? [] : await deathsInSql(db, missing)).values();
    return queries.map((_, index) => known[index] ?? counted.next().value ?? []);
  };
  return async (queries, { signal } = {}) => {
    const ofDeaths = queries.filter(({ count }) => count !== "assets");
    const counted = (ofDeaths.length === 0 ? [] : await countOf(ofDeaths)).values();
    const answers: (readonly AssetTypeDeaths[])[] = [];
    for (const query of queries) {
      answers.push(query.count === "assets" ? await countEvents(db, query, signal) : (counted.next().value ?? []));
    }
    return answers;
  };
}
