import { DatabaseSync } from "node:sqlite";

import { dayMs, minuteMs, type Clock } from "../../../base/time.ts";
import type { AssetTypeDeaths, CountsHold, DeathsQuery } from "../../../contract/liveness-counts.ts";
import { ChangeReader } from "../sqlite/changes.ts";
import { SumTable } from "./sum-table.ts";
import { SumLoader } from "./loader.ts";
import { EdgeReader, SumScratch } from "./scratch.ts";

export interface EventSumsOptions {
  /** Path of the database; the schema must exist. */
  readonly databasePath: string;
  /** The system's clock: loading is paced by real time. */
  readonly clock: Clock;
  /** Maximum size of the sums in bytes [256 MiB]; the database answers the rest. */
  readonly maxBytes?: number;
}

/** Size of the running sums, and the number of organizations that have some. */
export interface EventSumsSize {
  readonly organizations: number;
  /** One cell per organization, asset type and minute with deaths. */
  readonly cells: number;
  readonly bytes: number;
}

const defaultMaxBytes = 256 * 1_024 ** 2;
// A single query, as of a command, is answered by the database; a repeated one is likely to come again.
const asksBeforeLoading = 2;
// Time after which the event loop gets a turn.
const sliceMs = 5;
const queriesAStatement = 256;
const minutesADay = dayMs / minuteMs;

/**
 * Keeps the deaths of organizations as running sums in memory: two look-ups answer an interval of any length. The sums are
 * loaded from event_minutes in the background and then follow the journal event_changes, which every writer fills in the
 * transaction that changes a count, in this process or another. Each answer is from one snapshot of the database, including
 * the journal and the raw rows of partial minutes, so it equals SQL's answer at that instant.
 */
export class EventSums {
  readonly #options: EventSumsOptions;
  readonly #table: SumTable;
  readonly #asks = new Map<string, number>();
  #reader: Reader | null = null;
  #isClosed = false;

  constructor(options: EventSumsOptions) {
    this.#options = options;
    this.#table = new SumTable(options.maxBytes ?? defaultMaxBytes);
  }

  /** Returns the deaths of each query, in order; null if the database must answer. */
  async deaths(queries: readonly DeathsQuery[]): Promise<readonly (readonly AssetTypeDeaths[] | null)[]> {
    const { clock } = this.#options;
    const answers: (readonly AssetTypeDeaths[] | null)[] = [];
    while (answers.length < queries.length) {
      const untilMs = clock.monotonicMs() + sliceMs;
      this.#answerUntil(untilMs, queries, answers);
      if (answers.length < queries.length) await clock.sleep(0);
    }
    return answers;
  }

  /**
   * Reads the changes of counts that were stored since the last query. Returns how many there were so far: if no more than before,
   * what was current is still; null if they are unknown, and no hold is valid.
   */
  follow(): number | null {
    const reader = this.#reader;
    if (reader === null) return null;
    try {
      reader.snapshot(() => reader.follow());
      return this.#table.changes;
    } catch {
      this.#forget(reader);
      return null;
    }
  }

  /**
   * Returns how long the counts of each query hold, in order; null if that is unknown. To be called before the counts are queried:
   * a change between the two ends the hold.
   */
  holds(queries: readonly DeathsQuery[], nowMs: number): (CountsHold | null)[] {
    return queries.map(
      (query) => this.#table.loadedSums(query.slug, firstMinuteOf(query))?.hold(query.intervals, nowMs) ?? null,
    );
  }

  /** Resolves when all organizations that are queried repeatedly are in memory. */
  async loaded(): Promise<void> {
    await this.#reader?.loader.loaded();
  }

  size(): EventSumsSize {
    return this.#table.size();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const reader = this.#reader;
    this.#reader = null;
    this.#table.clear();
    await reader?.close();
  }

  #answerUntil(untilMs: number, queries: readonly DeathsQuery[], answers: (readonly AssetTypeDeaths[] | null)[]): void {
    const { clock } = this.#options;
    const before = answers.length;
    const reader = this.#readerFor(queries, before);
    if (reader === null) {
      while (answers.length < queries.length) answers.push(null);
      return;
    }
    try {
      reader.snapshot(() => {
        reader.follow();
        do {
          const some = queries.slice(answers.length, answers.length + queriesAStatement);
          answers.push(...reader.answer(some, (slug) => this.#isAskedAgain(slug)));
        } while (answers.length < queries.length && clock.monotonicMs() < untilMs);
      });
    } catch {
      // Busy, closed meanwhile, or damaged: the database answers, with its own error.
      this.#forget(reader);
      answers.length = before;
      while (answers.length < queries.length) answers.push(null);
    }
    reader.loader.wake();
  }

  #isAskedAgain(slug: string): boolean {
    const asks = Math.min((this.#asks.get(slug) ?? 0) + 1, asksBeforeLoading);
    this.#asks.set(slug, asks);
    return asks >= asksBeforeLoading;
  }

  /** Returns the connection, which is opened for the first repeated query; null if it is unavailable. */
  #readerFor(queries: readonly DeathsQuery[], from: number): Reader | null {
    if (this.#isClosed) return null;
    if (this.#reader !== null) return this.#reader;
    const isNeeded = queries.slice(from).some(({ slug }) => this.#asks.has(slug));
    if (isNeeded) {
      try {
        return (this.#reader = new Reader(this.#options, this.#table));
      } catch {
        return null;
      }
    }
    for (const { slug } of queries.slice(from)) this.#isAskedAgain(slug);
    return null;
  }

  #forget(reader: Reader): void {
    this.#table.clear();
    reader.forget();
  }
}

/** A read-only connection with its prepared statements. */
class Reader {
  readonly loader: SumLoader;
  readonly #db: DatabaseSync;
  readonly #table: SumTable;
  readonly #changes: ChangeReader;
  readonly #slugId;
  readonly #edges: EdgeReader;
  readonly #typeName;
  readonly #scratch = new SumScratch();

  constructor({ databasePath, clock }: EventSumsOptions, table: SumTable) {
    this.#table = table;
    this.#db = new DatabaseSync(databasePath, { readOnly: true, timeout: 0 });
    try {
      // 16 MiB: the pages of the partial minutes of a fleet's windows.
      this.#db.exec("PRAGMA cache_size = -16384");
      this.#changes = new ChangeReader(this.#db);
      this.#slugId = this.#db.prepare(`SELECT slug_id FROM event_slugs WHERE slug = ?`);
      this.#typeName = this.#db.prepare(`SELECT asset_type FROM event_asset_types WHERE type_id = ?`);
      this.#edges = new EdgeReader(this.#db);
    } catch (error) {
      this.#db.close();
      throw error;
    }
    this.loader = new SumLoader({
      db: this.#db,
      clock,
      table,
      typeName: (typeId) => this.#nameOf(typeId),
      inSnapshot: (work) => {
        this.snapshot(() => {
          this.follow();
          work();
        });
      },
      onError: () => {
        this.#table.clear();
        this.forget();
      },
    });
  }

  /** Runs `work` on one snapshot, synchronously. */
  snapshot(work: () => void): void {
    this.#db.exec("BEGIN");
    try {
      work();
    } finally {
      this.#db.exec("COMMIT");
    }
  }

  /** Updates the sums to the snapshot. */
  follow(): void {
    const changes = this.#changes.next();
    if (changes === null) {
      this.#table.clear();
      return;
    }
    for (const { kind, detail } of changes) {
      switch (kind) {
        case "added":
          this.#table.add(detail, (typeId) => this.#nameOf(typeId));
          break;
        case "pruned":
          this.#table.dropBefore(detail[0] ?? 0);
          break;
        case "changed":
          for (const slugId of detail) this.#table.forget(slugId);
          break;
      }
    }
  }

  /** Returns the deaths of each query; null if the sums do not have them. */
  answer(
    queries: readonly DeathsQuery[],
    isWanted: (slug: string) => boolean,
  ): readonly (readonly AssetTypeDeaths[] | null)[] {
    const scratch = this.#scratch;
    scratch.clear();
    const asked = queries.map((query) => {
      const isLoadedFor = isWanted(query.slug);
      const slugId = this.#table.idOf(query.slug) ?? this.#learn(query.slug);
      if (slugId === null) return "unknown";
      const sums = this.#table.sumsFor(slugId, firstMinuteOf(query), minutesADay, isLoadedFor);
      return sums === null ? null : sums.ask(slugId, query.intervals, scratch);
    });
    scratch.readEdges(this.#edges);
    return asked.map((one) => {
      if (one === "unknown") return [];
      return one === null ? null : one.sums.read(one, scratch);
    });
  }

  forget(): void {
    this.#changes.forget();
  }

  async close(): Promise<void> {
    await this.loader.close();
    this.#db.close();
  }

  #learn(slug: string): number | null {
    const row = this.#slugId.get(slug);
    if (row === undefined) return null;
    const slugId = Number(row["slug_id"]);
    this.#table.learn(slug, slugId);
    return slugId;
  }

  #nameOf(typeId: number): string | null {
    const name = this.#typeName.get(typeId)?.["asset_type"];
    return typeof name === "string" ? name : null;
  }
}

function firstMinuteOf({ intervals }: DeathsQuery): number {
  let first = Infinity;
  for (const { afterMs, untilMs } of intervals) if (untilMs > afterMs) first = Math.min(first, afterMs + 1);
  // Nothing is older than the epoch.
  return Math.max(Math.floor(first / minuteMs), 0);
}
