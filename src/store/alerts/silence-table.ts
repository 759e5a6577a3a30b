import type { Db, SilenceRow } from "../schema.ts";
import type { SilenceStore, StoredSilence } from "./silences.ts";

/** Silences made at run time, over the table `silences`. */
export function createSilenceStore(db: Db): SilenceStore {
  return {
    add: async (silence) => {
      await db
        .insertInto("silences")
        .values({
          id: silence.id,
          slug: silence.slug,
          check_name: silence.check,
          starts_at_ms: silence.startsAtMs,
          ends_at_ms: silence.endsAtMs,
          comment: silence.comment,
          created_by: silence.createdBy,
          note: silence.note,
          created_at_ms: silence.createdAtMs,
        })
        .execute();
    },
    endingAfter: async (atMs) => {
      const rows = await db
        .selectFrom("silences")
        .selectAll()
        .where("ends_at_ms", ">", atMs)
        .orderBy("starts_at_ms")
        .orderBy("id")
        .execute();
      return rows.map(storedSilence);
    },
    byId: async (id) => {
      const row = await db.selectFrom("silences").selectAll().where("id", "=", id).executeTakeFirst();
      return row === undefined ? null : storedSilence(row);
    },
    change: async (id, { endsAtMs, comment }, nowMs) => {
      const { numUpdatedRows } = await db
        .updateTable("silences")
        .set({
          ...(endsAtMs === undefined ? {} : { ends_at_ms: endsAtMs }),
          ...(comment === undefined ? {} : { comment }),
        })
        .where("id", "=", id)
        .where("ends_at_ms", ">", nowMs)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    expire: async (id, nowMs) => {
      const { numUpdatedRows } = await db
        .updateTable("silences")
        .set({ ends_at_ms: nowMs })
        .where("id", "=", id)
        .where("ends_at_ms", ">", nowMs)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    prune: async (beforeMs) => {
      await db.deleteFrom("silences").where("ends_at_ms", "<=", beforeMs).execute();
    },
  };
}

function storedSilence(row: SilenceRow): StoredSilence {
  return {
    id: row.id,
    slug: row.slug,
    check: row.check_name,
    startsAtMs: row.starts_at_ms,
    endsAtMs: row.ends_at_ms,
    comment: row.comment,
    createdBy: row.created_by,
    note: row.note,
    createdAtMs: row.created_at_ms,
  };
}
