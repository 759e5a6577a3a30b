import { sql } from "kysely";

import { dayMs, minuteMs, type Clock } from "../../base/time.ts";
import type { AssetTypeDeaths, DeathsQuery } from "../../contract/liveness-counts.ts";
import { rowStatement } from "../engine/dialect.ts";
import type { PlainDb } from "../tables.ts";
import { deathsInSql } from "./counts.ts";

/** The deaths of one type: the minutes that have some, in order, each with the sum of all deaths through it. */
interface TypeTotals {
  readonly assetType: string | null;
  minutes: number[];
  sums: number[];
  /** Deaths in minutes that were deleted since. */
  deleted: number;
}

interface Organization {
  /** The minutes from `fromMinute` to before `nextMinute` are known; Infinity: all later ones are. */
  fromMinute: number;
  nextMinute: number;
  /** The longest time that was asked for, in minutes. */
  reach: number;
  /** Changes with all that is known of it. */
  version: number;
  /** By name; without a name first. */
  types: TypeTotals[];
}

interface Cell {
  readonly place: number;
  readonly minute: number;
  readonly asset_type: string | null;
  readonly deaths: number;
}

/** The rest of an instant's minute, which the database has to count, and the sums by type that it belongs to. */
interface Edge extends DeathsQuery {
  readonly types: readonly TypeTotals[];
  readonly end: number[];
}

/** Most cells in memory, of 24 bytes; the database counts what does not fit. */
export const mostCells = 10_000_000;
// Some milliseconds of work. Loading uses at most a third of the event loop.
const rowsASlice = 4_096;
const restShare = 2;
const organizationsATime = 64;
// Loaded beyond what is asked for, and kept until it is this much.
const [spareMinutes, mostSpareMinutes] = [dayMs / minuteMs, (30 * dayMs) / minuteMs];

// CROSS JOIN: SQLite does not reorder it, so that each row is looked up by the primary key.
const readTails = rowStatement<Cell>(
  ["bigint", "text", "bigint"],
  (rows) => `
    WITH asked (place, slug, from_minute) AS (${rows})
    SELECT place, minute, asset_type, deaths FROM asked CROSS JOIN event_slugs USING (slug)
    CROSS JOIN event_minutes USING (slug_id) LEFT JOIN event_asset_types USING (type_id)
    WHERE minute >= from_minute LIMIT ${rowsASlice}`,
);
/**
 * Counts deaths from running totals in memory: two look-ups answer an interval of any length, only the rest of a minute is read. One
 * process writes, by one connection, and says within the transaction what it changes: what was read before is then not used, and
 * who reads later reads what was committed.
 */
export class CountCache {
  readonly db: PlainDb;
  readonly #clock: Clock;
  readonly #mostCells: number;
  readonly #organizations = new Map<string, Organization>();
  /** Those to be loaded. */
  readonly #wanted = new Set<string>();
  readonly #closing = new AbortController();
  #loading: Promise<void> | null = null;
  /** The number of cells in memory: minutes of a type with deaths. */
  cells = 0;

  /** `clock` paces what is loaded in the background: the system's, it takes real time. */
  constructor(db: PlainDb, clock: Clock, most = mostCells) {
    [this.db, this.#clock, this.#mostCells] = [db, clock, most];
  }

  /** Returns the deaths of each query, in order; null: the database has to count. */
  async deaths(queries: readonly DeathsQuery[]): Promise<(readonly AssetTypeDeaths[] | null)[]> {
    await this.#follow(queries);
    const edges: Edge[] = [];
    const begun = queries.map((query) => this.#begin(query, edges));
    this.#wake();
    const counted = await deathsInSql(this.db, edges);
    for (const [edge, { types, end }] of edges.entries())
      for (const { assetType, deaths } of counted[edge] ?? []) {
        const place = types.findIndex((type) => type.assetType === assetType);
        end[place] = (end[place] ?? 0) + (deaths[0] ?? 0);
      }
    return begun.map((answer) => answer?.() ?? null);
  }

  /** Resolves when all that were asked for are in memory. */
  async loaded(): Promise<void> {
    for (this.#wake(); this.#loading !== null; this.#wake()) await this.#loading;
  }

  /** Deaths are being added to organizations, from these minutes on. */
  changed(firstMinutes: ReadonlyMap<string, number>): void {
    for (const [slug, firstMinute] of firstMinutes) {
      const one = this.#organizations.get(slug);
      if (one === undefined) continue;
      // What is older than all that is known changes no total; what came with it may.
      const minute = Math.max(firstMinute, one.fromMinute);
      one.nextMinute = Math.min(one.nextMinute, minute);
      one.version++;
      for (const { minutes, sums } of one.types) {
        const place = placeOf(minutes, minute);
        this.cells -= minutes.length - place;
        minutes.length = sums.length = place;
      }
    }
  }

  /** All before a minute is being deleted. */
  pruned(beforeMinute: number): void {
    for (const one of this.#organizations.values()) {
      one.version++;
      this.#trim(one, beforeMinute);
    }
  }

  #trim(one: Organization, beforeMinute: number): void {
    for (const type of one.types) {
      const place = placeOf(type.minutes, beforeMinute);
      this.cells -= place;
      type.deleted = sumBefore(type, place);
      [type.minutes, type.sums] = [type.minutes.slice(place), type.sums.slice(place)];
    }
  }

  /** All of an organization is being deleted. */
  forgotten(slug: string): void {
    const one = this.#organizations.get(slug);
    if (one === undefined) return;
    one.version++;
    this.cells -= one.types.reduce((sum, { minutes }) => sum + minutes.length, 0);
    this.#organizations.delete(slug);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const slug of this.#organizations.keys()) this.forgotten(slug);
    await this.#loading;
  }

  /** Begins to answer a query; what it returns answers when the edges are read. */
  #begin({ slug, intervals }: DeathsQuery, edges: Edge[]): (() => readonly AssetTypeDeaths[] | null) | null {
    const meant = intervals.map(({ afterMs, untilMs }) => [afterMs, Math.max(afterMs, untilMs)] as const);
    const instants = new Set(meant.flat());
    if (instants.size === 0 || this.#closing.signal.aborted) return null;
    const firstMinute = minuteAfter(Math.min(...instants));
    const lastMinute = minuteAfter(Math.max(...instants));
    const one = this.#organizations.get(slug);
    if (one === undefined || firstMinute < one.fromMinute) {
      this.forgotten(slug);
      const fromMinute = Math.max(0, firstMinute - spareMinutes);
      const reach = lastMinute - firstMinute;
      this.#organizations.set(slug, { fromMinute, nextMinute: fromMinute, reach, version: 0, types: [] });
      this.#wanted.add(slug);
      return null;
    }
    if (one.nextMinute !== Infinity) {
      this.#wanted.add(slug);
      return null;
    }
    one.reach = Math.max(one.reach, lastMinute - firstMinute);
    const neededMinute = lastMinute - one.reach;
    if (neededMinute > one.fromMinute + mostSpareMinutes) {
      one.fromMinute = neededMinute - spareMinutes;
      this.#trim(one, one.fromMinute);
    }
    const { version, types } = one;
    const ends = new Map([...instants].map((atMs) => [atMs, endAt(slug, types, atMs, edges)]));
    return () => {
      // Written meanwhile: the edges have it, the totals have not.
      if (one.version !== version || types.some(({ sums }) => (sums.at(-1) ?? 0) > Number.MAX_SAFE_INTEGER))
        return null;
      return types.flatMap(({ assetType }, place) => {
        const at = (atMs: number): number => ends.get(atMs)?.[place] ?? 0;
        const deaths = meant.map(([afterMs, untilMs]) => at(untilMs) - at(afterMs));
        return deaths.some((count) => count > 0) ? [{ assetType, deaths }] : [];
      });
    };
  }

  /** Reads what changed last of those that are known but for that; where it is much, they are loaded. */
  async #follow(queries: readonly DeathsQuery[]): Promise<void> {
    const behind = [...new Set(queries.map(({ slug }) => slug))].flatMap((slug) => {
      const one = this.#organizations.get(slug);
      const isBehind = one !== undefined && one.nextMinute !== Infinity && !this.#wanted.has(slug);
      return isBehind ? [{ slug, one, version: one.version }] : [];
    });
    for (let start = 0; start < behind.length; start += organizationsATime) {
      const some = behind.slice(start, start + organizationsATime);
      const asked = some.map(({ slug, one }, place) => [place, slug, one.nextMinute]);
      const cells = await readTails(this.db, asked);
      const byPlace = Map.groupBy(cells, ({ place }) => place);
      for (const [place, { slug, one, version }] of some.entries())
        if (cells.length >= rowsASlice) this.#wanted.add(slug);
        else this.#extend(one, version, byPlace.get(place) ?? [], Infinity);
    }
  }

  #wake(): void {
    if (this.#loading !== null || this.#wanted.size === 0 || this.#closing.signal.aborted) return;
    // After an error the database answers, with its own; who asks again begins again.
    this.#loading = this.#load()
      .catch(() => this.#wanted.clear())
      .finally(() => (this.#loading = null));
  }

  async #load(): Promise<void> {
    for (const slug of this.#wanted) {
      let one = this.#organizations.get(slug);
      while (one !== undefined && one.nextMinute !== Infinity && this.cells < this.#mostCells) {
        const startedMs = this.#clock.monotonicMs();
        const { version, nextMinute } = one;
        const { rows } = await sql<Cell>`
          SELECT minute, asset_type, deaths FROM event_minutes LEFT JOIN event_asset_types USING (type_id)
          WHERE slug_id = (SELECT slug_id FROM event_slugs WHERE slug = ${slug}) AND minute >= ${nextMinute}
          ORDER BY minute LIMIT ${rowsASlice}`.execute(this.db);
        // More types of the last minute may follow; a minute that has more than are read at a time is left to the database.
        const toMinute = rows.length < rowsASlice ? Infinity : (rows.at(-1)?.minute ?? Infinity);
        if (toMinute === nextMinute) break;
        const whole = rows.filter(({ minute }) => minute < toMinute);
        this.#extend(one, version, whole, toMinute);
        await this.#clock.sleep(restShare * (this.#clock.monotonicMs() - startedMs), this.#closing.signal);
        one = this.#organizations.get(slug);
      }
      this.#wanted.delete(slug);
    }
  }

  /** Takes what was read of an organization at a version, unless that has changed since. */
  #extend(one: Organization, version: number, cells: readonly Cell[], nextMinute: number): void {
    if (one.version !== version) return;
    one.version++;
    one.nextMinute = nextMinute;
    this.cells += cells.length;
    for (const { asset_type: assetType, minute, deaths } of cells.toSorted((a, b) => a.minute - b.minute)) {
      const type = one.types.find((known) => known.assetType === assetType) ?? addType(one, assetType);
      type.sums.push(sumBefore(type, type.sums.length) + deaths);
      type.minutes.push(minute);
    }
  }
}

function addType(one: Organization, assetType: string | null): TypeTotals {
  const added = { assetType, minutes: [], sums: [], deleted: 0 };
  one.types = [...one.types, added].toSorted((a, b) => ((a.assetType ?? "") < (b.assetType ?? "") ? -1 : 1));
  return added;
}

/** Returns the minute of the instant after one. */
function minuteAfter(atMs: number): number {
  return Math.max(0, Math.floor((atMs + 1) / minuteMs));
}

function sumBefore({ sums, deleted }: TypeTotals, place: number): number {
  return place === 0 ? deleted : (sums[place - 1] ?? 0);
}

/** Returns the place of the first minute at or after one. */
function placeOf(minutes: readonly number[], minute: number): number {
  let [low, high] = [0, minutes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((minutes[middle] ?? 0) < minute) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns all deaths at or before an instant, by type, but for the rest of its minute, which is added to `edges`. */
function endAt(slug: string, types: readonly TypeTotals[], atMs: number, edges: Edge[]): number[] {
  const minute = minuteAfter(atMs);
  const places = types.map(({ minutes }) => placeOf(minutes, minute));
  const end = types.map((type, index) => sumBefore(type, places[index] ?? 0));
  const hasDeaths = types.some(({ minutes }, index) => minutes[places[index] ?? 0] === minute);
  const interval = { afterMs: minute * minuteMs - 1, untilMs: atMs };
  if (hasDeaths && interval.afterMs < atMs) edges.push({ slug, intervals: [interval], types, end });
  return end;
}
