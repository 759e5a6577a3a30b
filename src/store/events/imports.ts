import { sql, type RawBuilder } from "kysely";

import type { Clock } from "../../base/time.ts";
import { inTransaction, rowStatement } from "../engine/dialect.ts";
import type { PlainDb } from "../tables.ts";
import type { EventStore } from "./events.ts";
import type { ImportPlan, ImportTarget } from "./import.ts";

/** An import that has begun, and has not ended: it is running, or was killed. */
export interface ImportRow extends ImportPlan {
  readonly id: number;
  /** Rows that were given so far. */
  readonly received: number;
  readonly startedAtMs: number;
  readonly renewedAtMs: number;
}

export type ImportStore = ReturnType<typeof createImportStore>;

const addSlugs = rowStatement(["bigint", "text"], (rows) => `INSERT INTO event_import_slugs (import_id, slug) ${rows}`);

/** Returns the target of an import that this process stores itself. */
export function storeTarget(
  { events, imports }: { readonly events: EventStore; readonly imports: ImportStore },
  clock: Clock,
): ImportTarget {
  return {
    begin: async (plan) => (await imports.begin(plan, clock.nowMs())).id,
    add: async (id, some) => {
      const added = await events.add(some);
      await imports.renew(id, added.received, clock.nowMs());
      return added;
    },
    end: (id) => imports.end(id),
  };
}

/** Creates the store of imports that have not ended. */
export function createImportStore(db: PlainDb) {
  const remove = async (transaction: PlainDb, which: RawBuilder<unknown>): Promise<void> => {
    await sql`
      DELETE FROM event_import_slugs WHERE import_id IN (SELECT import_id FROM event_imports WHERE ${which})`.execute(
      transaction,
    );
    await sql`DELETE FROM event_imports WHERE ${which}`.execute(transaction);
  };
  return {
    /** Begins an import. It replaces one of the same name, which was killed: the same import again completes it. */
    begin: (plan: ImportPlan, nowMs: number): Promise<ImportRow> =>
      inTransaction(db, async (transaction) => {
        const { name, slugs, rows: given } = plan;
        await remove(transaction, sql`name = ${name}`);
        const { rows } = await sql<{ import_id: number }>`
          INSERT INTO event_imports (name, row_count, received, started_at_ms, renewed_at_ms)
          VALUES (${name}, ${given}, 0, ${nowMs}, ${nowMs}) RETURNING import_id`.execute(transaction);
        const id = rows[0]?.import_id ?? 0;
        await addSlugs(
          transaction,
          slugs.map((slug) => [id, slug]),
        );
        return { ...plan, id, received: 0, startedAtMs: nowMs, renewedAtMs: nowMs };
      }),
    /** Notes that it is running, and that so many more rows were given. */
    renew: async (id: number, received: number, nowMs: number): Promise<void> => {
      await sql`
        UPDATE event_imports SET received = received + ${received}, renewed_at_ms = ${nowMs}
        WHERE import_id = ${id}`.execute(db);
    },
    end: (id: number): Promise<void> => inTransaction(db, (transaction) => remove(transaction, sql`import_id = ${id}`)),
    /** Imports that have not ended, the oldest first. */
    list: async (): Promise<readonly ImportRow[]> => {
      const { rows } = await sql<Omit<ImportRow, "slugs">>`
        SELECT import_id AS id, name, row_count AS rows, received, started_at_ms AS "startedAtMs",
          renewed_at_ms AS "renewedAtMs" FROM event_imports ORDER BY import_id`.execute(db);
      const slugs = await sql<{ id: number; slug: string }>`
        SELECT import_id AS id, slug FROM event_import_slugs ORDER BY import_id, slug`.execute(db);
      const ofImport = Map.groupBy(slugs.rows, ({ id }) => id);
      return rows.map((row) => ({ ...row, slugs: (ofImport.get(row.id) ?? []).map(({ slug }) => slug) }));
    },
    /** Deletes those that were last renewed at or before `beforeMs`. */
    prune: (beforeMs: number): Promise<void> =>
      inTransaction(db, (transaction) => remove(transaction, sql`renewed_at_ms <= ${beforeMs}`)),
  };
}
