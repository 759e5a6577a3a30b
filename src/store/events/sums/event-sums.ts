import { DatabaseSync, type StatementSync } from "node:sqlite";

import { dayMs, minuteMs, type Clock } from "../../../base/time.ts";
import type { AssetTypeDeaths, DeathsQuery } from "../../../contract/liveness-counts.ts";
import { deadStatusId } from "../rules.ts";
import { ChangeReader } from "./changes.ts";
import { OrganizationSums, type CountEdge, type CountEnd, type SumCell } from "./organization-sums.ts";

export interface EventSumsOptions {
  /** Path of the database; the schema must exist. */
  readonly databasePath: string;
  /** The system's clock: loading is paced by real time. */
  readonly clock: Clock;
  /** Maximum size of the sums in bytes; the database answers the rest. */
  readonly maxBytes: number;
}

/** Size of the running sums, and the number of organizations that have some. */
export interface EventSumsSize {
  readonly organizations: number;
  /** One cell per organization, asset type and minute with deaths. */
  readonly cells: number;
  readonly bytes: number;
}

type Answers = (readonly AssetTypeDeaths[] | null)[];

// A single query, as of a command, is answered by the database; a repeated one is likely to come again.
const asksBeforeLoading = 2;
// Time after which the event loop gets a turn.
const sliceMs = 5;
const queriesAStatement = 256;
/** Loaded and kept beyond what is asked for. */
const spareMinutes = dayMs / minuteMs;
// About 2 ms of work (measured 2026-11: 0.5 µs per row).
const rowsASlice = 4_096;
// An organization without rows costs as much as some.
const smallestRows = 16;
// Loading uses at most a third of the event loop.
const restShare = 2;
const shortestRestMs = 1;

/**
 * Keeps the deaths of organizations as running sums in memory: two look-ups answer an interval of any length. The sums are
 * loaded from event_minutes in the background and then follow the journal event_changes, which every writer fills in the
 * transaction that changes a count, in this process or another. Each answer is from one snapshot of the database, including
 * the journal and the single events of partial minutes, so it equals SQL's answer at that instant.
 */
export class EventSums {
  readonly #options: EventSumsOptions;
  readonly #ids = new Map<string, number>();
  readonly #sums = new Map<number, OrganizationSums>();
  /** Organizations to be loaded, with their first minute. */
  readonly #wanted = new Map<number, number>();
  /** Organizations that do not fit into memory. */
  readonly #refused = new Set<number>();
  readonly #asks = new Map<string, number>();
  readonly #closing = new AbortController();
  #bytes = 0;
  #reader: Reader | null = null;
  #loading: Promise<void> | null = null;

  constructor(options: EventSumsOptions) {
    this.#options = options;
  }

  /** Returns the deaths of each query, in order; null if the database must answer. */
  async deaths(queries: readonly DeathsQuery[]): Promise<Readonly<Answers>> {
    const { clock } = this.#options;
    const answers: Answers = [];
    while (answers.length < queries.length) {
      const untilMs = clock.monotonicMs() + sliceMs;
      const before = answers.length;
      const isAnswered = this.#onSnapshot(this.#readerFor(queries.slice(before)), (reader) => {
        do {
          const some = queries.slice(answers.length, answers.length + queriesAStatement);
          answers.push(...this.#answer(reader, some));
        } while (answers.length < queries.length && clock.monotonicMs() < untilMs);
      });
      if (!isAnswered) answers.splice(before, Infinity, ...queries.slice(before).map(() => null));
      this.#wake();
      if (answers.length < queries.length) await clock.sleep(0);
    }
    return answers;
  }

  /** Resolves when all organizations that are queried repeatedly are in memory. */
  async loaded(): Promise<void> {
    for (this.#wake(); this.#loading !== null; this.#wake()) await this.#loading;
  }

  size(): EventSumsSize {
    const all = [...this.#sums.values()];
    return {
      organizations: all.filter(({ isLoaded }) => isLoaded).length,
      cells: all.reduce((sum, { cells }) => sum + cells, 0),
      bytes: this.#bytes,
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const reader = this.#reader;
    this.#reader = null;
    this.#clear();
    await this.#loading;
    reader?.db.close();
  }

  /** Runs `work` on one snapshot, to which the sums have been updated; returns false if the database must answer. */
  #onSnapshot(reader: Reader | null, work: (reader: Reader) => void): boolean {
    if (reader === null) return false;
    try {
      reader.db.exec("BEGIN");
      try {
        this.#follow(reader);
        work(reader);
      } finally {
        reader.db.exec("COMMIT");
      }
      return true;
    } catch {
      // Busy, closed meanwhile, or damaged: the database answers, with its own error.
      this.#clear();
      reader.changes.forget();
      return false;
    }
  }

  /** Returns the connection, which is opened for the first repeated query; null if it is not needed or unavailable. */
  #readerFor(queries: readonly DeathsQuery[]): Reader | null {
    if (this.#closing.signal.aborted) return null;
    if (this.#reader !== null) return this.#reader;
    if (!queries.some(({ slug }) => this.#asks.has(slug))) {
      for (const { slug } of queries) this.#isAskedAgain(slug);
      return null;
    }
    try {
      return (this.#reader = new Reader(this.#options.databasePath));
    } catch {
      return null;
    }
  }

  #isAskedAgain(slug: string): boolean {
    const asks = Math.min((this.#asks.get(slug) ?? 0) + 1, asksBeforeLoading);
    this.#asks.set(slug, asks);
    return asks >= asksBeforeLoading;
  }

  /** Updates the sums to the snapshot. */
  #follow(reader: Reader): void {
    const changes = reader.changes.next();
    if (changes === null) return this.#clear();
    const added = new Map<number, SumCell[]>();
    const addAll = (): void => {
      for (const [slugId, cells] of added) this.#change(slugId, (sums) => sums.add(cells, reader.nameOf));
      added.clear();
    };
    for (const { slugId, minute, typeId, deaths } of changes) {
      if (slugId !== null && deaths !== null) {
        const cells = added.get(slugId) ?? [];
        cells.push({ minute: minute ?? 0, typeId: typeId ?? 0, deaths });
        added.set(slugId, cells);
        continue;
      }
      // In the order of their commits.
      addAll();
      if (slugId !== null) {
        this.#forget(slugId);
        // What comes again has another number.
        for (const [slug, id] of this.#ids) if (id === slugId) this.#ids.delete(slug);
      } else for (const known of this.#sums.keys()) this.#change(known, (sums) => sums.dropBefore(minute ?? 0));
      // There may be room again.
      this.#refused.clear();
    }
    addAll();
  }

  #answer(reader: Reader, queries: readonly DeathsQuery[]): Answers {
    const edges: CountEdge[] = [];
    const asked = queries.map((query): (() => readonly AssetTypeDeaths[]) | null => {
      const isWanted = this.#isAskedAgain(query.slug);
      const slugId = this.#ids.get(query.slug) ?? reader.slugIdOf(query.slug);
      if (slugId === null) return () => [];
      this.#ids.set(query.slug, slugId);
      const sums = this.#sumsFor(slugId, firstMinuteOf(query), isWanted);
      if (sums === null) return null;
      // Intervals often share an end.
      const ends = new Map<number, CountEnd>();
      const endAt = (atMs: number): CountEnd => {
        const end = ends.get(atMs) ?? sums.endAt(slugId, atMs, edges);
        ends.set(atMs, end);
        return end;
      };
      const intervals = query.intervals.map(({ afterMs, untilMs }) =>
        untilMs > afterMs ? ([endAt(afterMs), endAt(untilMs)] as const) : null,
      );
      return () => sums.deathsBetween(intervals);
    });
    reader.readEdges(edges);
    return asked.map((answer) => answer?.() ?? null);
  }

  /** Returns the sums of an organization if they reach back to `firstMinute`; otherwise queues them if they are wanted. */
  #sumsFor(slugId: number, firstMinute: number, isWanted: boolean): OrganizationSums | null {
    const sums = this.#sums.get(slugId);
    const reaches = sums !== undefined && sums.fromMinute <= firstMinute;
    if (reaches && sums.isLoaded) {
      if (sums.noteAsked(firstMinute)) this.#measure(sums, () => sums.trim(firstMinute, spareMinutes));
      return sums.isExact ? sums : null;
    }
    if (isWanted && !reaches && !this.#refused.has(slugId)) {
      const from = Number.isFinite(firstMinute) ? Math.max(firstMinute - spareMinutes, 0) : 0;
      this.#wanted.set(slugId, Math.min(from, this.#wanted.get(slugId) ?? Infinity));
    }
    return null;
  }

  /** Starts to load if there is something to load. */
  #wake(): void {
    if (this.#loading !== null || this.#wanted.size === 0 || this.#closing.signal.aborted) return;
    this.#loading = this.#load().finally(() => {
      this.#loading = null;
    });
  }

  async #load(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#closing;
    while (this.#wanted.size > 0) {
      // The caller that was just answered continues first.
      await clock.sleep(shortestRestMs, signal);
      if (signal.aborted) return;
      const startedAtMs = clock.monotonicMs();
      if (!this.#onSnapshot(this.#reader, (reader) => this.#loadSlice(reader))) return;
      await clock.sleep(restShare * (clock.monotonicMs() - startedAtMs), signal);
    }
  }

  /** Loads some rows of one or more organizations, those first that have waited longest. */
  #loadSlice(reader: Reader): void {
    let room = rowsASlice;
    for (const [slugId, fromMinute] of this.#wanted) {
      if (room <= 0) return;
      let sums = this.#sums.get(slugId);
      if (sums === undefined || sums.isLoaded || sums.fromMinute > fromMinute) {
        this.#forget(slugId);
        sums = new OrganizationSums(fromMinute);
        this.#sums.set(slugId, sums);
        this.#bytes += sums.bytes;
      }
      const nextMinute = reader.minuteAfter(slugId, sums.nextMinute);
      const cells = reader.cellsOf(slugId, sums.nextMinute, nextMinute);
      sums.nextMinute = nextMinute;
      this.#change(slugId, (loading) => loading.add(cells, reader.nameOf));
      if (sums.isLoaded) this.#wanted.delete(slugId);
      room -= cells.length + smallestRows;
      if (this.#bytes <= this.#options.maxBytes) continue;
      this.#forget(slugId);
      this.#wanted.delete(slugId);
      this.#refused.add(slugId);
    }
  }

  #change(slugId: number, work: (sums: OrganizationSums) => void): void {
    const sums = this.#sums.get(slugId);
    if (sums === undefined) return;
    this.#measure(sums, () => work(sums));
  }

  #measure(sums: OrganizationSums, work: () => void): void {
    const { bytes } = sums;
    work();
    this.#bytes += sums.bytes - bytes;
  }

  /** Drops an organization; it is loaded again when it is queried. */
  #forget(slugId: number): void {
    const sums = this.#sums.get(slugId);
    if (sums === undefined) return;
    this.#sums.delete(slugId);
    this.#bytes -= sums.bytes;
  }

  #clear(): void {
    for (const all of [this.#sums, this.#wanted, this.#refused, this.#ids]) all.clear();
    this.#bytes = 0;
  }
}

/** A read-only connection with its prepared statements. */
class Reader {
  readonly db: DatabaseSync;
  readonly changes: ChangeReader;
  readonly #slugId: StatementSync;
  readonly #typeName: StatementSync;
  readonly #lastMinute: StatementSync;
  readonly #cells: StatementSync;
  readonly #edges: StatementSync;

  constructor(databasePath: string) {
    this.db = new DatabaseSync(databasePath, { readOnly: true, timeout: 0 });
    try {
      // 16 MiB: the pages of the partial minutes of a fleet's windows.
      this.db.exec("PRAGMA cache_size = -16384");
      this.changes = new ChangeReader(this.db);
      this.#slugId = this.db.prepare(`SELECT slug_id FROM event_slugs WHERE slug = ?`);
      this.#typeName = this.db.prepare(`SELECT asset_type FROM event_asset_types WHERE type_id = ?`);
      this.#lastMinute = this.db.prepare(
        `SELECT minute FROM event_minutes WHERE slug_id = ? AND minute >= ? ORDER BY minute LIMIT 1 OFFSET ${rowsASlice - 1}`,
      );
      this.#cells = this.db.prepare(`
        SELECT minute, type_id AS typeId, sum(deaths) AS deaths FROM event_minutes
        WHERE slug_id = ? AND minute >= ? AND minute < ? GROUP BY minute, type_id`);
      // CROSS JOIN: SQLite does not reorder it, so each edge is looked up by the primary key.
      this.#edges = this.db.prepare(`
        SELECT asked.key, type_id, sum(count) FROM json_each(?) AS asked
        CROSS JOIN events ON slug_id = asked.value ->> 0 AND at_ms >= asked.value ->> 1 AND at_ms < asked.value ->> 2
        WHERE status_id = ${deadStatusId} GROUP BY asked.key, type_id`);
      this.#edges.setReturnArrays(true);
    } catch (error) {
      this.db.close();
      throw error;
    }
  }

  slugIdOf(slug: string): number | null {
    const row = this.#slugId.get(slug);
    return row === undefined ? null : Number(row["slug_id"]);
  }

  readonly nameOf = (typeId: number): string | null => {
    const name = this.#typeName.get(typeId)?.["asset_type"];
    return typeof name === "string" ? name : null;
  };

  /** Returns the minute after some thousand rows of an organization, counted from a minute; Infinity: there are not so many. */
  minuteAfter(slugId: number, fromMinute: number): number {
    const last = this.#lastMinute.get(slugId, fromMinute);
    return last === undefined ? Infinity : Number(last["minute"]) + 1;
  }

  /** Returns the deaths of an organization from a minute to before another. */
  cellsOf(slugId: number, fromMinute: number, toMinute: number): SumCell[] {
    const to = Math.min(toMinute, Number.MAX_SAFE_INTEGER);
    return this.#cells.all(slugId, fromMinute, to) as unknown as SumCell[];
  }

  /** Adds the deaths of parts of minutes to their ends. */
  readEdges(edges: readonly CountEdge[]): void {
    if (edges.length === 0) return;
    const asked = edges.map(({ slugId, fromMs, toMs }) => `[${slugId},${fromMs},${toMs}]`);
    const rows = this.#edges.all(`[${asked.join(",")}]`) as unknown as readonly [number, number, number][];
    for (const [index, typeId, deaths] of rows) edges[index]?.add(typeId, deaths);
  }
}

function firstMinuteOf({ intervals }: DeathsQuery): number {
  let first = Infinity;
  for (const { afterMs, untilMs } of intervals) if (untilMs > afterMs) first = Math.min(first, afterMs + 1);
  // Nothing is older than the epoch.
  return Math.max(Math.floor(first / minuteMs), 0);
}
