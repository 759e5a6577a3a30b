import { FlatlineError } from "../base/errors.ts";
import { noteActNotice, type ActEntry, type NoteEntries } from "./acts/act-notice.ts";
import type { AlertingSettings } from "./settings.ts";
import type { Actor } from "../contract/actor.ts";
import type { AlertState } from "../store/alerts/alerts.ts";
import type { StoreParts } from "../store/store-parts.ts";
import type { Store } from "../store/store.ts";

/** An acknowledgement that is taken back, and its author. */
export interface Unacknowledgement {
  readonly alertId: string;
  readonly author: Actor;
  readonly nowMs: number;
  /** What else the audit keeps of it [nothing]. */
  readonly facts?: Readonly<Record<string, string>>;
  /** The settings whose receivers are notified of it. */
  readonly settings: Pick<AlertingSettings, "receivers">;
  /** [noteActNotice] */
  readonly note?: NoteEntries;
}

/**
 * Takes an acknowledgement back: what still fires is notified again. Wake the notifier afterwards.
 * @throws FlatlineError not_found without a live alert of that id, conflict when it is not acknowledged
 */
export async function unacknowledgeAlert(
  store: Pick<Store, "transaction">,
  unacknowledgement: Unacknowledgement,
): Promise<AlertState> {
  return store.transaction(async (parts) => unacknowledgeIn(parts, unacknowledgement));
}

/** The same in a transaction. */
export async function unacknowledgeIn(
  parts: StoreParts,
  { alertId, author, nowMs, facts = {}, settings, ...act }: Unacknowledgement,
): Promise<AlertState> {
  const alert = await parts.alerts.byId(alertId);
  if (alert === null) throw new FlatlineError("not_found", "no live alert has this id");
  if (alert.acknowledgement === null)
    throw new FlatlineError("conflict", "the alert is not acknowledged: there is nothing to take back");
  const { check, slug, kind, severity } = alert;
  const open: AlertState = { ...alert, acknowledgement: null };
  await parts.alerts.acknowledge([alertId], null);
  const detail = { check, kind, severity, ...facts };
  await parts.audit.append({ atMs: nowMs, actor: author, action: "unacknowledge", slug, subject: alertId, detail });
  const said = { by: author.name, comment: null };
  const undone: ActEntry = { event: "unacknowledged", reason: "unacknowledged", alert: open, endsAtMs: null, ...said };
  const noteEntries = act.note ?? ((entries) => noteActNotice(parts, { settings, slug, nowMs }, entries));
  await noteEntries([undone]);
  return open;
}
