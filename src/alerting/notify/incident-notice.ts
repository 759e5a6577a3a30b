import { fleetEvidence } from "../../contract/fleet/evidence.ts";
import { worstSeverity } from "../../contract/severity.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import { failuresIn, type GateFailure } from "../../store/alerts/gate.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import { watchedBy } from "../decide/routing.ts";
import { isGateUsed } from "../gate-use.ts";
import { headlineFacts } from "../headline-facts.ts";
import type { AlertingSettings } from "../settings.ts";
import { alertViewer } from "../view.ts";
import { isSpikeAlert, slugsOf, summarizeIncident, worstMembers, type IncidentMember } from "../incident-summary.ts";
import { reportOf, type NoticeSource } from "./notice.ts";
import type { FleetNotice, IncidentNotice, Notification } from "./notification.ts";

const shownMembers = 5;
// A platform has about 90 asset types; a user's own table may have any number.
const mostAssetTypes = 100;

interface ShowSource extends Pick<NoticeSource, "board" | "nowMs"> {
  readonly settings: Pick<AlertingSettings, "slugs" | "source" | "gateOf" | "externalUrl">;
  readonly isGateUsed: boolean;
  readonly failures?: readonly GateFailure[];
}

/** An incident in a notification, with the state of the receiver's part. */
export interface ShownIncident extends Pick<Notification, "status" | "severity"> {
  readonly incident: Omit<IncidentNotice, "opened">;
  /** null: the incident has no fleet verdict. */
  readonly fleet: FleetNotice | null;
  readonly members: readonly IncidentMember[];
}

/** Reads these incidents. Returns a function that shows one to a receiver; it gives null for a deleted incident. */
export async function readIncidents(
  parts: Pick<StoreParts, "incidents" | "silences" | "gate" | "meta">,
  source: NoticeSource,
  numbers: readonly number[],
): Promise<(number: number, receiver: string, isOfPart: (alert: Alert) => boolean) => ShownIncident | null> {
  if (numbers.length === 0) return () => null;
  const { settings, nowMs } = source;
  const asked = [...new Set(numbers)];
  const incidents = await parts.incidents.byNumbers(asked);
  const kept = await parts.incidents.members(asked);
  const view = await alertViewer(parts, settings, nowMs);
  const isUsed = await isGateUsed(parts, settings, nowMs);
  const showing = new Map<number, ReturnType<typeof showerOf>>();
  for (const incident of incidents) {
    const members = (kept.get(incident.number) ?? []).map(view);
    const failures = isUsed && failuresIn(members).length > 0 ? await parts.gate.besides(incident.number) : [];
    showing.set(incident.number, showerOf(incident, members, { ...source, isGateUsed: isUsed, failures }));
  }
  return (number, receiver, isOfPart) => showing.get(number)?.(isOfPart, () => watchedBy(settings, receiver)) ?? null;
}

/** Returns a function that shows an incident to a receiver, by its part and its number of organizations. */
export function showerOf(
  incident: Incident,
  members: readonly IncidentMember[],
  { settings, board, nowMs, isGateUsed, failures = [] }: ShowSource,
): (isOfPart: (alert: Alert) => boolean, watched: () => number) => ShownIncident {
  const summary = summarizeIncident(incident, members, settings);
  const fleet = fleetNotice(incident, members, board);
  return (isOfPart, watched) => {
    const own = members.filter(isOfPart);
    const shown = own.filter(({ isSilenced }) => !isSilenced);
    const firing = own.filter(({ end }) => end === null);
    const shownFiring = shown.filter(({ end }) => end === null);
    // Members that are not routed to the receiver count in the totals only.
    const part = summarizeIncident(incident, own, settings);
    const headline = headlineFacts(
      { incident, members, summary: { ...summary, carriers: part.carriers } },
      { settings, nowMs, isGateUsed, failures, part: { members: own, watched: watched() } },
    );
    // Silenced members keep the part open, but are not shown.
    const judged = shownFiring.length > 0 ? shownFiring : firing.length > 0 ? firing : own;
    const errors = (incident.family === "unreachable" ? shownFiring : []).flatMap(({ check, slug }) => {
      const report = board.state(check, slug)?.lastReport;
      return report?.kind === "error" ? [report.error.message] : [];
    });
    return {
      incident: {
        ...summary,
        carriers: part.carriers,
        worst: worstMembers(shown, shownMembers),
        outlived: incident.outlived,
        headline,
        own: {
          organizations: part.organizations,
          firing: part.firing,
          toAcknowledge: slugsOf(shownFiring.filter((alert) => alert.acknowledgement === null)).size,
          lastError: errors.at(-1) ?? null,
        },
      },
      fleet,
      status: firing.length === 0 ? "resolved" : "firing",
      severity: worstSeverity(judged.map((alert) => alert.severity)),
      members: own,
    };
  };
}

/** Returns totals of the organizations that spike now, without names; null: no fleet verdict. */
function fleetNotice(
  { id, verdict }: Incident,
  members: readonly IncidentMember[],
  board: NoticeSource["board"],
): FleetNotice | null {
  if (verdict === null) return null;
  const spiking = members
    .filter((alert) => alert.end === null && !alert.isSilenced && isSpikeAlert(alert))
    .map((member) => ({ alert: member, report: reportOf(board, member) }));
  const excess = new Map<string, number>();
  for (const { report } of spiking)
    for (const one of report?.kind === "result" ? (report.evidence?.assetTypes ?? []) : [])
      excess.set(one.assetType, (excess.get(one.assetType) ?? 0) + one.excess);
  const all = [...excess.values()].reduce((sum, count) => sum + count, 0);
  const began = spiking.map(({ alert }) => alert.onset?.atMs ?? alert.startsAtMs);
  const { together, usual, probability, organizations } = verdict;
  return {
    id,
    together,
    usual,
    probability,
    organizations,
    spiking: spiking.length,
    withinMs: spiking.length === 0 ? 0 : Math.max(...began) - Math.min(...began),
    assetTypes: [...excess]
      .map(([assetType, count]) => ({ assetType, count, share: count / all }))
      .toSorted((left, right) => right.count - left.count || (left.assetType < right.assetType ? -1 : 1))
      .slice(0, mostAssetTypes),
    ...(spiking.length === 0 ? {} : { evidence: fleetEvidence(spiking) }),
  };
}
