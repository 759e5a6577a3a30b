import { sql } from "kysely";
import { hourMs, minuteMs } from "../../../base/time.ts";
import { deadStatusId, directImportId } from "../sqlite/writer.ts";
import type { PlainDb } from "../../schema.ts";

/** One event in PostgreSQL's form, with its names as numbers. */
export interface EventColumns {
  readonly slugId: number;
  readonly atMs: number;
  readonly ordinal: number;
  readonly typeId: number;
  readonly statusId: number;
  readonly count: number;
  readonly asset: string | null;
  readonly id: string | null;
  readonly attributeSetId: number | null;
}

/** The events of one statement, column by column. */
export class EventRows {
  readonly #numbers: number[][] = [[], [], [], [], [], []];
  readonly #assets: (string | null)[] = [];
  readonly #ids: (string | null)[] = [];
  readonly #attributeSets: (number | null)[] = [];

  get length(): number {
    return this.#ids.length;
  }

  add({ slugId, atMs, ordinal, typeId, statusId, count, asset, id, attributeSetId }: EventColumns): void {
    for (const [column, value] of [slugId, atMs, ordinal, typeId, statusId, count].entries()) {
      this.#numbers[column]?.push(value);
    }
    this.#assets.push(asset);
    this.#ids.push(id);
    this.#attributeSets.push(attributeSetId);
  }

  /**
   * Stores the rows under an import with their rollups, without those whose id is already stored; waits for concurrent
   * transactions with the same id. Returns the number of stored rows by status_id. One statement, because each one is a
   * round trip.
   */
  async insert(db: PlainDb, importId: number): Promise<ReadonlyMap<number, number>> {
    if (this.length === 0) return new Map();
    const [slugs, instants, ordinals, types, statuses, counts] = this.#numbers.map(
      // Formatted here: pg would convert each number separately.
      (values) => sql`${`{${values.join(",")}}`}::int8[]`,
    );
    // Sorted: posts of the same ids then wait for each other without a deadlock, which the server takes a second to detect.
    const order = importId === directImportId ? sql`ORDER BY slug_id, id COLLATE "C", ordinal` : sql``;
    const { rows } = await sql<{ status_id: number; stored: number }>`
      WITH stored AS (
        INSERT INTO events (slug_id, at_ms, import_id, ordinal, type_id, status_id, count, asset, id, attribute_set_id)
        SELECT slug_id, at_ms, ${importId}::int8, ordinal, type_id, status_id, count, asset, id, attribute_set_id
        FROM unnest(${slugs}, ${instants}, ${ordinals}, ${types}, ${statuses}, ${counts},
          ${this.#assets}::text[], ${this.#ids}::text[], ${this.#attributeSets}::int8[])
          AS given (slug_id, at_ms, ordinal, type_id, status_id, count, asset, id, attribute_set_id)
        ${order}
        ON CONFLICT (slug_id, id) WHERE id IS NOT NULL DO NOTHING
        RETURNING slug_id, at_ms, type_id, status_id, count),
      deaths AS (
        SELECT slug_id, at_ms / ${sql.lit(minuteMs)} AS minute, type_id, sum(count) AS deaths FROM stored
        WHERE status_id = ${sql.lit(deadStatusId)} AND count > 0 GROUP BY 1, 2, 3),
      minutes AS (
        INSERT INTO event_minutes (slug_id, minute, type_id, import_id, deaths)
        SELECT slug_id, minute, type_id, ${importId}::int8, deaths FROM deaths ORDER BY 1, 2, 3
        ON CONFLICT (slug_id, minute, type_id, import_id)
          DO UPDATE SET deaths = event_minutes.deaths + excluded.deaths),
      hours AS (
        INSERT INTO event_hours (slug_id, hour, type_id, import_id, deaths)
        SELECT slug_id, minute / ${sql.lit(hourMs / minuteMs)} AS hour, type_id, ${importId}::int8, sum(deaths)
        FROM deaths GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        ON CONFLICT (slug_id, hour, type_id, import_id) DO UPDATE SET deaths = event_hours.deaths + excluded.deaths)
      SELECT status_id, count(*) AS stored FROM stored GROUP BY status_id`.execute(db);
    return new Map(rows.map(({ status_id, stored }) => [status_id, stored]));
  }
}
