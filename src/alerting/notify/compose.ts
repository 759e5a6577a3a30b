import { worstSeverity } from "../../contract/severity.ts";
import type { ShownIncident } from "./incident-notice.ts";
import type { AlertNotice, Notification, SampledAsset } from "./notification.ts";

/** Everything of a notification that is not derived from its alerts. */
export type ComposeInput = Pick<
  Notification,
  "id" | "receiver" | "recipient" | "generatedAtMs" | "externalUrl" | "alerts" | "fleet"
> & {
  /** The incident, and how the receiver's part of it stands; null: it is about none [as its alerts are]. */
  readonly shown: Pick<ShownIncident, "incident" | "status" | "severity"> | null;
  /** How many assets a fleet verdict names in all [none]. */
  readonly sample?: number | undefined;
};

/** Returns a notification over its alerts: firing while the part is, or any alert in it, as severe as the worst of these (CONTRACT 7, 15). */
export function composeNotification({ shown, sample = 0, fleet, alerts, ...rest }: ComposeInput): Notification {
  const last = new Map(alerts.map((alert) => [alert.id, alert.status]));
  return {
    ...rest,
    status: shown?.status ?? ([...last.values()].includes("firing") ? "firing" : "resolved"),
    severity: shown?.severity ?? worstSeverity(alerts.map(({ severity }) => severity)),
    fleet: fleet === null ? null : { ...fleet, sample: fleetSample(alerts, sample) },
    incident: shown === null ? null : { ...shown.incident, opened: openedGates(alerts) },
    // A fleet verdict names them once, for all.
    alerts: fleet === null ? alerts : alerts.map(({ sample: _sample, ...alert }) => alert),
  };
}

/** How many gates opened with these entries. */
function openedGates(alerts: readonly AlertNotice[]): number {
  const opened = alerts.filter(({ event, gateOpened }) => event === "released" || gateOpened === true);
  return new Set(opened.map(({ slug }) => slug)).size;
}

/** The newest of the assets of these alerts, each once. */
function fleetSample(alerts: readonly AlertNotice[], limit: number): SampledAsset[] {
  const assets = new Map<string, SampledAsset>();
  for (const { slug, sample = [] } of alerts)
    for (const one of sample) assets.set(JSON.stringify([slug, one.assetType, one.asset]), one);
  return [...assets.values()].toSorted((left, right) => right.deadAtMs - left.deadAtMs).slice(0, limit);
}
