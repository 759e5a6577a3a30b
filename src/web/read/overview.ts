import type { AlertView } from "../../alerting/view.ts";
import { forReader, type IncidentReading, type ReadIncident } from "./incidents.ts";
import { organizationsOf } from "./organizations.ts";
import type { Running } from "./running.ts";

/** The overview's facts, for one reader. */
export type Overview = Awaited<ReturnType<typeof readOverview>>;

export interface OverviewSources {
  readonly running: Running;
  readonly incidents: Pick<IncidentReading, "list" | "ofNumbers">;
}

// A page shows fewer; the others are in the list of incidents.
const mostOpen = 50;
/** Open incidents with a band; each further one has a line. */
export const mostBands = 2;

export async function readOverview({ running, incidents }: OverviewSources, withDetails: boolean) {
  const fleet = await running.fleet();
  const nowMs = running.clock.nowMs();
  const { alerts, held, unfinished } = fleet;
  const found = await incidents.list({ state: "open", limit: mostOpen });
  const open = found.incidents.filter(({ summary }) => summary.firing > 0).toSorted(byWeight);
  const notified = new Map<number, number | null>();
  for (const { incident } of open.slice(0, mostBands))
    notified.set(incident.number, await running.store.deliveries.firstOf(incident));
  const left = [...unfinished.incidents].toSorted((one, other) => other - one).slice(0, mostOpen);
  const toFinish = open.length > 0 ? [] : await incidents.ofNumbers(left);
  return {
    nowMs,
    /** Since when gates are on hold, by slug, also of organizations that are no longer configured. */
    held,
    unfinished,
    /** A silenced alert does not count as acknowledged. */
    alerts: countAlerts(alerts),
    ...organizationsOf(running, fleet),
    /** Open incidents that are not completely silenced, the worst first. */
    open: open.map((one) => forReader(one, withDetails)),
    /** Time of the first accepted message of each incident with a band; null: none. */
    notified: notified as ReadonlyMap<number, number | null>,
    /** Ended incidents with work left; empty while one is open. */
    toFinish: toFinish.map((one) => forReader(one, withDetails)),
  };
}

/** An unreachable platform comes first, then the most organizations. */
function byWeight(left: ReadIncident, right: ReadIncident): number {
  const platform = ({ incident }: ReadIncident): number => (incident.family === "unreachable" ? 1 : 0);
  return (
    platform(right) - platform(left) ||
    right.summary.firing - left.summary.firing ||
    right.incident.number - left.incident.number
  );
}

function countAlerts(alerts: readonly AlertView[]) {
  const counts = { firing: 0, acknowledged: 0, pending: 0, silenced: 0 };
  for (const { state, isSilenced, acknowledgement } of alerts) {
    if (state === "pending") counts.pending++;
    else if (isSilenced) counts.silenced++;
    else if (acknowledgement !== null) counts.acknowledged++;
    else counts.firing++;
  }
  return counts;
}
