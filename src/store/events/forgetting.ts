import { sql } from "kysely";
import { dialectOf } from "../engine/dialect.ts";
import type { PlainDb } from "../schema.ts";
import { noteStoreChange } from "./sqlite/changes.ts";

const tables = [
  ["events", "slug_id, at_ms, import_id, ordinal"],
  ["event_minutes", "slug_id, minute, type_id, import_id"],
  ["event_hours", "slug_id, hour, type_id, import_id"],
  ["event_pruned_slugs", "slug_id"],
] as const;
const idTable = ["event_ids", "slug_id, id_hash, import_id, ordinal"] as const;

/** Deletes some rows of an organization, for EventStore.forget. */
export async function forgetEvents(
  db: PlainDb,
  slug: string,
  maxRows: number,
): Promise<{ readonly removed: number; readonly hasMore: boolean }> {
  const known = await sql<{ slug_id: number }>`SELECT slug_id FROM event_slugs WHERE slug = ${slug}`.execute(db);
  const slugId = known.rows[0]?.slug_id;
  if (slugId === undefined) return { removed: 0, hasMore: false };
  let removed = 0;
  let hasMore = false;
  for (const [table, key] of dialectOf(db).engine === "sqlite" ? [...tables, idTable] : tables) {
    const keys = sql.raw(key);
    const { numAffectedRows } = await sql`
      DELETE FROM ${sql.table(table)} WHERE (${keys}) IN (
        SELECT ${keys} FROM ${sql.table(table)} WHERE slug_id = ${slugId} LIMIT ${maxRows})`.execute(db);
    const rows = Number(numAffectedRows ?? 0n);
    if (table === "events") removed = rows;
    if (rows === maxRows) hasMore = true;
  }
  await noteStoreChange(db, { kind: "changed", detail: [slugId] });
  return { removed, hasMore };
}
