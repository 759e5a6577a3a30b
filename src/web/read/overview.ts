import type { AlertView } from "../../alerting/view.ts";
import { shownLabels } from "../../config/render.ts";
import { compareSeverity, worstSeverity, type Severity } from "../../contract/severity.ts";
import type { FleetSnapshot } from "./fleet.ts";
import { isLate } from "./frame.ts";
import { forReader, type IncidentReading, type ReadIncident } from "./incidents.ts";
import { isStale, isWithoutEvents, type CheckState, type Running } from "./running.ts";

/** The overview's facts, for one reader. */
export type Overview = Awaited<ReturnType<typeof readOverview>>;

/** An organization in the overview. Times are epoch ms. */
export type OverviewRow = ReturnType<typeof rowsOf>[number];

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
    rows: rowsOf(running, fleet, nowMs),
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

function rowsOf(running: Running, { alerts, held }: FleetSnapshot, nowMs: number) {
  const labels = new Map(running.config().organizations.map((one) => [one.slug, shownLabels(one)]));
  const alertsBySlug = Map.groupBy(alerts, ({ slug }) => slug);
  const { spikes = [], others = [] } = Object.groupBy(running.checks.all(), ({ check }) =>
    check === "dead-asset-spike" ? "spikes" : "others",
  );
  const badBySlug = Map.groupBy(
    others
      .map((state): { slug: string; check: string; severity: Severity } => {
        const { slug, check, last } = state;
        return { slug, check, severity: last === null ? "ok" : severityOf(state, nowMs) };
      })
      .filter(({ severity }) => severity !== "ok")
      .toSorted((left, right) => compareSeverity(right.severity, left.severity)),
    ({ slug }) => slug,
  );
  return spikes.map((state) => {
    const { slug } = state;
    const own = alertsBySlug.get(slug) ?? [];
    const bad = badBySlug.get(slug) ?? [];
    const spike = severityOf(state, nowMs);
    const counts = spike === "unknown" ? null : (state.last?.lastCounts ?? null);
    const [count, expected] = [counts?.currentCount ?? null, counts?.expectedCount ?? null];
    const firing = own.find((alert) => alert.state === "firing" && alert.incident !== undefined);
    return {
      slug,
      labels: labels.get(slug) ?? {},
      /** Of its spike check; unknown before the first run, or if its last result is stale. */
      spike,
      /** The worst of its checks. */
      severity: worstSeverity([spike, ...bad.map((other) => other.severity)]),
      /** Its spike check has not run yet. */
      isWaiting: state.last === null,
      /** No event of it is stored. */
      hasNoEvents: running.holdsEvents() && isWithoutEvents(state),
      count,
      expected,
      ratio: counts?.ratio ?? (count !== null && expected !== null && expected > 0 ? count / expected : null),
      windowHours: counts?.windowHours ?? 24,
      /** Other checks that are not ok, the worst first. */
      others: bad,
      /** null: no alert of it fires in an open incident. */
      incident: firing === undefined || firing.isSilenced ? null : (firing.incident?.number ?? null),
      /** null: no alert, or one that is neither silenced nor acknowledged. */
      state: stateOf(own),
      /** null: its gate is open. */
      heldSinceMs: held.get(slug) ?? null,
      /** null: its next run is not late. */
      lateMs: isLate(state, nowMs) ? nowMs - state.nextDueAtMs : null,
    };
  });
}

function severityOf(state: CheckState, nowMs: number): Severity {
  return isStale(state, nowMs) ? "unknown" : (state.last?.severity ?? "unknown");
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

function stateOf(own: readonly AlertView[]): "pending" | "silenced" | "acknowledged" | null {
  const firing = own.filter(({ state }) => state === "firing");
  if (firing.length === 0) return own.length === 0 ? null : "pending";
  if (firing.every(({ isSilenced }) => isSilenced)) return "silenced";
  return firing.every(({ acknowledgement }) => acknowledgement !== null) ? "acknowledged" : null;
}
