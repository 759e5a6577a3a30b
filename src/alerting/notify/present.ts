import type { KeptAlert } from "../../store/alerts/alerts.ts";
import type { Board } from "../../store/runs/board.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import { isRouted } from "../decide/routing.ts";
import type { AlertingSettings } from "../settings.ts";
import { fleetOf } from "../view.ts";
import { fleetNotice, incidentNotices } from "./incident-notice.ts";
import type { AlertNotice, Notification } from "./notification.ts";
import { factsOf, reportFor, type AlertContext } from "./alert-facts.ts";

/** What the present is read from. */
export interface PresentSource {
  readonly parts: Pick<StoreParts, "alerts" | "incidents" | "queued" | "deliveries" | "silences" | "gate" | "meta">;
  readonly board: Pick<Board, "state">;
  readonly settings: AlertingSettings;
  readonly nowMs: number;
}

/**
 * Returns how the incident of a notification stands now for its receiver (CONTRACT 15): its part and its alerts as they are, what
 * people did left out. It may have waited since it was formed. An incident that is not kept any more stays as it was then.
 */
export async function presentOf(source: PresentSource, notification: Notification): Promise<Notification> {
  const { parts, settings, nowMs } = source;
  const { incident, receiver, alerts } = notification;
  const route = settings.receivers.find(({ name }) => name === receiver);
  if (incident === null || route === undefined) return notification;
  const { number } = incident;
  const members = new Map(
    ((await parts.incidents.members([number])).get(number) ?? []).map((kept) => [kept.alert.id, kept]),
  );
  const notified = await parts.deliveries.notifiedOf([...members.keys()]);
  const own = new Set(alerts.map(({ id }) => id));
  const part = [...members.values()].filter(({ alert }) => {
    const isNotified = (): boolean => own.has(alert.id) || notified.get(alert.id)?.has(receiver) === true;
    return isNotified() || isRouted(settings, route, alert, isNotified);
  });
  const ids = part.map(({ alert }) => alert.id);
  const shown = (await incidentNotices(parts, source, [number]))(number, ids, receiver);
  if (shown.incident === null || shown.part === undefined) return notification;
  return {
    ...notification,
    ...shown.part,
    generatedAtMs: nowMs,
    fleet: await fleetNow(source, notification, number),
    incident: { ...shown.incident, opened: incident.opened },
    alerts: presentNotices(source, alerts, part),
  };
}

/** Returns the alerts of a notification's incident that fire now and of which its receiver has been notified, or is now. */
export async function firingOf(source: PresentSource, notification: Notification): Promise<readonly AlertNotice[]> {
  const { parts } = source;
  const { incident, receiver, alerts } = notification;
  const members =
    incident === null ? [] : ((await parts.incidents.members([incident.number])).get(incident.number) ?? []);
  // A test is in no store.
  if (members.length === 0) return alerts.filter(({ status }) => status === "firing");
  const queued = (await parts.queued.all()).alerts.filter((one) => one.receiver === receiver && one.severity !== null);
  const known = new Set([...queued.map(({ alertId }) => alertId), ...alerts.map(({ id }) => id)]);
  return members.filter(({ alert, end }) => end === null && known.has(alert.id)).map((one) => noticeOf(source, one));
}

async function fleetNow(
  source: PresentSource,
  { fleet }: Notification,
  number: number,
): Promise<Notification["fleet"]> {
  const { parts } = source;
  const incident = await parts.incidents.find(number);
  const verdict = incident === null ? null : fleetOf(incident);
  if (verdict === null) return null;
  const firing = (await parts.alerts.allLive()).filter(({ state }) => state === "firing");
  return {
    ...fleetNotice(verdict, firing, source.board),
    ...(fleet?.sample === undefined ? {} : { sample: fleet.sample }),
  };
}

/** All of the part, those of the notification first. */
function presentNotices(
  source: PresentSource,
  alerts: readonly AlertNotice[],
  part: readonly KeptAlert[],
): readonly AlertNotice[] {
  const kept = new Map(part.map((one) => [one.alert.id, one]));
  const own = new Set(alerts.map(({ id }) => id));
  const others = part.filter(({ alert }) => !own.has(alert.id));
  return [
    ...alerts.map((notice) => presentNotice(source, notice, kept.get(notice.id))),
    ...others.map((one) => noticeOf(source, one)),
  ];
}

/** An alert that the notification is not about. */
function noticeOf(source: PresentSource, kept: KeptAlert): AlertNotice {
  const { check, slug, severity } = kept.alert;
  const { labels = {}, url = null } = source.settings.targetOf(check, slug) ?? {};
  return { ...standingOf(source, kept, { labels, url }), previousSeverity: severity };
}

/** The alert as it is; of one that is over the last result speaks no longer, unless it is the one that ended it. */
function presentNotice(
  source: PresentSource,
  { act: _act, ...notice }: AlertNotice,
  kept: KeptAlert | undefined,
): AlertNotice {
  if (kept === undefined) return notice;
  const { alert, end } = kept;
  if (end !== null && (notice.event === "resolved" || notice.event === "recovered")) return notice;
  const { labels, url } = notice;
  const standing = standingOf(source, kept, { labels, url });
  const isTaken = alert.acknowledgement !== null || alert.judgement !== undefined;
  const isStillEscalated = notice.reason === "escalation" && end === null && !isTaken;
  return { ...notice, ...standing, reason: isStillEscalated ? notice.reason : standing.reason };
}

function standingOf(
  { board }: PresentSource,
  { alert, end }: KeptAlert,
  context: AlertContext,
): Omit<AlertNotice, "previousSeverity"> {
  const { kind, check, slug, reason } = alert;
  const isOver = end !== null;
  const report = isOver ? null : reportFor(kind, board.state(check, slug));
  const begun = kind === "unknown" ? "unknown" : "firing";
  const ended = kind === "unknown" ? "recovered" : "resolved";
  return {
    ...factsOf(alert, report, context, end),
    event: isOver ? ended : begun,
    status: isOver ? "resolved" : "firing",
    reason,
  };
}
