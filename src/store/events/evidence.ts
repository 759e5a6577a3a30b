import { sql } from "kysely";

import type { Interval } from "../../contract/liveness-counts.ts";
import { dayMs, hourMs, minuteMs } from "../../base/time.ts";
import { noType } from "../../contract/assets.ts";
import type { CountKind } from "../../spike/findings.ts";
import { createAssetEvents, slugId, type SlugInterval } from "./asset-events.ts";
import { deadStatusId } from "./rules.ts";
import type { PlainDb } from "../tables.ts";

/** Deaths with one value of an attribute. */
export interface AttributeValueCounts {
  readonly attribute: string;
  readonly value: string;
  readonly currentCount: number;
  readonly baselineCount: number;
}

/** Deaths of a window, and of what it is compared with; the intervals do not overlap. */
export interface AttributeQuery {
  readonly slug: string;
  readonly window: Interval;
  readonly baseline: readonly Interval[];
  /** [deaths]; `assets`: each one once in an interval, with the attributes of its last death there. */
  readonly count?: CountKind;
}

/** The minutes with deaths, in the order of time. */
type DeathMinutes = readonly { readonly atMs: number; readonly deaths: number }[];

/** Attributes of the deaths in a window and its baseline. */
export interface AttributeCounts {
  /** Deaths of the window with any attribute. */
  readonly attributedCount: number;
  readonly values: readonly AttributeValueCounts[];
}

// These reads run beside the daemon: a statement reads about ten thousand rows (a few milliseconds), and only sums are
// kept in memory.
const fewRows = 4_000;
const manyRows = 16_000;
const shortestSliceMs = minuteMs;
const longestSliceMs = 8 * dayMs;
const firstSliceMs = 6 * hourMs;
// Far more distinct sets than a few checkers, reasons and regions produce; with more, attributes are not categories.
const mostSets = 50_000;

/** Evidence from single events; each statement reads a bounded number of them. */
export type EvidenceStore = ReturnType<typeof createEvidenceStore>;

/** Creates the evidence store over the event tables. */
export function createEvidenceStore(db: PlainDb) {
  const single = createAssetEvents(db);
  return {
    ...single,
    /** Returns whether any event has attributes; without them the evidence needs no single events. */
    hasAttributes: async (): Promise<boolean> => {
      const { rows } = await sql`SELECT 1 FROM event_attribute_sets LIMIT 1`.execute(db);
      return rows.length > 0;
    },
    /**
     * Returns deaths by asset type and attribute; null if they have too many distinct sets of attributes. `signal`
     * aborts a long read between two statements; it rejects with the signal's reason.
     */
    attributeCounts: async (
      query: AttributeQuery,
      { signal }: { readonly signal: AbortSignal },
    ): Promise<AttributeCounts | null> => {
      const sets = await setSums(db, query, signal);
      if (sets === null) return null;
      signal.throwIfAborted();
      const rows = [...sets.keys()].map((attributeSetId) => ({ typeId: noType, attributeSetId }));
      const { attributeSets } = await single.factsOf(rows);
      const values = new Map<string, AttributeValueCounts & Sums>();
      for (const [id, attributes] of attributeSets) {
        for (const [attribute, value] of Object.entries(attributes)) {
          const key = `${attribute}\n${value}`;
          const known = values.get(key) ?? { attribute, value, currentCount: 0, baselineCount: 0 };
          known.currentCount += sets.get(id)?.currentCount ?? 0;
          known.baselineCount += sets.get(id)?.baselineCount ?? 0;
          values.set(key, known);
        }
      }
      const attributedCount = [...sets.values()].reduce((sum, { currentCount }) => sum + currentCount, 0);
      return { attributedCount, values: [...values.values()] };
    },
    /** Returns the minutes with deaths, in the order of time. */
    deathMinutes: async ({ slug, interval }: SlugInterval): Promise<DeathMinutes> => {
      const from = Math.floor((interval.afterMs + 1) / minuteMs);
      const to = Math.floor(interval.untilMs / minuteMs);
      const { rows } = await sql<DeathMinutes[number]>`
        SELECT minute * ${sql.lit(minuteMs)} AS "atMs", CAST(sum(deaths) AS BIGINT) AS deaths FROM event_minutes
        WHERE slug_id = ${slugId(slug)} AND minute >= ${from} AND minute <= ${to}
        GROUP BY minute ORDER BY minute`.execute(db);
      return rows;
    },
    /**
     * Returns the same for assets that newly died: they had not died in a stretch of the interval's length before. This
     * leaves out assets that die every day; deaths without a name all count.
     */
    newlyDeadMinutes: async ({ slug, interval: { afterMs, untilMs } }: SlugInterval): Promise<DeathMinutes> => {
      const lengthMs = untilMs - afterMs;
      const { rows } = await sql<DeathMinutes[number]>`
        SELECT at_ms - at_ms % ${minuteMs} AS "atMs",
          CAST(sum(CASE WHEN asset IS NULL THEN count ELSE 1 END) AS BIGINT) AS deaths
        FROM (
          SELECT at_ms, asset, count,
            lag(at_ms) OVER (PARTITION BY type_id, asset ORDER BY at_ms, ordinal) AS before_ms
          FROM events
          WHERE slug_id = ${slugId(slug)} AND at_ms > ${afterMs - lengthMs} AND at_ms <= ${untilMs}
            AND status_id = ${deadStatusId} AND count > 0) AS dead
        WHERE at_ms > ${afterMs} AND (asset IS NULL OR before_ms IS NULL OR before_ms <= at_ms - ${lengthMs})
        GROUP BY 1 ORDER BY 1`.execute(db);
      return rows;
    },
    /** Returns a value that changes when events arrive. */
    eventsVersion: async (): Promise<string> => {
      const { rows } = await sql<{ ordinal: number }>`SELECT next_ordinal AS ordinal FROM event_counter`.execute(db);
      return String(rows[0]?.ordinal ?? 0);
    },
  };
}

interface SetRow {
  readonly attribute_set_id: number | null;
  readonly events: number;
  readonly deaths: number;
}

interface Sums {
  currentCount: number;
  baselineCount: number;
}

/** Returns the deaths by set of attributes; null: there are too many. */
async function setSums(
  db: PlainDb,
  { slug, window, baseline, count }: AttributeQuery,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Sums> | null> {
  const sets = new Map<number, Sums>();
  const stretches = [
    ...baseline.map((interval) => ({ ...interval, column: "baselineCount" as const })),
    { ...window, column: "currentCount" as const },
  ];
  let sliceMs = firstSliceMs;
  for (const { column, afterMs, untilMs } of stretches) {
    for (let fromMs = afterMs; fromMs < untilMs;) {
      signal.throwIfAborted();
      // An asset that died in two slices counts once.
      const toMs = count === "assets" ? untilMs : Math.min(fromMs + sliceMs, untilMs);
      const rows = await (count === "assets" ? setsOfAssets : setsOf)(db, slug, fromMs, toMs);
      let events = 0;
      for (const row of rows) {
        events += row.events;
        if (row.attribute_set_id === null || row.deaths === 0) continue;
        const known = sets.get(row.attribute_set_id) ?? { currentCount: 0, baselineCount: 0 };
        known[column] += row.deaths;
        sets.set(row.attribute_set_id, known);
      }
      if (sets.size > mostSets) return null;
      fromMs = toMs;
      if (events < fewRows) sliceMs = Math.min(sliceMs * 2, longestSliceMs);
      else if (events > manyRows) sliceMs = Math.max(Math.floor(sliceMs / 2), shortestSliceMs);
    }
  }
  return sets;
}

async function setsOf(db: PlainDb, slug: string, afterMs: number, untilMs: number): Promise<readonly SetRow[]> {
  // All statuses are grouped, so that the number of rows read is known.
  const { rows } = await sql<SetRow>`
    SELECT attribute_set_id, count(*) AS events,
      CAST(sum(CASE WHEN status_id = ${deadStatusId} THEN count ELSE 0 END) AS BIGINT) AS deaths
    FROM events
    WHERE slug_id = ${slugId(slug)} AND at_ms > ${afterMs} AND at_ms <= ${untilMs}
    GROUP BY attribute_set_id`.execute(db);
  return rows;
}

/** The same for the last death of each asset, and for all deaths without a name. */
async function setsOfAssets(db: PlainDb, slug: string, afterMs: number, untilMs: number): Promise<readonly SetRow[]> {
  const { rows } = await sql<SetRow>`
    SELECT attribute_set_id, count(*) AS events,
      CAST(sum(CASE WHEN asset IS NULL THEN count ELSE 1 END) AS BIGINT) AS deaths
    FROM (
      SELECT attribute_set_id, asset, count,
        row_number() OVER (PARTITION BY type_id, asset ORDER BY at_ms DESC, ordinal DESC) AS place
      FROM events
      WHERE slug_id = ${slugId(slug)} AND at_ms > ${afterMs} AND at_ms <= ${untilMs}
        AND status_id = ${deadStatusId} AND count > 0) AS ranked
    WHERE asset IS NULL OR place = 1 GROUP BY attribute_set_id`.execute(db);
  return rows;
}
