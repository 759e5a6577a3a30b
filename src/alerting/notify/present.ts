import type { Alert } from "../../store/alerts/alerts.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import { isEndEvent } from "../decide/due.ts";
import { isRouted } from "../decide/routing.ts";
import { eventsOf } from "../decide/transition.ts";
import { readIncidents } from "./incident-notice.ts";
import { noResult, noticeOf, type NoticeSource } from "./notice.ts";
import type { AlertNotice, Notification } from "./notification.ts";

export interface PresentSource extends NoticeSource {
  readonly parts: Pick<StoreParts, "incidents" | "queued" | "deliveries" | "silences" | "gate" | "meta">;
}

/**
 * Returns the incident and the alerts of a notification as they are now for its receiver (CONTRACT 15), without acts.
 * The notification may have waited. An incident that is deleted stays as it was.
 */
export async function presentOf(source: PresentSource, notification: Notification): Promise<Notification> {
  const { parts, settings, nowMs } = source;
  const { incident, receiver, alerts, fleet } = notification;
  const route = settings.receivers.find(({ name }) => name === receiver);
  if (incident === null || route === undefined) return notification;
  const own = new Set(alerts.map(({ id }) => id));
  const told = await parts.deliveries.toldOf(receiver, incident.number);
  const shown = (await readIncidents(parts, source, [incident.number]))(incident.number, receiver, (alert) => {
    return own.has(alert.id) || told.has(alert.id) || isRouted(settings, route, alert, () => false);
  });
  if (shown === null) return notification;
  const kept = new Map(shown.members.map((one) => [one.id, one]));
  const others = shown.members.filter((alert) => !own.has(alert.id));
  return {
    ...notification,
    status: shown.status,
    severity: shown.severity,
    generatedAtMs: nowMs,
    fleet: shown.fleet && { ...shown.fleet, ...(fleet?.sample === undefined ? {} : { sample: fleet.sample }) },
    incident: { ...shown.incident, opened: incident.opened },
    // The alerts of the notification come first.
    alerts: [
      ...alerts.map((notice) => presentNotice(source, notice, kept.get(notice.id))),
      ...others.map((one) => standing(source, one)),
    ],
  };
}

/** Returns the firing alerts of the incident that the receiver was notified of, or is by this notification. */
export async function firingOf(source: PresentSource, notification: Notification): Promise<readonly AlertNotice[]> {
  const { parts } = source;
  const { incident, receiver, alerts } = notification;
  const number = incident?.number ?? 0;
  const members = (await parts.incidents.members([number])).get(number) ?? [];
  // No store has a test.
  if (members.length === 0) return alerts.filter(({ status }) => status === "firing");
  const queued = (await parts.queued.all()).alerts.filter((one) => one.receiver === receiver && one.severity !== null);
  const known = new Set([...queued.map(({ alertId }) => alertId), ...alerts.map(({ id }) => id)]);
  return members.filter((alert) => alert.end === null && known.has(alert.id)).map((one) => standing(source, one));
}

function presentNotice(
  source: PresentSource,
  { act: _act, ...notice }: AlertNotice,
  kept: Alert | undefined,
): AlertNotice {
  if (kept === undefined) return notice;
  if (kept.end !== null && isEndEvent(notice.event)) return notice;
  const isTaken = kept.acknowledgement !== null || kept.judgement !== undefined;
  const isStillEscalated = notice.reason === "escalation" && kept.end === null && !isTaken;
  return { ...notice, ...standing(source, kept), ...(isStillEscalated ? { reason: notice.reason } : {}) };
}

function standing(source: PresentSource, kept: Alert): AlertNotice {
  const { kind, reason, severity: previousSeverity } = kept;
  const { begun, over } = eventsOf[kind];
  const said = kept.end === null ? { event: begun } : { event: over, ...noResult };
  return noticeOf(source, kept, { ...said, reason, previousSeverity });
}
