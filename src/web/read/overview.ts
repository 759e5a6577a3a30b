import type { AlertView } from "../../alerting/view.ts";
import { shownLabels } from "../../config/render.ts";
import { compareSeverity, worstSeverity, type Severity } from "../../contract/severity.ts";
import type { WebParts } from "../parts.ts";
import { ofSnapshot, type FleetSnapshot } from "./fleet.ts";
import { forReader, type ReadIncident } from "./incidents.ts";
import { isLate, isStale, isWithoutEvents, type CheckState, type Running } from "./running.ts";

/** The overview's facts, for one reader. */
export type Overview = Awaited<ReturnType<typeof readOverview>>;

// A page shows fewer; the others are in the list of incidents.
const mostOpen = 50;
/** Open incidents with a band; each further one has a line. */
export const mostBands = 2;

export async function readOverview(
  { running, incidents }: Pick<WebParts, "running" | "incidents">,
  withDetails: boolean,
) {
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

/** The facts in the frame of every page. */
export type FrameFacts = Awaited<ReturnType<typeof readFrame>>;

export async function readFrame(running: Running) {
  const fleet = await running.fleet();
  const { rows, severity, late } = organizationsOf(running, fleet);
  return {
    severity,
    openIncidents: fleet.open.length,
    /** Ended incidents with a gate on hold or without a judgement. */
    unfinished: fleet.unfinished.incidents.size,
    deadLetters: fleet.outbox.reduce((sum, { deadLetters }) => sum + deadLetters, 0),
    source: running.source(),
    organizations: rows.length,
    late,
  };
}

/** An organization with its checks at a snapshot. Times are epoch ms. */
export type OrganizationRow = ReturnType<typeof rowsOf>[number];

/** Returns all organizations, in the configuration's order, and their checks in numbers. */
const organizationsOf = ofSnapshot((running, fleet) => {
  const states = running.checks.all();
  const rows = rowsOf(running, fleet, states);
  return {
    rows,
    /** The worst of the organizations. */
    severity: worstSeverity(rows.map(({ severity }) => severity)),
    checks: states.length,
    late: states.filter((state) => isLate(state, fleet.nowMs)).length,
  };
});

function rowsOf(running: Running, { alerts, held, nowMs }: FleetSnapshot, states: readonly CheckState[]) {
  const labels = new Map(running.config().organizations.map((one) => [one.slug, shownLabels(one)]));
  const alertsBySlug = Map.groupBy(alerts, ({ slug }) => slug);
  const others = states.filter(({ check }) => check !== "dead-asset-spike");
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
  return states
    .filter(({ check }) => check === "dead-asset-spike")
    .map((state) => {
      const { slug, last, nextDueAtMs } = state;
      const own = alertsBySlug.get(slug) ?? [];
      const bad = badBySlug.get(slug) ?? [];
      const spike = severityOf(state, nowMs);
      const counts = spike === "unknown" ? null : (last?.lastCounts ?? null);
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
        isWaiting: last === null,
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
        lateMs: isLate(state, nowMs) ? nowMs - nextDueAtMs : null,
      };
    });
}

function severityOf(state: CheckState, nowMs: number): Severity {
  return isStale(state, nowMs) ? "unknown" : (state.last?.severity ?? "unknown");
}

function stateOf(own: readonly AlertView[]): "pending" | "silenced" | "acknowledged" | null {
  const firing = own.filter(({ state }) => state === "firing");
  if (firing.length === 0) return own.length === 0 ? null : "pending";
  if (firing.every(({ isSilenced }) => isSilenced)) return "silenced";
  return firing.every(({ acknowledgement }) => acknowledgement !== null) ? "acknowledged" : null;
}
