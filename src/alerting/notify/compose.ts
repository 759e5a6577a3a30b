import { worstSeverity } from "../../contract/severity.ts";
import type { ShownIncident } from "./incident-notice.ts";
import type { AlertNotice, Notification, SampledAsset } from "./notification.ts";

/** The parts of a notification that do not come from its alerts. */
export type ComposeInput = Pick<
  Notification,
  "id" | "receiver" | "recipient" | "generatedAtMs" | "externalUrl" | "alerts" | "fleet"
> & {
  /** The incident, with the state of the receiver's part; null: no incident, the state comes from the alerts. */
  readonly shown: Pick<ShownIncident, "incident" | "status" | "severity"> | null;
  /** The largest number of assets that a fleet verdict names [0]. */
  readonly sample?: number | undefined;
};

/** Returns a notification of these alerts (CONTRACT 7, 15). Status and severity are `shown`'s, else the alerts'. */
export function composeNotification({ shown, sample = 0, fleet, alerts, ...rest }: ComposeInput): Notification {
  const last = new Map(alerts.map((alert) => [alert.id, alert.status]));
  return {
    ...rest,
    status: shown?.status ?? ([...last.values()].includes("firing") ? "firing" : "resolved"),
    severity: shown?.severity ?? worstSeverity(alerts.map(({ severity }) => severity)),
    fleet: fleet === null ? null : { ...fleet, sample: fleetSample(alerts, sample) },
    incident: shown === null ? null : { ...shown.incident, opened: openedGates(alerts) },
    // A fleet verdict lists the assets once for all alerts.
    alerts: fleet === null ? alerts : alerts.map(({ sample: _sample, ...alert }) => alert),
  };
}

function openedGates(alerts: readonly AlertNotice[]): number {
  const opened = alerts.filter(({ event, gateOpened }) => event === "released" || gateOpened === true);
  return new Set(opened.map(({ slug }) => slug)).size;
}

/** Returns the newest assets of these alerts, each once. */
function fleetSample(alerts: readonly AlertNotice[], limit: number): SampledAsset[] {
  const assets = new Map<string, SampledAsset>();
  for (const { slug, sample = [] } of alerts)
    for (const one of sample) assets.set(JSON.stringify([slug, one.assetType, one.asset]), one);
  return [...assets.values()].toSorted((left, right) => right.deadAtMs - left.deadAtMs).slice(0, limit);
}
