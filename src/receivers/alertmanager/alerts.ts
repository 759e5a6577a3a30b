import type { AlertNotice, FleetNotice, Notification } from "../../alerting/notify/notification.ts";
import { checkKind } from "../../checks/checks.ts";
import type { Severity } from "../../contract/severity.ts";
import { iso } from "../../contract/v1/instant.ts";
import { isTest } from "../../words/alert.ts";
import { alertMessage, httpLinks, latestNotices, messageOf, type Message } from "../../words/message.ts";
import { plainText } from "../../base/outside-text.ts";
import { fitMessage, listLines } from "../fit.ts";

/**
 * Returns the body of POST /api/v2/alerts; Alertmanager forgets firing alerts at `activeUntilMs`. Each severity of an
 * alert is an alert of its own there: all but the current one are ended. A fleet verdict replaces the alerts of its
 * members; its end ends those, too.
 */
export function alertmanagerAlertsBody(notification: Notification, nowMs: number, activeUntilMs: number) {
  const { fleet, alerts } = notification;
  const isFolded = (notice: AlertNotice): boolean =>
    fleet !== null && notification.status === "firing" && notice.kind === "verdict" && notice.status === "firing";
  const labelled = [
    ...(fleet === null ? [] : fleetAlerts(notification, fleet, nowMs)),
    ...latestNotices(alerts)
      .filter((notice) => !isFolded(notice))
      .flatMap((notice) => noticeAlerts(notice, alerts, notification, nowMs)),
  ];
  // An alert that ended and began again within a group has one label set twice: the firing one is sent.
  const byLabels = new Map<string, (typeof labelled)[number]>();
  for (const alert of labelled) {
    const key = JSON.stringify(Object.entries(alert.labels).toSorted(([left], [right]) => (left < right ? -1 : 1)));
    if (byLabels.get(key)?.endsAtMs !== null) byLabels.set(key, alert);
  }
  return [...byLabels.values()].map(({ startsAtMs, endsAtMs, ...alert }) => ({
    ...alert,
    startsAt: iso(Math.min(startsAtMs, endsAtMs ?? startsAtMs)),
    endsAt: iso(endsAtMs ?? activeUntilMs),
  }));
}

/** `endsAtMs` null: it fires. */
function noticeAlerts(notice: AlertNotice, all: readonly AlertNotice[], notification: Notification, nowMs: number) {
  const held = new Set<Severity>([notice.severity]);
  for (const { id, severity, previousSeverity } of all) {
    if (id !== notice.id) continue;
    held.add(severity);
    if (previousSeverity !== "ok") held.add(previousSeverity);
  }
  const annotations = noticeAnnotations(notice, notification);
  const endMs = notice.status === "resolved" ? Math.min(notice.endsAtMs ?? nowMs, nowMs) : nowMs;
  return [...held].map((severity) => ({
    labels: noticeLabels(notice, severity),
    annotations,
    startsAtMs: notice.startsAtMs,
    endsAtMs: notice.status === "firing" && severity === notice.severity ? null : endMs,
    ...generatorOf(notice.url, notification.externalUrl),
  }));
}

function noticeLabels(notice: AlertNotice, severity: Severity): Record<string, string> {
  // Alertmanager refuses the whole request for an invalid label; the configuration has rejected it already.
  const own = Object.entries(notice.labels).filter(([name, value]) => /^[a-zA-Z_]\w*$/.test(name) && value !== "");
  return {
    ...Object.fromEntries(own.map(([name, value]) => [name, value.toWellFormed()])),
    alertname: notice.kind === "unknown" ? "FlatlineUnknown" : checkKind(notice.check).alertName,
    check: notice.check,
    slug: notice.slug.toWellFormed(),
    severity,
    ...incidentLabel(notice),
  };
}

/** The incident's number, as in "incident 41". */
function incidentLabel(notice: Pick<AlertNotice, "incident"> | undefined): { readonly incident?: string } {
  return notice?.incident === undefined ? {} : { incident: String(notice.incident.number) };
}

function noticeAnnotations(notice: AlertNotice, notification: Notification): Record<string, string> {
  return {
    ...annotationsOf(alertMessage(notice, notification)),
    reason: notice.reason,
    ...(notice.acknowledgedBy === undefined ? {} : { acknowledgedBy: plainText(notice.acknowledgedBy) }),
    ...(isTest(notice) ? { test: "true" } : {}),
  };
}

function annotationsOf(message: Message): { readonly summary: string; readonly description: string } {
  return fitMessage(message, ({ title, text, facts, lists }) => ({
    summary: title,
    description: [
      ...(text === "" ? [] : [text]),
      ...facts.map((fact) => `${fact.label}: ${fact.text}`),
      ...lists.map((list) => listLines(list, "-")),
    ].join("\n"),
  }));
}

function fleetAlerts(notification: Notification, fleet: FleetNotice, nowMs: number) {
  const { alerts, severity: current, generatedAtMs } = notification;
  const annotations = { ...annotationsOf(messageOf(notification)), fleet_id: plainText(fleet.id) };
  const startsAtMs = Math.min(generatedAtMs, ...alerts.map((notice) => notice.startsAtMs));
  const generator = generatorOf(notification.externalUrl);
  const isFiring = notification.status === "firing";
  const endedAtMs = Math.min(nowMs, Math.max(...alerts.map((notice) => notice.endsAtMs ?? nowMs), startsAtMs));
  const check = alerts[0]?.check ?? "dead-asset-spike";
  // A fleet's severity is that of its notification; all others are ended.
  const severities = new Set<Severity>([current, "fail", "warn"]);
  return [...severities].map((severity) => ({
    labels: { alertname: "FlatlineFleetSpike", check, severity, ...incidentLabel(alerts[0]) },
    annotations,
    startsAtMs,
    endsAtMs: isFiring ? (severity === current ? null : nowMs) : endedAtMs,
    ...generator,
  }));
}

function generatorOf(...urls: readonly (string | null)[]): { readonly generatorURL?: string } {
  const [link] = httpLinks(urls.map((url) => ({ label: "", url })));
  return link === undefined ? {} : { generatorURL: link.url };
}
