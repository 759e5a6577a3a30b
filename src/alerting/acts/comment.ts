import { FlatlineError } from "../../base/errors.ts";
import type { Actor } from "../../contract/actor.ts";
import type { KeptAlert } from "../../store/alerts/alerts.ts";
import type { AlertComment } from "../../store/alerts/comments.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import { noteActNotice, type ActEntry } from "./act-notice.ts";
import type { ActContext } from "./judge.ts";

/** A comment on an alert. */
export interface NewComment {
  readonly alertId: string;
  readonly author: Actor;
  readonly text: string;
}

// An alert lists all of its comments; more are not readable.
export const mostComments = 1_000;

/**
 * Stores a comment on an alert that lives or has ended and is kept. Wake the notifier afterwards.
 * @throws FlatlineError not_found without such an alert, conflict when it has as many comments as it may have
 */
export async function commentOnAlert(
  { store, settings, nowMs }: ActContext,
  { alertId, author, text }: NewComment,
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
    await noteActNotice(parts, { settings, slug, nowMs }, [commentEntry(kept, author, text)]);
    const detail = { check, comment: text };
    await parts.audit.append({ atMs: nowMs, actor: author, action: "comment", slug, subject: alertId, detail });
    return comment;
  });
}

/** Returns the entry of a comment on an alert, as it stands. */
export function commentEntry({ alert, end }: KeptAlert, { name: by }: Actor, comment: string): ActEntry {
  return { event: "commented", reason: "commented", alert, endsAtMs: end?.atMs ?? null, by, comment };
}

/** Keeps a comment with its alert or incident, in the transaction of the act that it came with. */
export async function keepComment(
  { comments }: Pick<StoreParts, "comments">,
  {
    author,
    nowMs,
    ...kept
  }: Omit<AlertComment, "atMs" | "by" | "note"> & Pick<NewComment, "author"> & Pick<ActContext, "nowMs">,
): Promise<AlertComment> {
  const comment = { ...kept, atMs: nowMs, by: author.name, note: author.note };
  await comments.append(comment);
  return comment;
}
