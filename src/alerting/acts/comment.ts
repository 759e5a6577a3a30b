import { FlatlineError } from "../../base/errors.ts";
import type { Actor } from "../../contract/actor.ts";
import type { AlertComment } from "../../store/alerts/comments.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import type { Store } from "../../store/store.ts";

/** A comment on an alert. */
export interface NewComment {
  readonly alertId: string;
  readonly author: Actor;
  readonly text: string;
  readonly nowMs: number;
}

// An alert lists all of its comments; more are not readable.
export const mostComments = 1_000;

/**
 * Stores a comment on an alert that lives or has ended and is kept.
 * @throws FlatlineError not_found without such an alert, conflict when it has as many comments as it may have
 */
export async function commentOnAlert(
  store: Pick<Store, "transaction">,
  { alertId, author, text, nowMs }: NewComment,
): Promise<AlertComment> {
  return store.transaction(async (parts) => {
    const kept = await parts.alerts.find(alertId);
    if (kept === null) throw new FlatlineError("not_found", "no alert has this id");
    if ((await parts.comments.count({ alertId })) >= mostComments)
      throw new FlatlineError(
        "conflict",
        `the alert has ${mostComments} comments, which is the most that one may have`,
      );
    const { slug, check } = kept.alert;
    const comment = await keepComment(parts, { alertId, slug, author, text, nowMs, act: null });
    const detail = { check, comment: text };
    await parts.audit.append({ atMs: nowMs, actor: author, action: "comment", slug, subject: alertId, detail });
    return comment;
  });
}

/** Keeps a comment with its alert or incident, in the transaction of the act that it came with. */
export async function keepComment(
  { comments }: Pick<StoreParts, "comments">,
  { author, nowMs, ...kept }: Omit<AlertComment, "atMs" | "by" | "note"> & Pick<NewComment, "author" | "nowMs">,
): Promise<AlertComment> {
  const comment = { ...kept, atMs: nowMs, by: author.name, note: author.note };
  await comments.append(comment);
  return comment;
}
