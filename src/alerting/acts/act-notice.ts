import type { Alert } from "../../store/alerts/alerts.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import type { EndedHold } from "../decide/gate.ts";
import type { Reason } from "../decide/reasons.ts";
import type { AlertingSettings, ReceiverRoute } from "../settings.ts";

/** What an act means for one alert, as the alert stood right after it. */
export interface ActEntry {
  readonly event: "acknowledged" | "unacknowledged" | "judged" | "released" | "commented";
  readonly reason: Reason;
  readonly alert: Alert;
  /** null: no person did, a run did. */
  readonly by: string | null;
  readonly comment: string | null;
}

/** Returns whether a receiver wants to be notified of such an act. */
export function wantsAct({ sendActs, sendComments }: ReceiverRoute, { event }: Pick<ActEntry, "event">): boolean {
  return (event === "commented" ? sendComments : sendActs) === true;
}

/** Notes an act in its own transaction, for the receivers that want to be notified of it; nothing where none does. */
export async function noteActNotice(
  { actNotices }: Pick<StoreParts, "actNotices">,
  { settings, actId, nowMs }: { settings: Pick<AlertingSettings, "receivers">; actId: string; nowMs: number },
  entries: readonly ActEntry[],
): Promise<void> {
  if (!settings.receivers.some((route) => entries.some((entry) => wantsAct(route, entry)))) return;
  const notices = entries.map((entry) => ({ slug: entry.alert.slug, body: JSON.stringify(entry) }));
  await actNotices.append({ actId, atMs: nowMs }, notices);
}

/** Returns the entries of a gate that has opened, one an alert that held it last. */
export function releasedEntries(
  opened: readonly EndedHold[],
  { by, comment }: Pick<ActEntry, "by" | "comment">,
): ActEntry[] {
  return opened.map(({ how, ...alert }) => ({
    event: "released",
    reason: how === "judged" ? "released_by_judgement" : "released_by_hand",
    alert,
    by,
    comment,
  }));
}

/** Reads a text that noteActNotice wrote in the same schema version of the store. */
export function readActEntry(body: string): ActEntry {
  return JSON.parse(body) as ActEntry;
}
