import { sql, type RawBuilder } from "kysely";

import type { AssetName } from "../../contract/assets.ts";
import type { Interval } from "../../contract/liveness-counts.ts";
import { eventLoopTurn, hourMs, minuteMs } from "../../base/time.ts";
import { chunksOf, inChunks } from "../engine/chunks.ts";
import type { PlainDb } from "../tables.ts";
import { slugId, type SlugInterval } from "./asset-events.ts";

/** The latest event of an asset. */
export interface AssetStatus extends AssetName {
  readonly status: string;
  readonly atMs: number;
}

/** Deaths of several organizations, in bins of time. */
export interface DeathBinsQuery {
  readonly slugs: readonly string[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly binMs: number;
}

/** Creates the readings of events of any status, for the checks `sentinel` and `event-flow`. */
export function createLivenessStore(db: PlainDb) {
  return {
    /** Returns the instant of the organization's latest event of any status at or before `untilMs`; null: none. */
    lastEventAtMs: async (slug: string, untilMs: number): Promise<number | null> => {
      const { rows } = await sql<{ at_ms: number }>`
        select at_ms from events where slug_id = ${slugId(slug)} and at_ms <= ${untilMs}
        order by at_ms desc limit 1`.execute(db);
      return rows[0]?.at_ms ?? null;
    },
    /** Returns how many different assets have an event of any status in the interval. */
    distinctAssets: async (slug: string, { afterMs, untilMs }: Interval): Promise<number> => {
      const { rows } = await sql<{ assets: number }>`
        select count(*) as assets from (
          select distinct type_id, asset from events
          where slug_id = ${slugId(slug)} and at_ms > ${afterMs} and at_ms <= ${untilMs}
            and asset is not null) as seen`.execute(db);
      return rows[0]?.assets ?? 0;
    },
    /**
     * Returns the number of stored events, of any status, with the first and the last instant; null if none is stored.
     * Counts in steps of some thousand rows.
     */
    extent: async (slug: string) => {
      const { rows } = await sql<{ first: number | null; last: number | null }>`
        select (${edgeOf(slug, "asc")}) as first, (${edgeOf(slug, "desc")}) as last`.execute(db);
      const { first, last } = rows[0] ?? { first: null, last: null };
      return first === null || last === null
        ? null
        : { events: await countEvents(db, slug), firstAtMs: first, lastAtMs: last };
    },
    /** Returns the numbers of the types of assets that died within the hours of the interval. */
    deadTypes: async (slug: string, { afterMs, untilMs }: Interval): Promise<readonly number[]> => {
      const { rows } = await sql<{ type_id: number }>`
        select distinct type_id from event_hours
        where slug_id = ${slugId(slug)} and hour >= ${Math.floor(afterMs / hourMs)}
          and hour <= ${Math.floor(untilMs / hourMs)}`.execute(db);
      return rows.map(({ type_id }) => type_id);
    },
    /**
     * Returns the deaths of all these organizations together from `fromMs` to before `toMs`, in bins of `binMs` (whole
     * minutes) since the epoch, by the number of the bin; empty ones are absent. Some hundred organizations a
     * statement: other work gets its turn between them.
     */
    deathBins: async ({ slugs, fromMs, toMs, binMs }: DeathBinsQuery): Promise<ReadonlyMap<number, number>> => {
      const [table, unit, unitMs] =
        binMs % hourMs === 0
          ? (["event_hours", "hour", hourMs] as const)
          : (["event_minutes", "minute", minuteMs] as const);
      const [column, unitsABin] = [sql.ref(unit), binMs / unitMs];
      const bins = new Map<number, number>();
      for (const some of chunksOf(slugs)) {
        // The engines divide integers in two ways, but have one remainder.
        const { rows } = await sql<{ first: number; deaths: number }>`
          select ${column} - ${column} % ${unitsABin} as first, cast(sum(deaths) as bigint) as deaths
          from ${sql.table(table)} where slug_id in (select slug_id from event_slugs where slug in (${sql.join(some)}))
            and ${column} >= ${Math.floor(fromMs / unitMs)} and ${column} < ${Math.ceil(toMs / unitMs)}
          group by 1`.execute(db);
        for (const { first, deaths } of rows) {
          const bin = first / unitsABin;
          bins.set(bin, (bins.get(bin) ?? 0) + deaths);
        }
        // SQLite answers within the call.
        await eventLoopTurn();
      }
      return bins;
    },
    /** Returns the latest event within the interval of each asset that has one of these contents, of whatever type. */
    lastStatuses: ({ slug, assets, interval }: SlugInterval & { readonly assets: readonly string[] }) =>
      inChunks(assets, async (some) => {
        const { rows } = await sql<AssetStatus>`
          select type_id as "typeId", asset, status, at_ms as "atMs" from (
            select type_id, asset, status_id, at_ms,
              row_number() over (partition by type_id, asset order by at_ms desc, ordinal desc) as place
            from events
            where slug_id = ${slugId(slug)} and at_ms > ${interval.afterMs} and at_ms <= ${interval.untilMs}
              and asset in (${sql.join(some)})) as ranked
          join event_statuses on event_statuses.status_id = ranked.status_id
          where place = 1`.execute(db);
        return rows;
      }),
  };
}

// Some milliseconds of work, so that others get a turn between two steps.
const rowsAStep = 16_000;

interface Place {
  readonly at_ms: number;
  readonly ordinal: number;
}

async function countEvents(db: PlainDb, slug: string): Promise<number> {
  let after: Place = { at_ms: -1, ordinal: -1 };
  for (let counted = 0; ; counted += rowsAStep) {
    const rest = sql`
      from events where slug_id = ${slugId(slug)} and at_ms >= ${after.at_ms}
        and (at_ms, ordinal) > (${after.at_ms}, ${after.ordinal})`;
    const step = await sql<Place>`
      select at_ms, ordinal ${rest}
      order by at_ms, ordinal limit 1 offset ${rowsAStep - 1}`.execute(db);
    const [last] = step.rows;
    if (last === undefined) {
      const { rows } = await sql<{ events: number }>`select count(*) as events ${rest}`.execute(db);
      return counted + (rows[0]?.events ?? 0);
    }
    after = last;
  }
}

function edgeOf(slug: string, order: "asc" | "desc"): RawBuilder<unknown> {
  return sql`select at_ms from events where slug_id = ${slugId(slug)}
    order by at_ms ${sql.raw(order)} limit 1`;
}
