import type { AlertView } from "../../alerting/view.ts";
import { shownLabels } from "../../config/render.ts";
import { compareSeverity, worstSeverity, type Severity } from "../../contract/severity.ts";
import { ofSnapshot, type FleetSnapshot } from "./fleet.ts";
import { isLate, isStale, isWithoutEvents, type CheckState, type Running } from "./running.ts";

/** An organization with its checks at a snapshot. Times are epoch ms. */
export type OrganizationRow = ReturnType<typeof rowsOf>[number];

/** Returns all organizations, in the configuration's order, and their checks in numbers. */
export const organizationsOf = ofSnapshot((running, fleet) => {
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
