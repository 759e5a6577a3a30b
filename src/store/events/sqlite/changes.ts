import { CompiledQuery } from "kysely";
import type { DatabaseSync } from "node:sqlite";

import { dialectOf } from "../../engine/dialect.ts";
import type { PlainDb } from "../../schema.ts";

/** A change of counts, recorded in its transaction; the migration documents `detail`. */
export interface EventChange {
  readonly kind: "added" | "pruned" | "changed";
  readonly detail: readonly number[];
}

/** Numbers per cell in the detail of `added`: slug_id, minute, type_id, deaths. */
export const cellNumbers = 4;

// About 1.5 MB of text: readers that fall further behind reload.
const keptCells = 65_536;

/** Records a change; the statements belong to the caller's transaction. */
export function noteChange(db: DatabaseSync, change: EventChange): void {
  if (change.detail.length === 0) return;
  const weight = weightOf(change);
  db.prepare(insertSql).run(weight, weight, change.kind, JSON.stringify(change.detail));
  db.prepare(trimSql).run();
}

/**
 * Records a change through Kysely, for changes of the store itself. PostgreSQL has no sums, so nothing is recorded there.
 */
export async function noteStoreChange(db: PlainDb, change: EventChange): Promise<void> {
  if (change.detail.length === 0 || dialectOf(db).engine !== "sqlite") return;
  const weight = weightOf(change);
  const insert = [weight, weight, change.kind, JSON.stringify(change.detail)];
  await db.executeQuery(CompiledQuery.raw(insertSql, insert));
  await db.executeQuery(CompiledQuery.raw(trimSql, []));
}

// The newest row is always kept: positions are never reused.
const insertSql = `
  INSERT INTO event_changes (position, weight, kind, detail)
  SELECT coalesce(max(position), 0) + ?, ?, ?, ? FROM event_changes`;
const trimSql = `DELETE FROM event_changes WHERE position <= (SELECT max(position) FROM event_changes) - ${keptCells}`;

function weightOf({ kind, detail }: EventChange): number {
  return kind === "added" ? Math.ceil(detail.length / cellNumbers) : 1;
}

/** Reads the journal of changes on its own connection. */
export class ChangeReader {
  readonly #after;
  readonly #last;
  #position: number | null = null;

  constructor(db: DatabaseSync) {
    this.#after = db.prepare(
      `SELECT position, weight, kind, detail FROM event_changes WHERE position > ? ORDER BY position`,
    );
    this.#last = db.prepare(`SELECT max(position) AS position FROM event_changes`);
  }

  /** Returns the changes since the last call; null if they are unknown: at the first call, or after too many changes. */
  next(): readonly EventChange[] | null {
    if (this.#position === null) {
      this.#position = Number(this.#last.get()?.["position"] ?? 0);
      return null;
    }
    const rows = this.#after.all(this.#position);
    const [first] = rows;
    const last = rows.at(-1);
    if (first === undefined || last === undefined) return [];
    const isWhole = Number(first["position"]) - Number(first["weight"]) <= this.#position;
    this.#position = Number(last["position"]);
    if (!isWhole) return null;
    return rows.map((row) => ({
      kind: String(row["kind"]) as EventChange["kind"],
      detail: JSON.parse(String(row["detail"])) as readonly number[],
    }));
  }

  /** Starts again at the next call. */
  forget(): void {
    this.#position = null;
  }
}
