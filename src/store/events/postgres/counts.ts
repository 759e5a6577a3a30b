import { sql } from "kysely";
import type { AssetTypeDeaths, DeathsQuery } from "../../../contract/liveness-counts.ts";
import { splitInterval } from "../sqlite/spans.ts";
import { deadStatusId } from "../sqlite/writer.ts";
import type { PlainDb } from "../../schema.ts";

// Bounds of one interval: from and to of hours, of the minutes before and after them, of the instants before and after
// those.
const boundsAnInterval = 10;

/**
 * Counts the deaths in all intervals of all queries with one statement: from the rollups for whole hours and minutes, from
 * the events at the edges.
 */
export async function deathsInPostgres(
  db: PlainDb,
  queries: readonly DeathsQuery[],
): Promise<readonly (readonly AssetTypeDeaths[])[]> {
  const asked = queries.flatMap(({ slug, intervals }, query) =>
    intervals.map((interval, place) => ({ query, place, slug, ...interval })),
  );
  const byQuery = queries.map(() => new Map<string | null, number[]>());
  if (asked.length === 0) return queries.map(() => []);
  const bounds: number[][] = Array.from({ length: boundsAnInterval }, () => []);
  for (const { afterMs, untilMs } of asked) {
    const { hours, minutes, instants } = splitInterval(afterMs, untilMs);
    for (const [index, { from, to }] of [hours, ...minutes, ...instants].entries()) {
      bounds[2 * index]?.push(from);
      bounds[2 * index + 1]?.push(to);
    }
  }
  const slugs = asked.map(({ slug }) => slug);
  const { rows } = await sql<{ place: number; asset_type: string | null; deaths: number }>`
    SELECT asked.place, event_asset_types.asset_type,
      -- A sum beyond the integers of JavaScript could not be read at all.
      least(counted.deaths, ${sql.lit(Number.MAX_SAFE_INTEGER)}) AS deaths
    FROM unnest(${slugs}::text[], ${sql.join(bounds.map((values) => sql`${`{${values.join(",")}}`}::int8[]`))})
      WITH ORDINALITY AS asked
      (slug, hour_from, hour_to, minute_from, minute_to, late_minute_from, late_minute_to, from_ms, to_ms, late_from_ms,
       late_to_ms, place)
    JOIN event_slugs ON event_slugs.slug = asked.slug
    CROSS JOIN LATERAL (
      SELECT type_id, sum(deaths) AS deaths FROM (
        ${part("event_hours", "hour", "hour_from", "hour_to")}
        UNION ALL ${part("event_minutes", "minute", "minute_from", "minute_to")}
        UNION ALL ${part("event_minutes", "minute", "late_minute_from", "late_minute_to")}
        UNION ALL ${part("events", "at_ms", "from_ms", "to_ms")}
        UNION ALL ${part("events", "at_ms", "late_from_ms", "late_to_ms")}
      ) AS parts GROUP BY type_id HAVING sum(deaths) > 0
    ) AS counted
    LEFT JOIN event_asset_types ON event_asset_types.type_id = counted.type_id
    ORDER BY event_asset_types.asset_type NULLS FIRST`.execute(db);
  for (const { place: row, asset_type, deaths } of rows) {
    const { query, place } = asked[row - 1] ?? { query: 0, place: 0 };
    const byType = byQuery[query];
    const counts = byType?.get(asset_type) ?? (queries[query]?.intervals ?? []).map(() => 0);
    counts[place] = deaths;
    byType?.set(asset_type, counts);
  }
  return byQuery.map((byType) => [...byType].map(([assetType, deaths]) => ({ assetType, deaths })));
}

/** Sums the deaths of the organization by one column, in [from, to). */
function part(table: "event_hours" | "event_minutes" | "events", column: string, from: string, to: string) {
  const [deaths, and] =
    table === "events" ? [sql`count AS deaths`, sql`AND status_id = ${sql.lit(deadStatusId)}`] : [sql`deaths`, sql``];
  return sql`
    SELECT type_id, ${deaths} FROM ${sql.table(table)}
    WHERE slug_id = event_slugs.slug_id AND ${sql.ref(column)} >= asked.${sql.ref(from)}
      AND ${sql.ref(column)} < asked.${sql.ref(to)} ${and}`;
}
