import { sql } from "kysely";
import { dialectOf } from "../engine/dialect.ts";
import type { Db } from "../tables.ts";

/** A silence that was made at run time (CONTRACT 7); those of the configuration are not stored. */
export interface StoredSilence {
  readonly id: string;
  /** A pattern; for one organization `literalPattern` of its slug. */
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

export type SilenceChange = Partial<Pick<StoredSilence, "endsAtMs" | "comment">>;

export interface SilenceTables {
  readonly silences: Omit<StoredSilence, "check"> & { readonly checkName: string | null };
}

export type SilenceStore = ReturnType<typeof createSilenceStore>;

/** Silences made at run time, over the table `silences`. */
export function createSilenceStore(db: Db<SilenceTables>) {
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
    /** Stores one for each of these, whatever their number, in one statement. */
    addEach: async (
      silence: Omit<StoredSilence, "id" | "slug" | "check">,
      rows: readonly Pick<StoredSilence, "id" | "slug" | "check">[],
    ): Promise<void> => {
      const { startsAtMs, endsAtMs, comment, createdBy, note, createdAtMs } = silence;
      const cells = rows.map(({ id, slug, check }) => [id, slug, check]);
      await sql`insert into silences
          (starts_at_ms, ends_at_ms, comment, created_by, note, created_at_ms, id, slug, check_name)
        select ${startsAtMs}, ${endsAtMs}, ${comment}, ${createdBy}, ${note}, ${createdAtMs},
          value ->> 0, value ->> 1, value ->> 2
        from ${dialectOf(db).cells(cells)}`.execute(db);
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
