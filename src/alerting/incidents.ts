import { dayMs } from "../base/time.ts";
import { familyOf } from "../contract/incident.ts";
import type { CheckReport } from "../contract/report.ts";
import type { AlertState } from "../store/alerts/alerts.ts";
import type { Incident } from "../store/alerts/incidents.ts";
import type { StoreParts } from "../store/store-parts.ts";
import { incidentToJoin } from "./decide/membership.ts";
import type { Transition } from "./decide/transition.ts";
import type { AlertingSettings } from "./settings.ts";

/** A step of the alerts of one check, and the report that made it; null: no run did. */
export interface ReportedStep {
  readonly step: Transition;
  readonly report: CheckReport | null;
}

/** What incidents are given in a transaction. */
export interface IncidentContext {
  readonly settings: Pick<AlertingSettings, "incidentWithinMs">;
  /** Ids of incidents, unique over all time. */
  readonly newId: () => string;
  readonly nowMs: number;
}

/** The incidents in the transaction in which alerts fire and end: what fires gets its incident, what is over ends. */
export interface IncidentBook {
  /** Returns the step with the incident of each alert that fires with it; its alerts are to be stored as they are then. */
  take(reported: ReportedStep): Promise<Transition>;
}

/**
 * Opens the book for the steps of a transaction, in the order in which they will be taken; before anything of them is stored.
 * Who changes incidents of a family excludes others who do, so that two processes never open two for the same.
 */
export async function openIncidentBook(
  { incidents }: Pick<StoreParts, "incidents">,
  steps: readonly ReportedStep[],
  { settings, newId, nowMs }: IncidentContext,
): Promise<IncidentBook> {
  const changes = steps.flatMap(({ step, report }) => step.changes.map(({ alert }) => ({ alert, report })));
  if (changes.length === 0) return { take: async ({ step }) => Promise.resolve(step) };
  let open = await incidents.open();
  const firing = new Map(await incidents.firingCounts());
  const families = changes.map(({ alert, report }) => {
    const own = open.find(({ number }) => number === alert.incident?.number);
    return own?.family ?? family(alert, report);
  });
  // Always in this order: who waits for one holds none that another waits for.
  for (const name of [...new Set(families)].toSorted()) await incidents.takeTurn(name);

  async function incidentOf(alert: AlertState, report: CheckReport | null): Promise<Incident> {
    const carrier = carrierOf(report);
    const firingAtMs = alert.firingAtMs ?? alert.startsAtMs;
    const begun = { family: family(alert, report), firingAtMs, carrier };
    const known = incidentToJoin(begun, open, settings.incidentWithinMs);
    if (known !== null) return known;
    const incident = await incidents.add({
      id: newId(),
      family: begun.family,
      startedAtMs: alert.startsAtMs,
      firstFiredAtMs: firingAtMs,
      endedAtMs: null,
      carrier,
      verdict: null,
      acknowledgement: null,
      outlived: 0,
      outgrownAtMs: null,
    });
    open = [incident, ...open];
    return incident;
  }

  async function leave({ incident }: AlertState, endsAtMs: number): Promise<void> {
    const left = open.find(({ number }) => number === incident?.number);
    if (left === undefined) return;
    const count = (firing.get(left.number) ?? 1) - 1;
    firing.set(left.number, count);
    if (count > 0) return;
    await incidents.save({ ...left, endedAtMs: endsAtMs });
    open = open.filter((one) => one !== left);
  }

  return {
    take: async ({ step, report }) => {
      const joined = new Map<string, Incident>();
      for (const { event, alert, endsAtMs } of step.changes) {
        if (endsAtMs !== null) await leave(alert, endsAtMs);
        else if (event === "firing" || event === "unknown") {
          const incident = await incidentOf(alert, report);
          firing.set(incident.number, (firing.get(incident.number) ?? 0) + 1);
          joined.set(alert.id, incident);
          if (isSpike(alert) && incident.verdict === null)
            await incidents.noteSpikeDay(Math.floor(nowMs / dayMs), alert.slug, incident.number);
        }
      }
      return joined.size === 0 ? step : withIncidents(step, joined);
    },
  };
}

function isSpike({ check, kind }: AlertState): boolean {
  return check === "dead-asset-spike" && kind === "verdict";
}

function family({ check, kind }: AlertState, report: CheckReport | null): string {
  return familyOf({ check, kind, errorReason: report?.kind === "error" ? report.error.reason : null });
}

function carrierOf(report: CheckReport | null): string | null {
  const carrier = report?.kind === "result" ? report.result.observed["carrier"] : undefined;
  return typeof carrier === "string" ? carrier : null;
}

function withIncidents(step: Transition, joined: ReadonlyMap<string, Incident>): Transition {
  const withIncident = (alert: AlertState): AlertState => {
    const incident = joined.get(alert.id);
    return incident === undefined ? alert : { ...alert, incident: { id: incident.id, number: incident.number } };
  };
  return {
    ...step,
    live: step.live.map(withIncident),
    changes: step.changes.map((change) => ({ ...change, alert: withIncident(change.alert) })),
  };
}
