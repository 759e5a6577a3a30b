import { placeOf } from "../../base/numbers.ts";
import { dayMs, minuteMs, type Clock } from "../../base/time.ts";
import type { AssetTypeDeaths, DeathsQuery, Interval } from "../../contract/liveness-counts.ts";
import { rowStatement } from "../engine/dialect.ts";
import type { PlainDb } from "../tables.ts";
import { deathsInSql } from "./counts.ts";

/** The minutes with deaths of one type, in order, and the sums of all deaths before each of them and after the last. */
interface Totals {
  minutes: number[];
  sums: number[];
}

interface Organization {
  /** The minutes in [fromMinute, nextMinute) are known; nextMinute Infinity: all later ones are, too. */
  fromMinute: number;
  nextMinute: number;
  /** The longest time that a query was about, in minutes. */
  longestAsked: number;
  /** Grows when something of it is read, added or deleted: an answer that was planned before is not given. */
  version: number;
  readonly types: Map<string | null, Totals>;
}

/** The deaths of each type in each interval of a query. */
type Counts = readonly { readonly assetType: string | null; readonly deaths: number[] }[];

/** The rest of an instant's minute, which the database has to count; 1: for an interval that ends there, -1: begins. */
interface Edge extends DeathsQuery {
  readonly counts: Counts;
  readonly ends: [place: number, sign: 1 | -1][];
}

export type CountCache = ReturnType<typeof createCountCache>;

/** Most cells in memory, of 24 bytes; the database counts what does not fit. */
export const mostCells = 10_000_000;
// Some milliseconds of work together. Loading rests twice as long as it works: it uses a third of the event loop.
const [organizationsAtOnce, cellsAtOnce, restShare] = [16, 256, 2];
// Loaded beyond what is asked for, and kept until it is this much.
const [spareMinutes, mostSpareMinutes] = [dayMs / minuteMs, (30 * dayMs) / minuteMs];

/** The next cells of each organization, in whole minutes. SQLite does not reorder a CROSS JOIN: it looks up by key. */
const readNext = rowStatement<{ place: number; minute: number; asset_type: string | null; deaths: number }>(
  ["bigint", "text", "bigint"],
  (rows) => `
    WITH asked (place, slug, from_minute) AS (${rows}),
      slices AS MATERIALIZED (
        SELECT place, slug_id, from_minute, (
          SELECT minute FROM event_minutes WHERE event_minutes.slug_id = event_slugs.slug_id AND minute >= from_minute
          ORDER BY minute LIMIT 1 OFFSET ${cellsAtOnce - 1}) AS last_minute
        FROM asked CROSS JOIN event_slugs USING (slug))
    SELECT place, minute, asset_type, deaths FROM slices CROSS JOIN event_minutes USING (slug_id)
    LEFT JOIN event_asset_types USING (type_id)
    WHERE minute >= from_minute AND minute <= coalesce(last_minute, ${Number.MAX_SAFE_INTEGER})`,
);

/**
 * Creates a counter of deaths with running totals in memory: two look-ups answer an interval of any length, only the
 * rest of a minute is read. One process writes, by one connection, and reports each change within its transaction: what
 * was read before is then not used, and later reads see what was committed. `clock` paces loading, in real time.
 */
export function createCountCache(db: PlainDb, clock: Clock, most = mostCells) {
  const organizations = new Map<string, Organization>();
  const toLoad = new Set<string>();
  const closing = new AbortController();
  let loading: Promise<void> | null = null;

  /** Returns the number of cells in memory: minutes of a type with deaths. */
  function cells(): number {
    const all = organizations.values().flatMap(({ types }) => types.values());
    return all.reduce((sum, { minutes }) => sum + minutes.length, 0);
  }

  function isBehind(slug: string): boolean {
    return (organizations.get(slug)?.nextMinute ?? Infinity) < Infinity;
  }

  /** Returns what answers a query once `edges` are counted; undefined: too little is known; null: it has changed. */
  function plan({ slug, intervals }: DeathsQuery, edges: Edge[]): (() => Counts | null) | undefined {
    if (intervals.length === 0) return undefined;
    const firstMinute = minuteAfter(intervals.reduce((first, { afterMs }) => Math.min(first, afterMs), Infinity));
    const lastMinute = minuteAfter(intervals.reduce((last, interval) => Math.max(last, endOf(interval)), 0));
    let one = organizations.get(slug);
    if (one === undefined || firstMinute < one.fromMinute) {
      forget(slug);
      const fromMinute = Math.max(0, firstMinute - spareMinutes);
      one = { fromMinute, nextMinute: fromMinute, longestAsked: 0, version: 0, types: new Map() };
      organizations.set(slug, one);
    }
    one.longestAsked = Math.max(one.longestAsked, lastMinute - firstMinute);
    if (one.nextMinute < Infinity) return void toLoad.add(slug);
    const neededMinute = lastMinute - one.longestAsked;
    if (neededMinute > one.fromMinute + mostSpareMinutes) {
      one.fromMinute = neededMinute - spareMinutes;
      trim(one, one.fromMinute);
    }
    const { version, types } = one;
    const counts = Array.from(types, ([assetType, totals]) => ({
      assetType,
      deaths: intervals.map((interval) => sumUntil(totals, endOf(interval)) - sumUntil(totals, interval.afterMs)),
    }));
    const addEdge = (place: number, atMs: number, sign: 1 | -1): void => {
      const minute = minuteAfter(atMs);
      const afterMs = minute * minuteMs - 1;
      if (afterMs >= atMs || !types.values().some(({ minutes }) => minutes[placeOf(minutes, minute)] === minute))
        return;
      const last = edges.at(-1);
      // A window begins where its baseline ends.
      if (last?.counts === counts && last.intervals[0]?.untilMs === atMs) last.ends.push([place, sign]);
      else edges.push({ slug, intervals: [{ afterMs, untilMs: atMs }], counts, ends: [[place, sign]] });
    };
    for (const [place, interval] of intervals.entries()) {
      addEdge(place, endOf(interval), 1);
      addEdge(place, interval.afterMs, -1);
    }
    return () => {
      // A change meanwhile is in the edges, but not in the totals.
      const isSafe = types.values().every(({ sums }) => (sums.at(-1) ?? 0) <= Number.MAX_SAFE_INTEGER);
      if (one.version !== version || !isSafe) return null;
      const found = counts.filter(({ deaths }) => deaths.some((count) => count > 0));
      return found.toSorted((left, right) => ((left.assetType ?? "") < (right.assetType ?? "") ? -1 : 1));
    };
  }

  function wake(): void {
    if (loading !== null || toLoad.size === 0 || closing.signal.aborted) return;
    // After an error the database answers, with its own error; the next query begins to load again.
    loading = load()
      .catch(() => toLoad.clear())
      .finally(() => (loading = null));
  }

  async function load(): Promise<void> {
    while (toLoad.size > 0 && cells() < most) {
      const startedMs = clock.monotonicMs();
      const some = toLoad.values().take(organizationsAtOnce).toArray();
      await read(some);
      for (const slug of some) if (!isBehind(slug)) toLoad.delete(slug);
      await clock.sleep(restShare * (clock.monotonicMs() - startedMs), closing.signal);
    }
    toLoad.clear();
  }

  /** Reads the next cells of those that are behind; drops them if they have changed meanwhile, or there is no room. */
  async function read(slugs: readonly string[]): Promise<void> {
    const asked = slugs.flatMap((slug) => {
      const one = organizations.get(slug);
      return one === undefined || one.nextMinute === Infinity ? [] : [{ slug, one, version: one.version }];
    });
    const rows = asked.map(({ slug, one }, place) => [place, slug, one.nextMinute]);
    const byPlace = Map.groupBy(await readNext(db, rows), ({ place }) => place);
    const isFull = cells() >= most;
    for (const [place, { one, version }] of asked.entries()) {
      const next = (byPlace.get(place) ?? []).toSorted((a, b) => a.minute - b.minute);
      const isAll = next.length < cellsAtOnce;
      if (one.version !== version || (!isAll && isFull)) continue;
      one.version++;
      one.nextMinute = isAll ? Infinity : (next.at(-1)?.minute ?? 0) + 1;
      for (const { asset_type: assetType, minute, deaths } of next) {
        const totals = one.types.get(assetType) ?? { minutes: [], sums: [0] };
        one.types.set(assetType, totals);
        totals.sums.push((totals.sums.at(-1) ?? 0) + deaths);
        totals.minutes.push(minute);
      }
    }
  }

  function forget(slug: string): void {
    const one = organizations.get(slug);
    if (one !== undefined) one.version++;
    organizations.delete(slug);
  }

  return {
    cells,
    forget,
    /** Returns the deaths of each query, in order; null: the database has to count. */
    deaths: async (queries: readonly DeathsQuery[]): Promise<(readonly AssetTypeDeaths[] | null)[]> => {
      const unread = queries.filter(({ slug }) => isBehind(slug) && !toLoad.has(slug));
      const behind = [...new Set(unread.map(({ slug }) => slug))];
      // This reads the last changes; if they are many, the rest is loaded in the background.
      for (let start = 0; start < behind.length; start += organizationsAtOnce)
        await read(behind.slice(start, start + organizationsAtOnce));
      const edges: Edge[] = [];
      const plans = queries.map((query) => plan(query, edges));
      wake();
      const counted = edges.length === 0 ? [] : await deathsInSql(db, edges);
      for (const [index, { counts, ends }] of edges.entries())
        for (const { assetType, deaths } of counted[index] ?? []) {
          const own = counts.find((one) => one.assetType === assetType)?.deaths ?? [];
          for (const [place, sign] of ends) own[place] = (own[place] ?? 0) + sign * (deaths[0] ?? 0);
        }
      return plans.map((answer) => answer?.() ?? null);
    },
    /** Resolves when all that were asked for are in memory. */
    loaded: async (): Promise<void> => {
      for (wake(); loading !== null; wake()) await loading;
    },
    /** Deaths are being added to organizations, from these minutes on. */
    noteAdded: (firstMinutes: ReadonlyMap<string, number>): void => {
      for (const [slug, firstMinute] of firstMinutes) {
        const one = organizations.get(slug);
        if (one === undefined) continue;
        // Deaths before all known minutes change no total; later ones of the same commit may.
        const minute = Math.max(firstMinute, one.fromMinute);
        one.nextMinute = Math.min(one.nextMinute, minute);
        one.version++;
        for (const { minutes, sums } of one.types.values()) {
          minutes.length = placeOf(minutes, minute);
          sums.length = minutes.length + 1;
        }
      }
    },
    /** All before a minute is being deleted. */
    prune: (beforeMinute: number): void => {
      for (const one of organizations.values()) {
        one.version++;
        trim(one, beforeMinute);
      }
    },
    close: async (): Promise<void> => {
      closing.abort();
      organizations.clear();
      await loading;
    },
  };
}

function endOf({ afterMs, untilMs }: Interval): number {
  return Math.max(afterMs, untilMs);
}

function trim({ types }: Organization, beforeMinute: number): void {
  for (const type of types.values()) {
    const place = placeOf(type.minutes, beforeMinute);
    [type.minutes, type.sums] = [type.minutes.slice(place), type.sums.slice(place)];
  }
}

/** Returns the minute of the instant after one. */
function minuteAfter(atMs: number): number {
  return Math.max(0, Math.floor((atMs + 1) / minuteMs));
}

/** Returns the deaths before the minute after an instant. */
function sumUntil({ minutes, sums }: Totals, atMs: number): number {
  return sums[placeOf(minutes, minuteAfter(atMs))] ?? 0;
}
