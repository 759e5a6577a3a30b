import type { Notification } from "../../alerting/notify/notification.ts";
import { fleetAlertName, labelledAlerts, type LabelledAlert } from "./alerts.ts";
import { iso } from "../../contract/v1/instant.ts";

type Labels = Readonly<Record<string, string>>;

// Go's zero time: how Alertmanager writes that an alert has no end.
const noEnd = "0001-01-01T00:00:00Z";

/**
 * Returns the body of Alertmanager's own webhook receiver, version 4 (alertmanager notify/webhook, template.Data), so that every
 * bridge that was written for it works.
 */
export function alertmanagerWebhookBody(notification: Notification) {
  const alerts = labelledAlerts(notification, notification.generatedAtMs);
  const names = alerts.map(({ labels }) => ({ alertname: labels["alertname"] ?? "" }));
  // The end of a fleet names members too, so that its group is the same one from begin to end.
  const groupLabels = notification.fleet === null ? common(names) : { alertname: fleetAlertName };
  const groupText = Object.entries(groupLabels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return {
    version: "4" as const,
    groupKey: `{}/{receiver=${JSON.stringify(notification.receiver)}}:{${groupText.join(", ")}}`,
    truncatedAlerts: 0,
    status: alerts.some(({ endsAtMs }) => endsAtMs === null) ? ("firing" as const) : ("resolved" as const),
    receiver: notification.receiver,
    groupLabels,
    commonLabels: common(alerts.map(({ labels }) => labels)),
    commonAnnotations: common(alerts.map(({ annotations }) => annotations)),
    externalURL: notification.externalUrl ?? "",
    alerts: alerts.map(({ labels, annotations, startsAtMs, endsAtMs, generatorUrl }) => ({
      status: endsAtMs === null ? ("firing" as const) : ("resolved" as const),
      labels,
      annotations,
      startsAt: iso(startsAtMs),
      endsAt: endsAtMs === null ? noEnd : iso(endsAtMs),
      generatorURL: generatorUrl ?? "",
      fingerprint: fingerprint(labels),
    })),
  };
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

/** What all have in common. */
function common(maps: readonly Labels[]): Labels {
  const [first = {}, ...rest] = maps;
  return Object.fromEntries(Object.entries(first).filter(([name, value]) => rest.every((map) => map[name] === value)));
}

/** Prometheus' LabelSet.Fingerprint (common/model/labelset.go): FNV-1a, 64 bits, over the labels by name. */
export function fingerprint(labels: Labels): string {
  let hash = 0xcb_f2_9c_e4_84_22_23_25n;
  const add = (bytes: Uint8Array): void => {
    for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x1_00_00_00_01_b3n);
  };
  const separator = new Uint8Array([255]);
  for (const name of Object.keys(labels).toSorted()) {
    add(Buffer.from(name));
    add(separator);
    add(Buffer.from(labels[name] ?? ""));
    add(separator);
  }
  return hash.toString(16).padStart(16, "0");
}
