import { sql } from "kysely";
import type { DatabaseSync } from "node:sqlite";

import { dialectOf } from "../../engine/dialect.ts";
import { rowStatement } from "../../engine/row-statement.ts";
import type { PlainDb } from "../../schema.ts";

/** A change of event_minutes, as the migration documents it. */
export interface EventChange {
  readonly slugId: number | null;
  readonly minute: number | null;
  readonly typeId: number | null;
  readonly deaths: number | null;
}

// About 2 MB: readers that fall further behind load the sums anew.
const keptChanges = 65_536;

const insertChanges = rowStatement(
  ["bigint", "bigint", "bigint", "bigint"],
  (rows) => `INSERT INTO event_changes (slug_id, minute, type_id, deaths) ${rows}`,
);

/** Notes deaths by slug_id, minute and type_id, in their transaction. */
export async function noteAdded(
  db: PlainDb,
  cells: readonly (readonly [slugId: number, minute: number, typeId: number, deaths: number])[],
): Promise<void> {
  if (!dialectOf(db).hasSums || cells.length === 0) return;
  await insertChanges(db, cells);
  await trim(db);
}

/** Notes that everything of an organization may have changed, or that everything before a minute was deleted. */
export async function noteChange(db: PlainDb, change: { slugId: number } | { firstMinute: number }): Promise<void> {
  if (!dialectOf(db).hasSums) return;
  await (
    "slugId" in change
      ? sql`INSERT INTO event_changes (slug_id) VALUES (${change.slugId})`
      : sql`INSERT INTO event_changes (minute) VALUES (${change.firstMinute})`
  ).execute(db);
  await trim(db);
}

async function trim(db: PlainDb): Promise<void> {
  await sql`DELETE FROM event_changes WHERE position <= (SELECT max(position) FROM event_changes) - ${keptChanges}`.execute(
    db,
  );
}

/** Reads the changes on its own connection. */
export class ChangeReader {
  readonly #after;
  readonly #last;
  #position: number | null = null;

  constructor(db: DatabaseSync) {
    this.#after = db.prepare(
      `SELECT position, slug_id AS slugId, minute, type_id AS typeId, deaths FROM event_changes
       WHERE position > ? ORDER BY position`,
    );
    this.#last = db.prepare(`SELECT max(position) AS position FROM event_changes`);
  }

  /** Returns the changes since the last call; null if they are unknown: at the first call, or after too many changes. */
  next(): readonly EventChange[] | null {
    if (this.#position === null) {
      this.#position = Number(this.#last.get()?.["position"] ?? 0);
      return null;
    }
    const changes = this.#after.all(this.#position) as unknown as (EventChange & { readonly position: number })[];
    const [first] = changes;
    if (first === undefined) return [];
    const isWhole = first.position === this.#position + 1;
    this.#position = first.position + changes.length - 1;
    return isWhole ? changes : null;
  }

  /** Starts again at the next call. */
  forget(): void {
    this.#position = null;
  }
}
