import { FlatlineError } from "../base/errors.ts";
import type { Actor } from "../contract/actor.ts";
import type { Severity } from "../contract/severity.ts";
import type { AlertAcknowledgement, AlertState } from "../store/alerts/alerts.ts";
import type { StoreParts } from "../store/store-parts.ts";
import { keepComment } from "./acts/comment.ts";
import type { ActContext } from "./acts/judge.ts";
import { noteActNotice, type ActEntry, type NoteEntries } from "./acts/act-notice.ts";

/** An acknowledgement of an alert, and its author. */
export interface Acknowledgement {
  readonly alertId: string;
  readonly author: Actor;
  readonly comment: string | null;
  /** The receiver through whose link or hook it comes [through none]. */
  readonly receiver?: string | undefined;
  /** The incident on which the act is, and its severity, above which it ends; absent: it is on this alert alone. */
  readonly incident?: { readonly id: string; readonly severity: Severity };
  /** [noteActNotice] */
  readonly note?: NoteEntries;
}

/**
 * Stops the reminders and escalations of an alert until it is resolved or worse than it is now (CONTRACT 15); doing it again
 * replaces who and why. Wake the notifier afterwards.
 * @throws FlatlineError not_found without a live alert of that id, conflict when it does not fire yet
 */
export async function acknowledgeAlert(
  { store, ...context }: ActContext,
  acknowledgement: Acknowledgement,
): Promise<AlertState> {
  return store.transaction(async (parts) => acknowledgeIn(parts, context, acknowledgement));
}

/** The same in a transaction. */
export async function acknowledgeIn(
  parts: StoreParts,
  { settings, nowMs }: Omit<ActContext, "store">,
  { alertId, author, comment, receiver, incident, ...act }: Acknowledgement,
): Promise<AlertState> {
  const alert = await parts.alerts.byId(alertId);
  if (alert === null) throw new FlatlineError("not_found", "no live alert has this id");
  if (alert.state !== "firing")
    throw new FlatlineError("conflict", "the alert is pending: no notification of it was sent yet");
  const { check, slug, kind, severity } = alert;
  const acknowledgement: AlertAcknowledgement = {
    atMs: nowMs,
    by: author.name,
    note: author.note,
    comment,
    severity: incident?.severity ?? severity,
    ...(incident === undefined ? {} : { isOfIncident: true }),
    ...(receiver === undefined ? {} : { receiver }),
  };
  const acknowledged: AlertState = { ...alert, acknowledgement };
  await parts.alerts.acknowledge([alertId], acknowledgement);
  if (comment !== null && incident === undefined)
    await keepComment(parts, { alertId, slug, author, text: comment, nowMs, act: "acknowledge" });
  const noted: ActEntry = {
    event: "acknowledged",
    reason: "acknowledged",
    alert: acknowledged,
    endsAtMs: null,
    by: author.name,
    comment,
  };
  const noteEntries = act.note ?? ((entries) => noteActNotice(parts, { settings, slug, nowMs }, entries));
  await noteEntries([noted]);
  const of = {
    ...(incident === undefined ? {} : { incidentId: incident.id }),
    ...(receiver === undefined ? {} : { receiver }),
  };
  const detail = { check, kind, severity, ...(comment === null ? {} : { comment }), ...of };
  await parts.audit.append({ atMs: nowMs, actor: author, action: "acknowledge", slug, subject: alertId, detail });
  return acknowledged;
}
