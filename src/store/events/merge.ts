import { sql, type RawBuilder } from "kysely";

import { eventLoopTurn, hourMs, minuteMs } from "../../base/time.ts";
import type { PlainDb } from "../schema.ts";
import { stopped } from "./read.ts";
import { createTally, deadStatusId, ingestedStatus, type StatusTally } from "./rules.ts";
import type { Staging } from "./stage.ts";
import { noteAdded } from "./sums/changes.ts";

/** The import of posted events. */
export const directImportId = 0;

// Rows of a slice, so few that a stop, the progress and other work wait for a fraction of a second.
const rowsASlice = 100_000;
// More posted rows than these form an import: posts of the same organizations wait for each other's end.
const mostDirectRows = 2_000;

export interface MergeOptions {
  readonly staging: Staging;
  /** Posted events have the ordinals of one list; others form an import. */
  readonly arePosted: boolean;
  /** Added to each event's instant [0]. */
  readonly shiftMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** Gets the number of merged rows, after each slice. */
  readonly onRows?: (rows: number) => void;
}

/** Rows whose id is stored, or is in an earlier row, with other content. */
export interface Conflicts {
  readonly rows: number;
  /** Some of them. */
  readonly some: readonly { readonly slug: string; readonly id: string }[];
}
const mostConflictsNamed = 3;

/** What a merge has stored. */
export interface Merged {
  readonly importId: number;
  readonly duplicates: number;
  readonly conflicts: Conflicts;
  readonly stored: StatusTally;
}

/**
 * Stores the staged events with their rollups in the surrounding transaction, without those whose id is stored, or is in an
 * earlier row: all of them count from its commit on. Waits for other transactions with the same ids.
 * @throws unavailable when the signal aborts
 */
export async function mergeStaged(db: PlainDb, options: MergeOptions): Promise<Merged> {
  const { staging, onRows = () => undefined, signal } = options;
  const isDirect = options.arePosted && staging.rows <= mostDirectRows;
  const importId = isDirect ? directImportId : await beginImport(db);
  const firstOrdinal = isDirect ? await takeOrdinals(db, staging.rows) : 0;
  const merge = new Merge(db, { importId, firstOrdinal, shiftMs: options.shiftMs ?? 0, rows: staging.rows });
  const stored = createTally();
  const { statuses } = staging;
  let duplicates = staging.rows;
  for (let from = 0; from < staging.rows; from += rowsASlice) {
    for await (const counts of merge.slice(from, from + rowsASlice)) {
      for (const { status_id, events } of counts) {
        stored[ingestedStatus(statuses.get(status_id) ?? "")] += events;
        duplicates -= events;
      }
      // SQLite works within the call.
      await eventLoopTurn();
      if (signal?.aborted === true) throw stopped();
    }
    onRows(Math.min(from + rowsASlice, staging.rows));
  }
  const { conflicts } = merge;
  return { importId, duplicates: duplicates - conflicts.rows, conflicts, stored };
}

async function beginImport(db: PlainDb): Promise<number> {
  const { rows } = await sql<{ import_id: number }>`
    INSERT INTO event_imports DEFAULT VALUES RETURNING import_id`.execute(db);
  return rows[0]?.import_id ?? 0;
}

/** Returns the ordinal of the first posted row. Other posts wait for this one's end. */
async function takeOrdinals(db: PlainDb, count: number): Promise<number> {
  const { rows } = await sql<{ next_ordinal: number }>`
    UPDATE event_imports SET next_ordinal = next_ordinal + ${count} WHERE import_id = ${directImportId}
    RETURNING next_ordinal`.execute(db);
  return (rows[0]?.next_ordinal ?? 0) - count;
}

/** The statements of a merge, the same on both engines. */
class Merge {
  /** Those of the slices so far. */
  conflicts: Conflicts = { rows: 0, some: [] };
  readonly #db: PlainDb;
  readonly #rows: number;
  readonly #importId: RawBuilder<number>;
  readonly #ordinal: RawBuilder<number>;
  readonly #atMs: RawBuilder<number>;

  constructor(
    db: PlainDb,
    { importId, firstOrdinal, shiftMs, rows }: Record<"importId" | "firstOrdinal" | "shiftMs" | "rows", number>,
  ) {
    this.#db = db;
    this.#rows = rows;
    // PostgreSQL takes a bare parameter in a list of columns for a text.
    this.#importId = sql<number>`CAST(${importId} AS BIGINT)`;
    this.#ordinal = sql<number>`(CAST(${firstOrdinal} AS BIGINT) + staged.ordinal)`;
    this.#atMs = sql<number>`(staged.at_ms + CAST(${shiftMs} AS BIGINT))`;
  }

  /** Merges the rows with these ordinals, one statement after the other; yields what it stored by status, at the end. */
  async *slice(from: number, to: number): AsyncGenerator<readonly StatusCount[]> {
    const [db, importId, ordinal, atMs] = [this.#db, this.#importId, this.#ordinal, this.#atMs];
    const ofSlice = sql`ordinal >= ${from} AND ordinal < ${to}`;

    // The first event with an id wins: in the file, in the store and in a race.
    const { rows: counted } = await sql<{ ids: number }>`
      SELECT count(id) AS ids FROM staged WHERE ${ofSlice}`.execute(db);
    const { numAffectedRows: taken } = await sql`
      INSERT INTO event_ids (slug_id, id, import_id, ordinal)
      SELECT slug_id, id, ${importId}, ${ordinal} FROM staged WHERE ${ofSlice} AND id IS NOT NULL
      ORDER BY slug_id, id, ordinal ON CONFLICT DO NOTHING`.execute(db);
    yield [];

    // The others are put aside, before all slices.
    const areRepeated = Number(taken ?? 0n) < (counted[0]?.ids ?? 0);
    if (areRepeated)
      await sql`
        UPDATE staged SET ordinal = -1 - ordinal WHERE ${ofSlice} AND id IS NOT NULL AND NOT EXISTS (
          SELECT 1 FROM event_ids AS known WHERE known.slug_id = staged.slug_id AND known.id = staged.id
            AND known.import_id = ${importId} AND known.ordinal = ${ordinal})`.execute(db);
    yield [];

    await sql`
      INSERT INTO events (slug_id, at_ms, import_id, ordinal, type_id, status_id, count, asset, id, attribute_set_id)
      SELECT slug_id, ${atMs}, ${importId}, ${ordinal}, type_id, status_id, count, asset, id, attribute_set_id
      FROM staged WHERE ${ofSlice} ORDER BY slug_id, ${atMs}, ordinal`.execute(db);
    yield [];

    if (areRepeated) await this.#noteConflicts();
    yield [];

    for (const [table, span, spanMs] of rollups) {
      await sql`
        INSERT INTO ${sql.table(table)} (slug_id, ${sql.ref(span)}, type_id, import_id, deaths)
        SELECT slug_id, span, type_id, ${importId}, deaths FROM (${this.#deaths(ofSlice, spanMs)}) AS died WHERE true
        ON CONFLICT (slug_id, ${sql.ref(span)}, type_id, import_id)
          DO UPDATE SET deaths = ${sql.ref(`${table}.deaths`)} + excluded.deaths`.execute(db);
      yield [];
    }

    await noteAdded(db, this.#deaths(ofSlice, minuteMs), this.#rows);
    const { rows } = await sql<StatusCount>`
      SELECT status_id, count(*) AS events FROM staged WHERE ${ofSlice} GROUP BY status_id`.execute(db);
    yield rows;
  }

  /** Compares the rows that were put aside with the events that have their ids, and drops them. */
  async #noteConflicts(): Promise<void> {
    const { rows } = await sql<{ conflicts: number; slug: string; id: string }>`
      SELECT count(*) OVER () AS conflicts, slug, id FROM staged JOIN event_slugs ON event_slugs.slug_id = staged.slug_id
      WHERE staged.ordinal < 0 AND NOT EXISTS (
        SELECT 1 FROM event_ids AS known JOIN events ON events.slug_id = known.slug_id AND events.at_ms = ${this.#atMs}
            AND events.import_id = known.import_id AND events.ordinal = known.ordinal
        WHERE known.slug_id = staged.slug_id AND known.id = staged.id
          AND events.type_id = staged.type_id AND events.status_id = staged.status_id AND events.count = staged.count
          AND events.asset IS NOT DISTINCT FROM staged.asset
          AND events.attribute_set_id IS NOT DISTINCT FROM staged.attribute_set_id)
      ORDER BY staged.ordinal DESC LIMIT ${mostConflictsNamed}`.execute(this.#db);
    const { rows: before, some } = this.conflicts;
    this.conflicts = {
      rows: before + (rows[0]?.conflicts ?? 0),
      some: [...some, ...rows.map(({ slug, id }) => ({ slug, id }))].slice(0, mostConflictsNamed),
    };
    await sql`DELETE FROM staged WHERE ordinal < 0`.execute(this.#db);
  }

  /** Counts deaths by organization, span and type, in the order of the rollups' keys. */
  #deaths(ofSlice: RawBuilder<unknown>, spanMs: number): RawBuilder<unknown> {
    const span = sql`${this.#atMs} / ${sql.lit(spanMs)}`;
    return sql`
      SELECT slug_id, ${span} AS span, type_id, sum(count) AS deaths FROM staged
      WHERE ${ofSlice} AND status_id = ${sql.lit(deadStatusId)} AND count > 0
      GROUP BY slug_id, span, type_id ORDER BY slug_id, span, type_id`;
  }
}

const rollups = [
  ["event_minutes", "minute", minuteMs],
  ["event_hours", "hour", hourMs],
] as const;

interface StatusCount {
  readonly status_id: number;
  readonly events: number;
}
