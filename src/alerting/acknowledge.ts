import { FlatlineError } from "../base/errors.ts";
import type { Actor } from "../contract/actor.ts";
import type { AlertState } from "../store/alerts/alerts.ts";
import type { Store } from "../store/store.ts";

/** Who has seen which alert. */
export interface Acknowledgement {
  readonly alertId: string;
  readonly author: Actor;
  readonly comment: string | null;
  readonly nowMs: number;
}

/**
 * Makes an alert quiet until it is resolved or worse than it is now (CONTRACT 3, `alerts ack`); doing it again replaces who
 * and why. Wake the notifier afterwards.
 * @throws FlatlineError not_found without a live alert of that id, conflict when it does not fire yet
 */
export async function acknowledgeAlert(
  store: Store,
  { alertId, author, comment, nowMs }: Acknowledgement,
): Promise<AlertState> {
  return store.transaction(async (parts) => {
    const alert = await parts.alerts.byId(alertId);
    if (alert === null) throw new FlatlineError("not_found", "no live alert has this id");
    if (alert.state !== "firing")
      throw new FlatlineError("conflict", "the alert is pending: it has told nobody anything yet");
    const { check, slug, kind, severity } = alert;
    const acknowledged: AlertState = {
      ...alert,
      acknowledgement: { atMs: nowMs, by: author.name, note: author.note, comment, severity },
    };
    await parts.alerts.save(acknowledged);
    await parts.alerts.appendHistory({
      alertId,
      check,
      slug,
      kind,
      atMs: nowMs,
      event: "acknowledged",
      severity,
      reason: "acknowledged",
    });
    const detail = { check, kind, severity, ...(comment === null ? {} : { comment }) };
    await parts.audit.append({ atMs: nowMs, actor: author, action: "acknowledge", slug, subject: alertId, detail });
    return acknowledged;
  });
}
