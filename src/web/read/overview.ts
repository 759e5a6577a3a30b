import type { AlertView } from "../../alerting/view.ts";
import { shownLabels } from "../../config/render.ts";
import { compareSeverity, worstSeverity, type Severity } from "../../contract/severity.ts";
import { isLate } from "./frame.ts";
import type { IncidentReading, ReadIncident } from "./incidents.ts";
import { isStale, type CheckState, type Running } from "./running.ts";
import type { Unfinished } from "./fleet.ts";

/** An organization as the overview lists it. Times are epoch ms. */
export interface OverviewRow {
  readonly slug: string;
  /** The worst of its checks; unknown while it waits for its first run, or when its last result is too old. */
  readonly severity: Severity;
  /** Its spike check has not run yet. */
  readonly isWaiting: boolean;
  readonly count: number | null;
  readonly expected: number | null;
  readonly ratio: number | null;
  readonly windowHours: number;
  /** Its other checks that are not ok, the worst first. */
  readonly others: readonly { readonly check: string; readonly severity: Severity }[];
  /** The open incident in which an alert of it fires; null: none. */
  readonly incident: number | null;
  /** What holds its messages back, or will fire; null: nothing. */
  readonly state: "pending" | "silenced" | "acknowledged" | null;
  /** Since when its gate is shut; null: it is open. */
  readonly heldSinceMs: number | null;
  /** For how long its next run is late; null: it is not. */
  readonly lateMs: number | null;
  /** Since when its severity holds. */
  readonly sinceMs: number | null;
}

/** Everything that the overview says, at one moment, for one reader. */
export interface Overview {
  readonly nowMs: number;
  readonly rows: readonly OverviewRow[];
  /** Labels of an organization: asked of those that are shown, or filtered by words. */
  readonly labelsOf: (slug: string) => Readonly<Record<string, string>>;
  /** Open incidents that are not silenced as a whole, the worst first. */
  readonly open: readonly ReadIncident[];
  readonly unfinished: Unfinished;
  /** Incidents that have ended and are not finished; read only while none is open. */
  readonly toFinish: readonly ReadIncident[];
  /** Since when gates are shut, by organization; those that are no longer configured, too. */
  readonly held: ReadonlyMap<string, number>;
  /** Each live alert once: silenced before acknowledged. */
  readonly alerts: Readonly<Record<"firing" | "acknowledged" | "pending" | "silenced", number>>;
}

export interface OverviewSources {
  readonly running: Running;
  readonly incidents: Pick<IncidentReading, "list" | "ofNumbers">;
}

// More than a page of them shows; the rest is in the list of incidents.
const mostOpen = 50;

/** Reads it from the board and the store. */
export async function readOverview({ running, incidents }: OverviewSources): Promise<Overview> {
  const { nowMs, alerts, held, unfinished } = await running.fleet();
  const found = await incidents.list({ state: "open", limit: mostOpen });
  const open = found.incidents.filter(({ summary }) => summary.firing > 0).toSorted(byWeight);
  const left = [...unfinished.incidents].toSorted((one, other) => other - one).slice(0, mostOpen);
  const toFinish = open.length > 0 ? [] : await incidents.ofNumbers(left);
  const labels = new Map(running.config().organizations.map((one) => [one.slug, shownLabels(one)]));
  return {
    nowMs,
    held,
    alerts: countAlerts(alerts),
    rows: rowsOf(running, alerts, held, nowMs),
    labelsOf: (slug) => labels.get(slug) ?? {},
    open,
    unfinished,
    toFinish: toFinish.toSorted((one, other) => other.heldSince.size - one.heldSince.size),
  };
}

/** What cannot be asked before what spikes, then by organizations. */
function byWeight(left: ReadIncident, right: ReadIncident): number {
  const platform = ({ incident }: ReadIncident): number => (incident.family === "unreachable" ? 1 : 0);
  return (
    platform(right) - platform(left) ||
    right.summary.firing - left.summary.firing ||
    right.incident.number - left.incident.number
  );
}

function rowsOf(
  running: Running,
  alerts: readonly AlertView[],
  held: ReadonlyMap<string, number>,
  nowMs: number,
): readonly OverviewRow[] {
  const bySlug = Map.groupBy(alerts, (alert) => alert.slug);
  const spikes: CheckState[] = [];
  const others = new Map<string, OverviewRow["others"]>();
  for (const state of running.checks.all()) {
    const { check, slug } = state;
    if (check === "dead-asset-spike") spikes.push(state);
    else {
      const severity = state.severity === null ? "ok" : severityOf(state, nowMs);
      if (severity !== "ok") others.set(slug, [...(others.get(slug) ?? []), { check, severity }]);
    }
  }
  return spikes.map((state): OverviewRow => {
    const { slug } = state;
    const own = bySlug.get(slug) ?? [];
    const severity = severityOf(state, nowMs);
    const bad = others.get(slug)?.toSorted((left, right) => compareSeverity(right.severity, left.severity)) ?? [];
    const counts = severity === "unknown" ? null : state.lastCounts;
    const [count, expected] = [counts?.currentCount ?? null, counts?.expectedCount ?? null];
    const firing = own.find((alert) => alert.state === "firing" && alert.incident !== undefined);
    return {
      slug,
      severity: worstSeverity([severity, ...bad.map((other) => other.severity)]),
      isWaiting: state.severity === null,
      count,
      expected,
      ratio: counts?.ratio ?? (count !== null && expected !== null && expected > 0 ? count / expected : null),
      windowHours: counts?.windowHours ?? 24,
      others: bad,
      incident: firing === undefined || firing.isSilenced ? null : (firing.incident?.number ?? null),
      state: stateOf(own),
      heldSinceMs: held.get(slug) ?? null,
      lateMs: isLate(state, nowMs) ? nowMs - state.nextDueAtMs : null,
      sinceMs: state.severitySinceMs,
    };
  });
}

function severityOf(state: CheckState, nowMs: number): Severity {
  return isStale(state, nowMs) ? "unknown" : (state.severity ?? "unknown");
}

function countAlerts(alerts: readonly AlertView[]): Overview["alerts"] {
  const counts = { firing: 0, acknowledged: 0, pending: 0, silenced: 0 };
  for (const alert of alerts) {
    if (alert.state === "pending") counts.pending++;
    else if (alert.isSilenced) counts.silenced++;
    else if (alert.acknowledgement !== null) counts.acknowledged++;
    else counts.firing++;
  }
  return counts;
}

function stateOf(own: readonly AlertView[]): OverviewRow["state"] {
  const firing = own.filter((alert) => alert.state === "firing");
  if (firing.length === 0) return own.length === 0 ? null : "pending";
  if (firing.every(({ isSilenced }) => isSilenced)) return "silenced";
  return firing.every((alert) => alert.acknowledgement !== null) ? "acknowledged" : null;
}
