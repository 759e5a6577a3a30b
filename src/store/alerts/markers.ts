import type { Db } from "../tables.ts";

/** Something that people did at an instant and that may explain what began after it: a rollout, a deployment. */
export interface Marker {
  readonly id: string;
  readonly atMs: number;
  /** What was done, in a few words. */
  readonly text: string;
  /** The organization that it is about; null: all of them. */
  readonly slug: string | null;
  readonly createdBy: string | null;
  /** What the request claims about its author; not verified. */
  readonly note: string | null;
  readonly createdAtMs: number;
}

interface MarkerRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly slug?: string | undefined;
}

/** Markers over the table `markers`. */
export function createMarkerStore(db: Db<{ readonly markers: Marker }>) {
  return {
    add: async (marker: Marker): Promise<void> => {
      await db.insertInto("markers").values(marker).execute();
    },
    /** Returns the markers in [fromMs, toMs], oldest first; with `slug` its own and those of all organizations. */
    between: async ({ fromMs, toMs, slug }: MarkerRange): Promise<readonly Marker[]> => {
      const marked = db.selectFrom("markers").selectAll().where("atMs", ">=", fromMs).where("atMs", "<=", toMs);
      const all = marked.orderBy("atMs").orderBy("id");
      if (slug === undefined) return all.execute();
      return all.where((where) => where.or([where("slug", "is", null), where("slug", "=", slug)])).execute();
    },
    byId: async (id: string): Promise<Marker | null> =>
      (await db.selectFrom("markers").selectAll().where("id", "=", id).executeTakeFirst()) ?? null,
    /** False: there is none with this id. */
    remove: async (id: string): Promise<boolean> => {
      const { numDeletedRows } = await db.deleteFrom("markers").where("id", "=", id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
    /** Deletes those before `beforeMs`. */
    prune: async (beforeMs: number): Promise<void> => {
      await db.deleteFrom("markers").where("atMs", "<", beforeMs).execute();
    },
  };
}
