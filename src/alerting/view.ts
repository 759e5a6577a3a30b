import { fleetEvidence, fleetMember, type FleetEvidence } from "../contract/fleet/evidence.ts";
import type { CheckName, CheckReport } from "../contract/report.ts";
import type { AlertState } from "../store/alerts/alerts.ts";
import type { FleetVerdict, Incident } from "../store/alerts/incidents.ts";
import type { StoreParts } from "../store/store-parts.ts";
import type { AlertingSettings, AlertTarget } from "./settings.ts";
import { ruleOf, silencedAt } from "./decide/silences.ts";

/** A live alert as the API, the page and the metrics show it. */
export interface AlertView {
  readonly alert: AlertState;
  /** Held back by a silence or a maintenance window now. */
  readonly isSilenced: boolean;
  /** Labels, receivers and link by the configuration that holds now; null when it is no longer configured. */
  readonly target: AlertTarget | null;
}

/** All live alerts at one moment, firing before pending, then the oldest first; and the fleet verdict that lasts. */
export interface AlertingView {
  readonly alerts: readonly AlertView[];
  readonly fleet: (FleetState & Pick<LiveFleet, "isSent">) | null;
}

/** A fleet verdict, with the id of its incident. */
export interface FleetState extends FleetVerdict {
  readonly id: string;
  readonly number: number;
  readonly check: CheckName;
  readonly endsAtMs: number | null;
}

/** Returns the fleet verdict of an incident; null: it has none. */
export function fleetOf({ id, number, verdict, endedAtMs }: Incident): FleetState | null {
  return verdict === null ? null : { ...verdict, id, number, check: "dead-asset-spike", endsAtMs: endedAtMs };
}

/** The fleet verdict while it lasts. */
export interface LiveFleet extends FleetState {
  /** `forming` until a receiver was sent it. */
  readonly isSent: boolean;
  /** Organizations whose spike alert fires now. */
  readonly spiking: number;
  readonly evidence: FleetEvidence;
}

/** Reads what is alive; one look at the store, so that it fits a scrape. */
export async function readAlertingView(
  parts: Pick<StoreParts, "alerts" | "silences" | "queued" | "incidents">,
  settings: AlertingSettings,
  nowMs: number,
): Promise<AlertingView> {
  const view = await alertViewer(parts, settings, nowMs);
  const alerts = (await parts.alerts.allLive()).map(view);
  const [fleet = null] = (await parts.incidents.open()).flatMap((incident) => fleetOf(incident) ?? []);
  const known = fleet === null ? [] : (await parts.queued.all()).incidents;
  const isSent = known.some(({ incident, knowsVerdict }) => knowsVerdict && incident === fleet?.number);
  return { alerts: alerts.toSorted(byUrgency), fleet: fleet === null ? null : { ...fleet, isSent } };
}

/** Reads the silences that hold; returns how a live alert is seen under them. */
export async function alertViewer(
  { silences }: Pick<StoreParts, "silences">,
  settings: AlertingSettings,
  nowMs: number,
): Promise<(alert: AlertState) => AlertView> {
  const stored = await silences.endingAfter(nowMs);
  const isSilenced = silencedAt([...settings.silences, ...stored.map(ruleOf)], nowMs);
  return (alert) => {
    const { check, slug } = alert;
    const target = settings.targetOf(check, slug);
    const subject = { check, slug, labels: target?.labels ?? {} };
    return { alert, isSilenced: isSilenced(subject), target };
  };
}

/** Returns the fleet verdict with what its members have in common; `reportOf` gives the last result of an organization's spike check. */
export function viewFleet(
  { alerts, fleet }: AlertingView,
  reportOf: (slug: string) => CheckReport | null,
): LiveFleet | null {
  if (fleet === null) return null;
  const members = alerts.filter(
    ({ alert }) =>
      alert.state === "firing" &&
      alert.check === "dead-asset-spike" &&
      alert.kind === "verdict" &&
      alert.incident?.number === fleet.number,
  );
  const evidence = fleetEvidence(members.map(({ alert }) => fleetMember(alert, reportOf(alert.slug))));
  return { ...fleet, spiking: members.length, evidence };
}

function byUrgency({ alert: left }: AlertView, { alert: right }: AlertView): number {
  if (left.state !== right.state) return left.state === "firing" ? -1 : 1;
  return left.startsAtMs - right.startsAtMs || (left.slug < right.slug ? -1 : 1);
}
