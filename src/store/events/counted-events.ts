import { sql } from "kysely";
import { eventLoopTurn } from "../../base/time.ts";
import type { AssetTypeDeaths, DeathsQuery, LivenessCounts } from "../../contract/liveness-counts.ts";
import type { PlainDb } from "../schema.ts";
import { isKnownAt, slugId } from "./asset-events.ts";
import { deadStatusId } from "./sqlite/writer.ts";

/**
 * Counts the deaths of one query from single events, or the assets that died; with `knownAtMs` only of events that had arrived by then.
 * Each interval is a statement and a turn of the event loop: at a day's window a statement reads a day.
 */
export async function countEvents(
  db: PlainDb,
  { slug, intervals, count }: DeathsQuery,
  { knownAtMs, signal }: { readonly knownAtMs?: number; readonly signal?: AbortSignal } = {},
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
          AND status_id = ${deadStatusId} AND count > 0 ${knownAtMs === undefined ? sql`` : sql`AND ${isKnownAt(knownAtMs)}`}
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

/** Answers what counts deaths by `deaths`, in one call, and what counts assets from single events. */
export function withAssetCounts(db: PlainDb, deaths: LivenessCounts["deaths"]): LivenessCounts["deaths"] {
  return async (queries, { signal } = {}) => {
    const ofDeaths = queries.filter(({ count }) => count !== "assets");
    const counted = (ofDeaths.length === 0 ? [] : await deaths(ofDeaths)).values();
    const answers: (readonly AssetTypeDeaths[])[] = [];
    for (const query of queries) {
      answers.push(
        query.count === "assets"
          ? await countEvents(db, query, signal === undefined ? {} : { signal })
          : (counted.next().value ?? []),
      );
    }
    return answers;
  };
}
