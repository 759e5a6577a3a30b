import { pageUrl } from "../../base/uri-text.ts";
import { fleetEvidence, fleetMember } from "../../contract/fleet/evidence.ts";
import type { ActEntry } from "../acts/act-notice.ts";
import { worstSeverity, type Severity } from "../../contract/severity.ts";
import type { CheckReport } from "../../contract/report.ts";
import type { FleetState } from "../view.ts";
import type {
  SampledAsset,
  AlertNotice,
  FleetNotice,
  IncidentNotice,
  Notification,
  NotificationFacts,
} from "./notification.ts";
import type { AlertState } from "../../store/alerts/alerts.ts";
import type { DueNotice } from "../decide/difference.ts";
import type { AlertFacts } from "./alert-facts.ts";
import { summarize } from "../../words/alert.ts";
import type { AlertingSettings } from "../settings.ts";

// A platform has some ninety; a user's own table may have any name for one.
const mostAssetTypes = 100;

/** Everything of a notification that is not derived from its alerts. */
export interface ComposeInput {
  /** Stable over retries. */
  readonly id: string;
  readonly receiver: string;
  readonly nowMs: number;
  readonly externalUrl: string | null;
  readonly fleet: FleetNotice | null;
  readonly incident: Omit<IncidentNotice, "opened"> | null;
  /** The receiver's part of the incident as it stands [as its alerts are]. */
  readonly part?: PartState | undefined;
  /** How many assets a fleet verdict names in all [none]. */
  readonly sample?: number;
  readonly alerts: readonly AlertNotice[];
}

/** How a receiver's part of an incident stands. */
export interface PartState {
  readonly status: "firing" | "resolved";
  readonly severity: Severity;
}

/** Returns a notification over its alerts: firing while the part is, or any alert in it, as severe as the worst of these (CONTRACT 7, 15). */
export function composeNotification(input: ComposeInput): Notification {
  const { id, receiver, nowMs, externalUrl, fleet, alerts } = input;
  const incident = input.incident === null ? null : { ...input.incident, opened: openedGates(alerts) };
  const last = new Map(alerts.map((alert) => [alert.id, alert.status]));
  const status = input.part?.status ?? ([...last.values()].includes("firing") ? "firing" : "resolved");
  return worded({
    id,
    receiver,
    status,
    severity: input.part?.severity ?? worstSeverity(alerts.map(({ severity }) => severity)),
    generatedAtMs: nowMs,
    externalUrl,
    fleet: fleet === null ? null : { ...fleet, sample: fleetSample(alerts, input.sample ?? 0) },
    incident,
    // A fleet verdict names them once, for all.
    alerts: fleet === null ? alerts : alerts.map(({ sample: _sample, ...alert }) => alert),
  });
}

/** Returns the notification of these facts. */
export function worded(facts: NotificationFacts): Notification {
  return { ...facts, summary: summarize(facts.alerts, { ...facts, nowMs: facts.generatedAtMs }) };
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

/** What a notice shows beside what is due and the alert. */
export interface NoticeFacts {
  /** Absent until a receiver accepted a message about it. */
  readonly notifiedAtMs?: number;
  /** null: its dead assets cannot be asked for. */
  readonly assetsUrl?: string | null;
  /** null: it is not judged `checker`, or as above. */
  readonly restoreUrl?: string | null;
}

interface EndFacts {
  /** Dead assets of what is told [none]. */
  readonly sample?: readonly SampledAsset[];
  /** Whether the gate opened with its end [it did not]. */
  readonly opensGate?: boolean;
}

/** Returns where the dead assets of an alert can be asked for (CONTRACT 12); null where they cannot. */
export function assetsUrlOf(
  { externalUrl, hasAssets }: Pick<AlertingSettings, "externalUrl" | "hasAssets">,
  { id, check, kind }: Pick<AlertFacts, "id" | "check" | "kind">,
): string | null {
  if (externalUrl === null || hasAssets !== true) return null;
  if (check !== "dead-asset-spike" || kind !== "verdict") return null;
  return pageUrl(externalUrl, `api/v1/alerts/${encodeURIComponent(id)}/assets`);
}

/** Returns where what its incident has to bring back can be asked for (CONTRACT 18); null: it is not judged `checker`, or as above. */
export function restoreUrlOf(
  settings: Pick<AlertingSettings, "externalUrl" | "hasAssets">,
  snapshot: Pick<AlertFacts, "id" | "check" | "kind" | "judgement" | "incident">,
): string | null {
  const { judgement, incident } = snapshot;
  const assetsUrl = judgement?.verdict === "checker" && incident !== undefined ? assetsUrlOf(settings, snapshot) : null;
  return assetsUrl && new URL(`../../incidents/${incident?.number}/assets?toRestore=true`, assetsUrl).href;
}

/** One act with what it shows of its alert (CONTRACT 12). */
export function composeActNotice(
  { event, reason, by, comment }: ActEntry,
  alert: AlertFacts,
  { notifiedAtMs, assetsUrl, restoreUrl, atMs }: NoticeFacts & { readonly atMs: number },
): AlertNotice {
  return {
    ...alert,
    event,
    status: alert.endsAtMs === null ? "firing" : "resolved",
    previousSeverity: alert.severity,
    reason,
    ...(notifiedAtMs === undefined ? {} : { notifiedAtMs }),
    ...(assetsUrl === null || assetsUrl === undefined ? {} : { assetsUrl }),
    ...(restoreUrl === null || restoreUrl === undefined ? {} : { restoreUrl }),
    act: { by, comment, atMs },
  };
}

/** One entry that is due, with what it shows of the alert. */
export function composeNotice(
  { event, severity, previousSeverity, reason }: DueNotice,
  alert: AlertFacts,
  { notifiedAtMs, assetsUrl, sample = [], opensGate }: NoticeFacts & EndFacts = {},
): AlertNotice {
  const status = event === "resolved" || event === "recovered" ? "resolved" : "firing";
  return {
    ...alert,
    event,
    status,
    severity,
    previousSeverity,
    reason,
    endsAtMs: status === "firing" ? null : alert.endsAtMs,
    ...(status === "resolved" && opensGate === true ? { gateOpened: true } : {}),
    ...(notifiedAtMs === undefined ? {} : { notifiedAtMs }),
    ...(assetsUrl === null || assetsUrl === undefined ? {} : { assetsUrl }),
    ...(sample.length > 0 ? { sample } : {}),
  };
}

/** Totals over the organizations that spike now, and no names. */
export function composeFleet(
  fleet: FleetState,
  totals: {
    readonly organizations: number;
    readonly spiking: readonly { readonly alert: AlertState; readonly report: CheckReport | null }[];
  },
): FleetNotice {
  const { organizations } = totals;
  const spiking = totals.spiking.length;
  const excess = new Map<string, number>();
  for (const { report } of totals.spiking) {
    for (const one of report?.kind === "result" ? (report.evidence?.assetTypes ?? []) : []) {
      excess.set(one.assetType, (excess.get(one.assetType) ?? 0) + one.excess);
    }
  }
  const all = [...excess.values()].reduce((sum, count) => sum + count, 0);
  const assetTypes = [...excess]
    .map(([assetType, count]) => ({ assetType, count, share: count / all }))
    .toSorted((left, right) => right.count - left.count || (left.assetType < right.assetType ? -1 : 1))
    .slice(0, mostAssetTypes);
  const peakSpiking = Math.max(fleet.peakSpiking, spiking);
  const { id, together, usual, probability } = fleet;
  const began = totals.spiking.map(({ alert }) => alert.onset?.atMs ?? alert.startsAtMs);
  const withinMs = spiking === 0 ? 0 : Math.max(...began) - Math.min(...began);
  const verdict = { id, together, usual, probability, organizations, spiking, withinMs, peakSpiking, assetTypes };
  if (spiking === 0) return verdict;
  const { first: _first, ...evidence } = fleetEvidence(
    totals.spiking.map(({ alert, report }) => fleetMember(alert, report)),
  );
  return { ...verdict, evidence };
}
