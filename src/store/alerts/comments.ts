import type { Db } from "../schema.ts";

/** The acts that a comment may come with. */
export type CommentedAct = "acknowledge" | "judgement" | "release";

/** A comment of a person on an alert. */
export interface AlertComment {
  readonly alertId: string;
  readonly slug: string;
  readonly atMs: number;
  readonly by: string;
  /** The author that the request names in addition; not authenticated. */
  readonly note: string | null;
  readonly text: string;
  /** The act that it came with; null: it came alone. */
  readonly act: CommentedAct | null;
}

/** Comments over the table `comments`. */
export function createCommentStore(db: Db) {
  return {
    append: async ({ alertId, slug, atMs, by, note, text, act }: AlertComment): Promise<void> => {
      await db
        .insertInto("comments")
        .values({ alert_id: alertId, slug, at_ms: atMs, author: by, note, text, act })
        .execute();
    },
    /** Oldest first. */
    of: async (alertId: string): Promise<readonly AlertComment[]> => {
      const rows = db.selectFrom("comments").selectAll().where("alert_id", "=", alertId).orderBy("comment_id");
      return (await rows.execute()).map((row) => ({
        alertId: row.alert_id,
        slug: row.slug,
        atMs: row.at_ms,
        by: row.author,
        note: row.note,
        text: row.text,
        act: row.act as CommentedAct | null,
      }));
    },
    count: async (alertId: string): Promise<number> => {
      const counted = db
        .selectFrom("comments")
        .select(({ fn }) => fn.countAll().as("rows"))
        .where("alert_id", "=", alertId);
      return Number((await counted.executeTakeFirstOrThrow()).rows);
    },
  };
}
