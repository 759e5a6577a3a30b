import type { CommentStore, CommentedAct } from "./comments.ts";
import type { Db } from "../schema.ts";

/** Comments over the table `comments`. */
export function createCommentStore(db: Db): CommentStore {
  return {
    append: async ({ alertId, slug, atMs, by, note, text, act }) => {
      await db
        .insertInto("comments")
        .values({ alert_id: alertId, slug, at_ms: atMs, author: by, note, text, act })
        .execute();
    },
    of: async (alertId) => {
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
    count: async (alertId) => {
      const counted = db
        .selectFrom("comments")
        .select(({ fn }) => fn.countAll().as("rows"))
        .where("alert_id", "=", alertId);
      return Number((await counted.executeTakeFirstOrThrow()).rows);
    },
  };
}
