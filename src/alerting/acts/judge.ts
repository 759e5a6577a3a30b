import { FlatlineError } from "../../base/errors.ts";
import type { Actor } from "../../contract/actor.ts";
import type { JudgementVerdict } from "../../contract/judgement.ts";
import type { AlertState, KeptAlert } from "../../store/alerts/alerts.ts";
import type { Store } from "../../store/store.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import { keepComment } from "./comment.ts";
import { isGateAlert } from "../decide/gate.ts";
import type { Reason } from "../decide/reasons.ts";
import type { AlertingSettings } from "../settings.ts";
import { noteActNotice, releasedEntries, type ActEntry, type NoteEntries } from "./act-notice.ts";
import { changeGate } from "./gate-change.ts";

/** A person's judgement of an alert. */
export interface Judgement {
  readonly alertId: string;
  /** null: takes back what was said. */
  readonly verdict: JudgementVerdict | null;
  readonly author: Actor;
  readonly comment: string | null;
  /** The incident on which the act is, which keeps the comment once for all; absent: it is on this alert alone. */
  readonly incidentId?: string;
  /** [noteActNotice] */
  readonly note?: NoteEntries;
}

/** What acts share. */
export interface ActContext {
  readonly store: Store;
  readonly settings: AlertingSettings;
  readonly nowMs: number;
}

/**
 * Stores the judgement of an alert that fires or has ended (CONTRACT 12): the last judgement holds, all are kept. With
 * `judged` in `gate.releaseOn` it may open the gate. Wake the notifier afterwards.
 * @throws FlatlineError not_found without such an alert or, to withdraw, without a judgement; invalid_data for one that is not
 *   the gate's; conflict when it is pending
 */
export async function judgeAlert({ store, ...context }: ActContext, judgement: Judgement): Promise<KeptAlert> {
  return store.transaction(async (parts) => judgeIn(parts, context, judgement));
}

/** The same in a transaction. */
export async function judgeIn(
  parts: StoreParts,
  { settings, nowMs }: Omit<ActContext, "store">,
  { alertId, verdict, author, comment, incidentId, ...act }: Judgement,
): Promise<KeptAlert> {
  const kept = await parts.alerts.find(alertId);
  if (kept === null) throw new FlatlineError("not_found", "no alert has this id");
  const { alert, end } = kept;
  const { judgement: before, ...unjudged } = alert;
  const { check, slug, severity } = alert;
  if (!isGateAlert(alert))
    throw new FlatlineError("invalid_data", `an alert of ${describeKind(alert)} is not judged: it questions no deaths`);
  if (alert.state === "pending")
    throw new FlatlineError("conflict", "the alert is pending: there is nothing to judge before it fires");
  if (verdict === null && before === undefined)
    throw new FlatlineError("not_found", "the alert has no judgement to withdraw");
  const { name: by, note } = author;
  const judged: AlertState =
    verdict === null ? unjudged : { ...unjudged, judgement: { verdict, comment, by, note, atMs: nowMs } };
  const reason: Reason = verdict === null ? "judgement_withdrawn" : `judged_${verdict}`;
  const { opened } = await changeGate(parts, { slug, settings, by, comment, nowMs }, async () => {
    await parts.judgements.append({ alertId, check, slug, atMs: nowMs, verdict, comment, by, note });
    await parts.alerts.judge([alertId], judged.judgement ?? null);
  });
  if (comment !== null && incidentId === undefined)
    await keepComment(parts, { alertId, slug, author, text: comment, nowMs, act: "judgement" });
  const entry: ActEntry = { event: "judged", reason, alert: judged, endsAtMs: end?.atMs ?? null, by, comment };
  const noteEntries = act.note ?? ((entries) => noteActNotice(parts, { settings, slug, nowMs }, entries));
  await noteEntries([entry, ...releasedEntries(opened, { by, comment })]);
  const action = verdict === null ? "judgement.withdraw" : "judgement";
  const said = {
    ...(verdict === null ? {} : { verdict }),
    ...(comment === null ? {} : { comment }),
    ...(incidentId === undefined ? {} : { incidentId }),
  };
  await parts.audit.append({
    atMs: nowMs,
    actor: author,
    action,
    slug,
    subject: alertId,
    detail: { check, severity, ...said },
  });
  return { alert: judged, end };
}

function describeKind({ check, kind }: AlertState): string {
  return kind === "unknown" ? `kind unknown (${check})` : check;
}
