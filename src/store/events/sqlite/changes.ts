import { CompiledQuery, SqliteAdapter } from "kysely";
import type { DatabaseSync } from "node:sqlite";

import type { Db } from "../../schema.ts";

/** A change of the published counts, noted in the transaction that makes it; the migration says what `detail` holds. */
export interface EventChange {
  readonly kind: "added" | "published" | "pruned";
  readonly detail: readonly number[];
}

/** Numbers of one cell in the detail of `added`: slug_id, minute, type_id, deaths. */
export const cellNumbers = 4;

// Some 1.5 MB of text: who reads the journal more seldom than that begins anew.
const keptCells = 65_536;

/** Notes a change; the statements belong to the transaction of the caller. */
export function noteChange(db: DatabaseSync, change: EventChange): void {
  if (change.detail.length === 0) return;
  const weight = weightOf(change);
  db.prepare(insertSql).run(weight, weight, change.kind, JSON.stringify(change.detail));
  db.prepare(trimSql).run();
}

/** The same over Kysely, for what the store itself changes. On PostgreSQL nobody keeps sums: writers need not wait in line. */
export async function noteStoreChange(db: Db, change: EventChange): Promise<void> {
  if (change.detail.length === 0 || !(db.getExecutor().adapter instanceof SqliteAdapter)) return;
  const weight = weightOf(change);
  const insert = [weight, weight, change.kind, JSON.stringify(change.detail)];
  await db.executeQuery(CompiledQuery.raw(insertSql, insert));
  await db.executeQuery(CompiledQuery.raw(trimSql, []));
}

// The newest row always stays: positions never come again.
const insertSql = `
  INSERT INTO event_changes (position, weight, kind, detail)
  SELECT coalesce(max(position), 0) + ?, ?, ?, ? FROM event_changes`;
const trimSql = `DELETE FROM event_changes WHERE position <= (SELECT max(position) FROM event_changes) - ${keptCells}`;

function weightOf({ kind, detail }: EventChange): number {
  return kind === "added" ? Math.ceil(detail.length / cellNumbers) : 1;
}

/** The journal as a reader on a connection of its own sees it. */
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

  /** What has changed since the last call; null when that cannot be told: at the first call, or too much has. */
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

  /** Begins anew at the next call. */
  forget(): void {
    this.#position = null;
  }
}
