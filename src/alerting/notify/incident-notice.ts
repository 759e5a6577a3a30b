import { fleetEvidence, fleetMember } from "../../contract/fleet/evidence.ts";
import { worstSeverity } from "../../contract/severity.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import { watchedBy } from "../decide/routing.ts";
import { isGateUsed } from "../gate-use.ts";
import { headlineFacts } from "../headline-facts.ts";
import { alertViewer } from "../view.ts";
import { slugsOf, summarizeIncident, worstMembers, type IncidentMember } from "../incident-summary.ts";
import { reportOf, type NoticeSource } from "./notice.ts";
import type { FleetNotice, IncidentNotice, Notification } from "./notification.ts";

// What a message of several organizations names.
const shownMembers = 5;
// A platform has some ninety; a user's own table may have any name for one.
const mostAssetTypes = 100;

/** An incident in a notification, and how the receiver's part of it stands. */
export interface ShownIncident extends Pick<Notification, "status" | "severity"> {
  readonly incident: Omit<IncidentNotice, "opened">;
  /** null: it has no fleet verdict. */
  readonly fleet: FleetNotice | null;
  readonly members: readonly IncidentMember[];
}

/** Reads the incidents of these numbers; returns what a receiver is told of one by its part; null: it is not kept. */
export async function readIncidents(
  parts: Pick<StoreParts, "incidents" | "silences" | "gate" | "meta">,
  { settings, board, nowMs }: NoticeSource,
  numbers: readonly number[],
): Promise<(number: number, receiver: string, isOfPart: (alert: Alert) => boolean) => ShownIncident | null> {
  if (numbers.length === 0) return () => null;
  const asked = [...new Set(numbers)];
  const incidents = await parts.incidents.byNumbers(asked);
  const kept = await parts.incidents.members(asked);
  const view = await alertViewer(parts, settings, nowMs);
  const isUsed = await isGateUsed(parts, settings, nowMs);
  const wholes = new Map(
    incidents.map((incident) => {
      const members = (kept.get(incident.number) ?? []).map(view);
      const summary = summarizeIncident(incident, members, settings);
      return [incident.number, { incident, members, summary, fleet: fleetNotice(incident, members, board) }];
    }),
  );
  return (number, receiver, isOfPart) => {
    const whole = wholes.get(number);
    if (whole === undefined) return null;
    const { incident, members, summary, fleet } = whole;
    const own = members.filter(isOfPart);
    const shown = own.filter(({ isSilenced }) => !isSilenced);
    // What the receiver is not routed is in the totals only.
    const { carriers } = summarizeIncident(incident, own, settings);
    const part = { members: own, watched: watchedBy(settings, receiver) };
    const headline = headlineFacts(
      { incident, members, summary: { ...summary, carriers } },
      { settings, nowMs, isGateUsed: isUsed, part },
    );
    // What is silenced keeps the part open, and is not shown.
    const firing = own.filter(({ end }) => end === null);
    const shownFiring = shown.filter(({ end }) => end === null);
    const judged = shownFiring.length > 0 ? shownFiring : firing.length > 0 ? firing : own;
    return {
      incident: {
        ...summary,
        carriers,
        worst: worstMembers(shown, shownMembers),
        outlived: incident.outlived,
        headline,
        own: ownPart(incident, shown, board),
      },
      fleet,
      status: firing.length === 0 ? "resolved" : "firing",
      severity: worstSeverity(judged.map((alert) => alert.severity)),
      members: own,
    };
  };
}

function ownPart(
  { family }: Incident,
  members: readonly IncidentMember[],
  board: NoticeSource["board"],
): IncidentNotice["own"] {
  const firing = members.filter(({ end }) => end === null);
  const errors = (family === "unreachable" ? firing : []).flatMap(({ check, slug }) => {
    const report = board.state(check, slug)?.lastReport;
    return report?.kind === "error" ? [report.error.message] : [];
  });
  return {
    organizations: slugsOf(members).size,
    firing: slugsOf(firing).size,
    toAcknowledge: slugsOf(firing.filter((alert) => alert.acknowledgement === null)).size,
    lastError: errors.at(-1) ?? null,
  };
}

/** Totals over the organizations that spike now, and no names; null: the incident has no fleet verdict. */
function fleetNotice(
  { id, verdict }: Incident,
  members: readonly IncidentMember[],
  board: NoticeSource["board"],
): FleetNotice | null {
  if (verdict === null) return null;
  const spiking = members
    .filter((alert) => {
      return alert.end === null && !alert.isSilenced && alert.check === "dead-asset-spike" && alert.kind === "verdict";
    })
    .map((member) => ({ alert: member, report: reportOf(board, member) }));
  const excess = new Map<string, number>();
  for (const { report } of spiking)
    for (const one of report?.kind === "result" ? (report.evidence?.assetTypes ?? []) : [])
      excess.set(one.assetType, (excess.get(one.assetType) ?? 0) + one.excess);
  const all = [...excess.values()].reduce((sum, count) => sum + count, 0);
  const began = spiking.map(({ alert }) => alert.onset?.atMs ?? alert.startsAtMs);
  const { together, usual, probability, organizations } = verdict;
  const evidence = fleetEvidence(spiking.map(({ alert, report }) => fleetMember(alert, report)));
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
    ...(spiking.length === 0 ? {} : { evidence }),
  };
}
