import type { Db, SilenceRow } from "../schema.ts";

/** A silence that was made at run time (CONTRACT 7); those of the configuration are not stored. */
export interface StoredSilence {
  readonly id: string;
  /** A pattern: of one organization `literalPattern` of its slug. */
  readonly slug: string;
  /** A pattern; null matches every check. */
  readonly check: string | null;
  readonly startsAtMs: number;
  readonly endsAtMs: number;
  readonly comment: string;
  readonly createdBy: string | null;
  /** What the request claims about its author; not verified. */
  readonly note: string | null;
  readonly createdAtMs: number;
}

/** A silence as requested. */
export type NewSilence = Omit<StoredSilence, "id" | "createdBy" | "note" | "createdAtMs">;

/** What of a silence is to be another. */
export type SilenceChange = Partial<Pick<StoredSilence, "endsAtMs" | "comment">>;

export type SilenceStore = ReturnType<typeof createSilenceStore>;

/** Silences made at run time, over the table `silences`. */
export function createSilenceStore(db: Db) {
  return {
    add: async (silence: StoredSilence): Promise<void> => {
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
    /** Those that end after `atMs`, whether begun or not, in the order of their start. */
    endingAfter: async (atMs: number): Promise<readonly StoredSilence[]> => {
      const rows = await db
        .selectFrom("silences")
        .selectAll()
        .where("ends_at_ms", ">", atMs)
        .orderBy("starts_at_ms")
        .orderBy("id")
        .execute();
      return rows.map(storedSilence);
    },
    byId: async (id: string): Promise<StoredSilence | null> => {
      const row = await db.selectFrom("silences").selectAll().where("id", "=", id).executeTakeFirst();
      return row === undefined ? null : storedSilence(row);
    },
    /** Changes its end, its comment or both. False: no such silence, or it has ended. */
    change: async (id: string, { endsAtMs, comment }: SilenceChange, nowMs: number): Promise<boolean> => {
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
    /** Ends it now; kept, so that what changed under it is still known. False: no such silence, or it has ended. */
    expire: async (id: string, nowMs: number): Promise<boolean> => {
      const { numUpdatedRows } = await db
        .updateTable("silences")
        .set({ ends_at_ms: nowMs })
        .where("id", "=", id)
        .where("ends_at_ms", ">", nowMs)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    /** Deletes those that ended at or before `beforeMs`. */
    prune: async (beforeMs: number): Promise<void> => {
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
