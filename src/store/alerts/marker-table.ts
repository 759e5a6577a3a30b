import type { Marker, MarkerStore } from "./markers.ts";
import type { Db, MarkerRow } from "../schema.ts";

/** Markers over the table `markers`. */
export function createMarkerStore(db: Db): MarkerStore {
  return {
    add: async ({ id, atMs, text, slug, createdBy, note, createdAtMs }) => {
      const row = { id, at_ms: atMs, text, slug, created_by: createdBy, note, created_at_ms: createdAtMs };
      await db.insertInto("markers").values(row).execute();
    },
    between: async ({ fromMs, toMs, slug }) => {
      const all = db
        .selectFrom("markers")
        .selectAll()
        .where("at_ms", ">=", fromMs)
        .where("at_ms", "<=", toMs)
        .orderBy("at_ms")
        .orderBy("id");
      const asked =
        slug === undefined
          ? all
          : all.where((where) => where.or([where("slug", "is", null), where("slug", "=", slug)]));
      return (await asked.execute()).map(marker);
    },
    byId: async (id) => {
      const row = await db.selectFrom("markers").selectAll().where("id", "=", id).executeTakeFirst();
      return row === undefined ? null : marker(row);
    },
    remove: async (id) => {
      const { numDeletedRows } = await db.deleteFrom("markers").where("id", "=", id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
    prune: async (beforeMs) => {
      await db.deleteFrom("markers").where("at_ms", "<", beforeMs).execute();
    },
  };
}

function marker(row: MarkerRow): Marker {
  return {
    id: row.id,
    atMs: row.at_ms,
    text: row.text,
    slug: row.slug,
    createdBy: row.created_by,
    note: row.note,
    createdAtMs: row.created_at_ms,
  };
}
