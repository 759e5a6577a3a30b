import type { Db } from "../tables.ts";

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

export interface SilenceTables {
  readonly silences: Omit<StoredSilence, "check"> & { readonly checkName: string | null };
}

export type SilenceStore = ReturnType<typeof createSilenceStore>;

/** Silences made at run time, over the table `silences`. */
export function createSilenceStore(db: Db) {
  const stored = () => db.selectFrom("silences").select(columns);
  /** Changes its end, its comment or both. False: no such silence, or it has ended. */
  async function change(id: string, { endsAtMs, comment }: SilenceChange, nowMs: number): Promise<boolean> {
    const { numUpdatedRows } = await db
      .updateTable("silences")
      .set({ ...(endsAtMs === undefined ? {} : { endsAtMs }), ...(comment === undefined ? {} : { comment }) })
      .where("id", "=", id)
      .where("endsAtMs", ">", nowMs)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  return {
    add: async ({ check, ...silence }: StoredSilence): Promise<void> => {
      await db
        .insertInto("silences")
        .values({ ...silence, checkName: check })
        .execute();
    },
    /** Returns the silences that end after `atMs`, whether begun or not, in the order of their start. */
    endingAfter: (atMs: number): Promise<readonly StoredSilence[]> =>
      stored().where("endsAtMs", ">", atMs).orderBy("startsAtMs").orderBy("id").execute(),
    byId: async (id: string): Promise<StoredSilence | null> =>
      (await stored().where("id", "=", id).executeTakeFirst()) ?? null,
    change,
    /** Ends it now; kept, so that what changed under it is still known. False: no such silence, or it has ended. */
    expire: (id: string, nowMs: number): Promise<boolean> => change(id, { endsAtMs: nowMs }, nowMs),
    /** Deletes those that ended at or before `beforeMs`. */
    prune: async (beforeMs: number): Promise<void> => {
      await db.deleteFrom("silences").where("endsAtMs", "<=", beforeMs).execute();
    },
  };
}

const columns = [
  "id",
  "slug",
  "checkName as check",
  "startsAtMs",
  "endsAtMs",
  "comment",
  "createdBy",
  "note",
  "createdAtMs",
] as const;
