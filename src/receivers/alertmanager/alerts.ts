import type { AlertNotice, FleetNotice, Notification } from "../../alerting/notify/notification.ts";
import { checkKind } from "../../checks/checks.ts";
import type { Severity } from "../../contract/severity.ts";
import { iso } from "../../contract/v1/instant.ts";
import { cutList, plainText } from "../wording/text.ts";
import { httpLinks, isTest, latestNotices, messageOf, noticeSection } from "../wording/wording.ts";

/** One label set, which is an alert to Alertmanager: each severity of an alert of ours is another one there. */
export interface LabelledAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAtMs: number;
  /** null: it fires. */
  readonly endsAtMs: number | null;
  readonly generatorUrl: string | null;
}

const fleetSeverities = ["fail", "warn"] as const;
const carrierBudget = { maxItems: 20, maxItemLength: 300, maxLength: 4_000 };
const memberBudget = { maxItems: 100, maxItemLength: 300, maxLength: 10_000 };

/**
 * Returns the alerts of a notification with the labels of CONTRACT 7. Whatever severity a receiver may hold of an alert is ended
 * when another one holds, or none. A fleet verdict is one alert in place of its members'; its end ends those, too.
 */
export function labelledAlerts(notification: Notification, nowMs: number): LabelledAlert[] {
  const { fleet, alerts } = notification;
  const byLabels = new Map<string, LabelledAlert>();
  const isFolded = (notice: AlertNotice): boolean =>
    fleet !== null && notification.status === "firing" && notice.kind === "verdict" && notice.status === "firing";
  const labelled = [
    ...(fleet === null ? [] : fleetAlerts(notification, fleet, nowMs)),
    ...latestNotices(alerts)
      .filter((notice) => !isFolded(notice))
      .flatMap((notice) => noticeAlerts(notice, alerts, notification, nowMs)),
  ];
  // An alert that ended and began again within a group has one label set twice: the firing one is sent.
  for (const alert of labelled) {
    const key = JSON.stringify(Object.entries(alert.labels).toSorted(([left], [right]) => (left < right ? -1 : 1)));
    if (byLabels.get(key)?.endsAtMs !== null) byLabels.set(key, alert);
  }
  return [...byLabels.values()];
}

/** Returns the body of POST /api/v2/alerts; `activeUntilMs` is when what fires is forgotten unless it is sent again. */
export function alertmanagerAlertsBody(alerts: readonly LabelledAlert[], activeUntilMs: number) {
  return alerts.map(({ labels, annotations, startsAtMs, endsAtMs, generatorUrl }) => ({
    labels,
    annotations,
    startsAt: iso(startsAtMs),
    endsAt: iso(endsAtMs ?? activeUntilMs),
    ...(generatorUrl === null ? {} : { generatorURL: generatorUrl }),
  }));
}

function noticeAlerts(
  notice: AlertNotice,
  all: readonly AlertNotice[],
  notification: Notification,
  nowMs: number,
): LabelledAlert[] {
  const annotations = noticeAnnotations(notice, notification);
  const generatorUrl = linkOf(notice.url, notification.externalUrl);
  const { startsAtMs } = notice;
  const held = new Set<Severity>();
  for (const { id, severity, previousSeverity } of all) {
    if (id !== notice.id) continue;
    held.add(severity);
    if (previousSeverity !== "ok") held.add(previousSeverity);
  }
  const ended = (severity: Severity, endsAtMs: number): LabelledAlert => {
    const times = { startsAtMs: Math.min(startsAtMs, endsAtMs), endsAtMs };
    return { labels: noticeLabels(notice, severity), annotations, ...times, generatorUrl };
  };
  if (notice.status === "resolved") {
    return [...held].map((severity) => ended(severity, Math.min(notice.endsAtMs ?? nowMs, nowMs)));
  }
  held.delete(notice.severity);
  return [
    { labels: noticeLabels(notice, notice.severity), annotations, startsAtMs, endsAtMs: null, generatorUrl },
    ...[...held].map((severity) => ended(severity, nowMs)),
  ];
}

function noticeLabels(notice: AlertNotice, severity: Severity): Record<string, string> {
  // A label for which Alertmanager would refuse the whole request is left out; the configuration has rejected it already.
  const own = Object.entries(notice.labels).filter(([name, value]) => /^[a-zA-Z_]\w*$/.test(name) && value !== "");
  return {
    ...Object.fromEntries(own.map(([name, value]) => [name, value.toWellFormed()])),
    alertname: alertName(notice),
    check: notice.check,
    slug: notice.slug.toWellFormed(),
    severity,
    ...incidentLabel(notice),
  };
}

/** The number of the incident: people say "incident 41". */
function incidentLabel(notice: Pick<AlertNotice, "incident"> | undefined): { readonly incident?: string } {
  return notice?.incident === undefined ? {} : { incident: String(notice.incident.number) };
}

const fleetAlertName = "FlatlineFleetSpike";

function alertName({ kind, check }: AlertNotice): string {
  return kind === "unknown" ? "FlatlineUnknown" : checkKind(check).alertName;
}

function noticeAnnotations(notice: AlertNotice, notification: Notification): Record<string, string> {
  const section = noticeSection(notice, notification.generatedAtMs, notification.externalUrl);
  const budget = { ...carrierBudget, omitted: section.carriersOmitted };
  const carriers = cutList(section.carriers, budget).map((carrier) => `- ${carrier}`);
  return {
    summary: section.title,
    description: [section.sentence, ...carriers].join("\n"),
    reason: notice.reason,
    ...sampleAnnotation(section.sample),
    ...(section.action === null ? {} : { suggested_action: section.action }),
    ...(notice.acknowledgedBy === undefined ? {} : { acknowledgedBy: plainText(notice.acknowledgedBy) }),
    ...(isTest(notice) ? { test: "true" } : {}),
  };
}

function sampleAnnotation(sample: readonly string[]): Record<string, string> {
  return sample.length === 0 ? {} : { sample: cutList(sample, carrierBudget).join("\n") };
}

function fleetAlerts(notification: Notification, fleet: FleetNotice, nowMs: number): LabelledAlert[] {
  const { alerts, severity: current, generatedAtMs } = notification;
  const message = messageOf(notification);
  const facts = message.facts.map(({ name, value }) => `${name}: ${value}`);
  const members = cutList(message.lines, memberBudget).map((line) => `- ${line}`);
  const annotations = {
    summary: message.title,
    description: [message.intro ?? "", ...facts, ...members].join("\n"),
    fleet_id: plainText(fleet.id),
    ...sampleAnnotation(message.sample),
  };
  const startsAtMs = Math.min(generatedAtMs, ...alerts.map((notice) => notice.startsAtMs));
  const generatorUrl = linkOf(notification.externalUrl);
  const isFiring = notification.status === "firing";
  const endedAtMs = Math.min(nowMs, Math.max(...alerts.map((notice) => notice.endsAtMs ?? nowMs), startsAtMs));
  const check = alerts[0]?.check ?? "dead-asset-spike";
  // The severity of a fleet is that of its notification, whatever the last one was: all other severities are ended.
  const severities = new Set<Severity>([current, ...fleetSeverities]);
  return [...severities].map((severity) => ({
    labels: { alertname: fleetAlertName, check, severity, ...incidentLabel(alerts[0]) },
    annotations,
    startsAtMs,
    endsAtMs: isFiring ? (severity === current ? null : nowMs) : endedAtMs,
    generatorUrl,
  }));
}

function linkOf(...urls: readonly (string | null)[]): string | null {
  return httpLinks(urls.map((url) => ({ label: "", url })))[0]?.url ?? null;
}
