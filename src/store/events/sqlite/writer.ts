import type { DatabaseSync, StatementSync } from "node:sqlite";

import { noType } from "../../../contract/assets.ts";
import { BatchInsert, BatchLookup } from "./batch.ts";
import type { EventBlock } from "./block.ts";
import type { NameIds } from "./name-ids.ts";
import { deadStatusIndex, type EventNames } from "../input/rows.ts";
import { ingestedStatus, type WriteTally } from "../tally.ts";

/** The id of DETECTED_AS_DEAD in event_statuses, as in the migration. */
export const deadStatusId = 1;
/** The import of posted events. */
export const directImportId = 0;

// Rows between two checks of the clock: about 0.3 ms.
const rowsAStep = 64;

/**
 * Writes blocks into the event tables. Its methods are generators with small steps, between which the caller gives others a
 * turn.
 */
export class EventWriter {
  readonly #events: BatchInsert;
  /** Events with attributes are inserted separately, so that the others do not pay for them. */
  readonly #attributed: BatchInsert;
  readonly #ids: BatchInsert;
  readonly #minutes: BatchInsert;
  readonly #hours: BatchInsert;
  readonly #sameHash: BatchLookup;
  readonly #idOf: StatementSync;

  constructor(db: DatabaseSync) {
    this.#events = new BatchInsert(
      db,
      9,
      (rows) =>
        `INSERT INTO events (slug_id, at_ms, import_id, ordinal, type_id, status_id, count, asset, id) VALUES ${rows}`,
    );
    this.#attributed = new BatchInsert(
      db,
      10,
      (rows) =>
        `INSERT INTO events (slug_id, at_ms, import_id, ordinal, type_id, status_id, count, asset, id, attribute_set_id) VALUES ${rows}`,
    );
    this.#ids = new BatchInsert(
      db,
      5,
      (rows) => `INSERT INTO event_ids (slug_id, id_hash, import_id, ordinal, at_ms) VALUES ${rows}`,
    );
    this.#minutes = new BatchInsert(db, 5, (rows) => rollupSql("event_minutes", "minute", rows));
    this.#hours = new BatchInsert(db, 5, (rows) => rollupSql("event_hours", "hour", rows));
    // CROSS JOIN: SQLite does not reorder it, so each row is looked up by the primary key.
    this.#sameHash = new BatchLookup(
      db,
      3,
      (rows) => `SELECT asked.column1 AS row, known.import_id, known.ordinal, known.at_ms
        FROM (VALUES ${rows}) AS asked
        CROSS JOIN event_ids AS known ON known.slug_id = asked.column2 AND known.id_hash = asked.column3`,
    );
    this.#idOf = db.prepare(`SELECT id FROM events WHERE slug_id = ? AND at_ms = ? AND import_id = ? AND ordinal = ?`);
  }

  /** Drops pending rows, because their transaction was rolled back. */
  discard(): void {
    for (const batch of [this.#events, this.#attributed, this.#ids, this.#minutes, this.#hours]) batch.discard();
    this.#sameHash.discard();
  }

  /**
   * Writes a block's events, ids and rollups under an import, without those whose id is stored. The cells added to
   * event_minutes (slug_id, minute, type_id, deaths) are appended to `cells`.
   */
  *block(
    block: EventBlock,
    importId: number,
    names: EventNames,
    ids: NameIds,
    tally: WriteTally,
    cells: number[] | null = null,
  ): Generator<void> {
    yield* this.#blockIds(block, importId, ids, tally);
    const order = block.rowsByTime();
    yield* this.#blockEvents(block, order, importId, names, ids, tally);
    yield* this.#blockRollup(this.#minutes, 60_000, block, order, importId, ids, cells);
    yield* this.#blockRollup(this.#hours, 3_600_000, block, order, importId, ids, null);
  }

  *#blockIds(block: EventBlock, importId: number, ids: NameIds, tally: WriteTally): Generator<void> {
    const order = block.rowsById();
    const waiting: number[] = [];
    let steps = 0;
    for (const row of order) {
      this.#sameHash.put(row);
      this.#sameHash.put(ids.slugs[block.slug[row] ?? 0] ?? 0);
      this.#sameHash.put(block.idHash[row] ?? 0);
      waiting.push(row);
      if (!this.#sameHash.isFull) continue;
      this.#writeIds(block, waiting.splice(0), importId, ids, tally);
      if (++steps % 4 === 0) yield;
    }
    this.#writeIds(block, waiting, importId, ids, tally);
    this.#ids.flush();
    yield;
  }

  #writeIds(block: EventBlock, rows: readonly number[], importId: number, ids: NameIds, tally: WriteTally): void {
    for (const { row, import_id, ordinal, at_ms } of this.#sameHash.find()) {
      const index = Number(row);
      const slugId = ids.slugs[block.slug[index] ?? 0] ?? 0;
      // Another text means that only the hashes are equal.
      const stored = this.#idOf.get(slugId, Number(at_ms), Number(import_id), Number(ordinal));
      if (stored?.["id"] === block.idOf(index)) block.isDropped[index] = 1;
    }
    for (const row of rows) {
      if (block.isDropped[row] === 1) {
        tally.duplicates++;
        continue;
      }
      this.#ids.put(ids.slugs[block.slug[row] ?? 0] ?? 0);
      this.#ids.put(block.idHash[row] ?? 0);
      this.#ids.put(importId);
      this.#ids.put(block.firstOrdinal + row);
      this.#ids.put(block.at[row] ?? 0);
    }
  }

  *#blockEvents(
    block: EventBlock,
    order: Int32Array,
    importId: number,
    names: EventNames,
    ids: NameIds,
    tally: WriteTally,
  ): Generator<void> {
    const labels = names.statuses.names.map(ingestedStatus);
    let steps = 0;
    for (const row of order) {
      if (block.isDropped[row] === 1) continue;
      const type = block.assetType[row] ?? -1;
      const status = block.status[row] ?? deadStatusIndex;
      const attributes = block.attributes[row] ?? -1;
      const events = attributes < 0 ? this.#events : this.#attributed;
      events.put(ids.slugs[block.slug[row] ?? 0] ?? 0);
      events.put(block.at[row] ?? 0);
      events.put(importId);
      events.put(block.firstOrdinal + row);
      events.put(type < 0 ? noType : (ids.assetTypes[type] ?? noType));
      events.put(ids.statuses[status] ?? 0);
      events.put(block.count[row] ?? 1);
      events.put(block.assetOf(row));
      events.put(block.idOf(row));
      if (attributes >= 0) events.put(ids.attributes[attributes] ?? 0);
      tally.stored[labels[status] ?? "other"]++;
      if (++steps % rowsAStep === 0) yield;
    }
    this.#events.flush();
    this.#attributed.flush();
    yield;
  }

  /** Sums the deaths by span (a minute, an hour) and type; in `order`, the rows of a span are adjacent. */
  *#blockRollup(
    table: BatchInsert,
    spanMs: number,
    block: EventBlock,
    order: Int32Array,
    importId: number,
    ids: NameIds,
    cells: number[] | null,
  ): Generator<void> {
    const { slug: slugs, status, isDropped, at, assetType, count } = block;
    // Types of the current span with their deaths: usually a handful, for which a search is faster than a Map.
    const types: number[] = [];
    const deaths: number[] = [];
    let slug = -1;
    let span = -1;
    const write = (): void => {
      const slugId = ids.slugs[slug] ?? 0;
      for (let index = 0; index < types.length; index++) {
        const type = types[index] ?? -1;
        const typeId = type < 0 ? noType : (ids.assetTypes[type] ?? noType);
        table.put(slugId);
        table.put(span);
        table.put(typeId);
        table.put(importId);
        table.put(deaths[index] ?? 0);
        cells?.push(slugId, span, typeId, deaths[index] ?? 0);
      }
      types.length = 0;
      deaths.length = 0;
    };
    for (let index = 0; index < order.length; index++) {
      if (index % (2 * rowsAStep) === 0) yield;
      const row = order[index] ?? 0;
      if (status[row] !== deadStatusIndex || isDropped[row] === 1 || count[row] === 0) continue;
      const rowSpan = Math.floor((at[row] ?? 0) / spanMs);
      if (slugs[row] !== slug || rowSpan !== span) {
        write();
        slug = slugs[row] ?? 0;
        span = rowSpan;
      }
      const type = assetType[row] ?? -1;
      let place = types.indexOf(type);
      if (place < 0) {
        place = types.push(type) - 1;
        deaths.push(0);
      }
      deaths[place] = (deaths[place] ?? 0) + (count[row] ?? 1);
    }
    write();
    table.flush();
    yield;
  }
}

function rollupSql(table: string, span: string, rows: string): string {
  return `INSERT INTO ${table} (slug_id, ${span}, type_id, import_id, deaths) VALUES ${rows}
    ON CONFLICT DO UPDATE SET deaths = deaths + excluded.deaths`;
}
