import { worstSeverity } from "../../contract/severity.ts";
import type { AlertState } from "../../store/alerts/alerts.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import type { Board } from "../../store/runs/board.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import { watchedBy } from "../decide/routing.ts";
import { isGateUsed } from "../gate-use.ts";
import { headlineFacts } from "../headline-facts.ts";
import { memberViewer } from "../incident-members.ts";
import { slugsOf, summarizeIncident, worstMembers, type IncidentMember } from "../incident-summary.ts";
import type { AlertingSettings } from "../settings.ts";
import type { FleetState } from "../view.ts";
import { composeFleet, type PartState } from "./compose.ts";
import type { FleetNotice, IncidentNotice, OwnPart } from "./notification.ts";
import { reportFor } from "./alert-facts.ts";

// What a message of several organizations names.
const shownMembers = 5;

/** An incident in a notification, and how the receiver's part of it stands. */
export interface ShownIncident {
  /** null: it is none that is kept. */
  readonly incident: Omit<IncidentNotice, "opened"> | null;
  readonly part?: PartState | undefined;
}

/** What the notices of incidents are made with. */
export interface NoticeSource {
  readonly settings: AlertingSettings;
  readonly board: Pick<Board, "state">;
  readonly nowMs: number;
}

/** Reads the incidents of these numbers; returns what is said of one of them, for the alerts of a part. */
export async function incidentNotices(
  parts: Pick<StoreParts, "incidents" | "silences" | "gate" | "meta">,
  { settings, board, nowMs }: NoticeSource,
  shown: readonly number[],
): Promise<(number: number, part: readonly string[], receiver: string) => ShownIncident> {
  const numbers = [...new Set(shown)];
  if (numbers.length === 0) return () => ({ incident: null });
  const incidents = new Map((await parts.incidents.byNumbers(numbers)).map((one) => [one.number, one]));
  const kept = await parts.incidents.members(numbers);
  const view = await memberViewer(parts, settings, nowMs);
  const isUsed = await isGateUsed(parts, settings, nowMs);
  const wholes = new Map(
    [...incidents].map(([number, incident]) => {
      const members = (kept.get(number) ?? []).map(view);
      return [number, { incident, members, summary: summarizeIncident(incident, members, settings) }];
    }),
  );
  return (number, part, receiver) => {
    const whole = wholes.get(number);
    if (whole === undefined) return { incident: null };
    const { incident, members, summary } = whole;
    const ids = new Set(part);
    const own = members.filter(({ alert }) => ids.has(alert.id));
    const shown = own.filter(({ isSilenced }) => !isSilenced);
    // What the receiver is not routed is in the totals only.
    const { carriers } = summarizeIncident(incident, own, settings);
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
        headline: headlineFacts(
          { incident, members, summary: { ...summary, carriers } },
          {
            settings,
            nowMs,
            isGateUsed: isUsed,
            part: { members: own, watched: watchedBy(settings, receiver) },
          },
        ),
        own: ownPart(incident, shown, board),
      },
      part: {
        status: firing.length === 0 ? "resolved" : "firing",
        severity: worstSeverity(judged.map(({ alert }) => alert.severity)),
      },
    };
  };
}

function ownPart(
  { family }: Pick<Incident, "family">,
  members: readonly IncidentMember[],
  board: NoticeSource["board"],
): OwnPart {
  const firing = members.filter(({ end }) => end === null);
  const errors = (family === "unreachable" ? firing : []).flatMap(({ alert: { check, slug } }) => {
    const report = board.state(check, slug)?.lastReport;
    return report?.kind === "error" ? [report.error.message] : [];
  });
  return {
    organizations: slugsOf(members).size,
    firing: slugsOf(firing).size,
    toAcknowledge: slugsOf(firing.filter(({ alert }) => alert.acknowledgement === null)).size,
    lastError: errors.at(-1) ?? null,
  };
}

/** Returns what is said of a fleet verdict while these alerts fire; those of other checks do not count. */
export function fleetNotice(
  fleet: FleetState,
  firing: readonly AlertState[],
  board: Pick<Board, "state">,
): FleetNotice {
  const spiking = firing.filter(
    ({ check, kind, incident }) =>
      check === "dead-asset-spike" && kind === "verdict" && incident?.number === fleet.number,
  );
  return composeFleet(fleet, {
    organizations: fleet.organizations,
    spiking: spiking.map((alert) => ({ alert, report: reportFor("verdict", board.state(alert.check, alert.slug)) })),
  });
}
