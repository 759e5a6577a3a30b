import { dayMs } from "../base/time.ts";
import { familyOf } from "../contract/incident.ts";
import type { CheckReport } from "../contract/report.ts";
import { compareSeverity, type Severity } from "../contract/severity.ts";
import type { Alert } from "../store/alerts/alerts.ts";
import type { Incident } from "../store/alerts/incidents.ts";
import type { StoreParts } from "../store/store-parts.ts";
import { incidentToJoin } from "./decide/membership.ts";
import type { Transition } from "./decide/transition.ts";
import { countTogether, isBeyondChance, rateDays, usualNumber, type Begun } from "./decide/verdict.ts";
import { isSpikeAlert } from "./incident-summary.ts";
import type { AlertingSettings } from "./settings.ts";

/** A step of a check's alerts, with the report that made it; null: no run made it. */
export interface ReportedStep {
  readonly step: Transition;
  readonly report: CheckReport | null;
}

export interface IncidentContext {
  readonly settings: Pick<AlertingSettings, "incidentWithinMs" | "fleet" | "targetOf">;
  readonly newId: () => string;
  readonly nowMs: number;
  /** How many organizations had a result in their last spike run. */
  readonly withResult: () => number;
  /** Organization-weeks that were looked at in the last 30 minutes (decide/verdict.ts). */
  readonly weeksLookedAt: () => number;
}

export interface IncidentEvent {
  readonly what: "incident opened" | "incident ended" | "fleet verdict holds";
  readonly incident: Incident;
}

/** The key in the table `meta` of the time since which the fleet is watched, epoch ms. */
export const watchedSinceKey = "watchedSinceMs";

/**
 * Prepares the incidents for the steps of a transaction. Call it before any step is stored, and take the steps in the
 * same order. Firing alerts get their incident, and an incident ends with its last alert.
 */
export async function openIncidentBook(
  { incidents, alerts, meta }: StoreParts,
  steps: readonly ReportedStep[],
  { settings, newId, nowMs, withResult, weeksLookedAt }: IncidentContext,
) {
  const changes = steps.flatMap(({ step }) => step.changes);
  /** Newest first. */
  let open: readonly Incident[] = changes.length === 0 ? [] : await incidents.open();
  // Only the end of an alert needs the number of firing ones.
  const isEnding = changes.some(({ alert }) => alert.end !== null);
  const firing = new Map(isEnding ? await incidents.firingCounts() : []);
  /** Numbers of incidents to save. */
  const changed = new Set<number>();
  const events: IncidentEvent[] = [];
  /** Read once: thousands may fire in one transaction. */
  const readMembers = new Map<number, Alert[]>();
  /** The worst severity in each incident in this transaction. Only a worse one can end acknowledgements. */
  const worstOf = new Map<number, Severity>();
  /** Days with a spike in other incidents, as stored before this transaction. */
  const firedBeside = new Map<number, number>();
  /** Alerts whose acknowledgement ended here. A later step must not bring it back. */
  const unacknowledged = new Set<string>();

  /** Returns the step with the alerts to store: new ones have their incident, ended acknowledgements are removed. */
  async function take({ step, report }: ReportedStep): Promise<Transition> {
    const joined = new Map<string, Incident>();
    for (const { event, alert } of step.changes) {
      if (alert.end !== null) await leave(alert, alert.end.atMs);
      else if (event === "firing" || event === "unknown") joined.set(alert.id, await join(alert, report));
      else if (event === "escalated") await worsen(alert.incident?.number ?? 0, alert.severity);
    }
    const asItIs = (alert: Alert): Alert => {
      const own = unacknowledged.has(alert.id) ? { ...alert, acknowledgement: null } : alert;
      const incident = joined.get(alert.id);
      return incident === undefined ? own : { ...own, incident: { id: incident.id, number: incident.number } };
    };
    return {
      ...step,
      alerts: step.alerts.map(asItIs),
      changes: step.changes.map((change) => ({ ...change, alert: asItIs(change.alert) })),
    };
  }

  /** Saves the changed incidents. Returns the events for the log. */
  async function close(): Promise<readonly IncidentEvent[]> {
    for (const incident of open.filter(({ number }) => changed.has(number))) {
      const verdict = incident.verdict && { ...incident.verdict, organizations: withResult() };
      const counted = { ...incident, verdict };
      change(counted);
      await incidents.save(counted);
    }
    return events.map(({ what, incident }) => ({ what, incident: find(incident.number) ?? incident }));
  }

  async function join(alert: Alert, report: CheckReport | null): Promise<Incident> {
    const firingAtMs = alert.firingAtMs ?? alert.startsAtMs;
    const begun = { family: family(alert, report), firingAtMs, carrier: carrierOf(report) };
    const known = incidentToJoin(begun, open, settings.incidentWithinMs);
    const incident =
      known ??
      (await incidents.add({
        id: newId(),
        family: begun.family,
        startedAtMs: alert.startsAtMs,
        firstFiredAtMs: firingAtMs,
        endedAtMs: null,
        carrier: begun.carrier,
        verdict: null,
        outlived: 0,
        secondOpinion: null,
      }));
    if (known === null) {
      open = [incident, ...open];
      events.push({ what: "incident opened", incident });
    }
    firing.set(incident.number, (firing.get(incident.number) ?? 0) + 1);
    await worsen(incident.number, alert.severity);
    // After worsen, which may read the members again: this alert is not stored yet.
    (await membersOf(incident.number)).push(alert);
    if (isSpikeAlert(alert)) await weigh(incident.number, alert);
    return incident;
  }

  /** An incident ends when none of its alerts fires any more. */
  async function leave(alert: Alert, endsAtMs: number): Promise<void> {
    const left = find(alert.incident?.number ?? 0);
    if (left === undefined) return;
    const count = (firing.get(left.number) ?? 1) - 1;
    firing.set(left.number, count);
    if (count > 0) return;
    const ended = { ...left, endedAtMs: endsAtMs };
    await incidents.save(ended);
    events.push({ what: "incident ended", incident: ended });
    open = open.filter((one) => one !== left);
  }

  /** An acknowledgement ends for all members when the incident gets worse than it was then. */
  async function worsen(number: number, severity: Severity): Promise<void> {
    const incident = find(number);
    if (incident === undefined) return;
    const isEnded = ({ acknowledgement, end }: Alert): boolean =>
      end === null && acknowledgement !== null && compareSeverity(severity, acknowledgement.severity) > 0;
    // Thousands may get worse in one transaction without an acknowledgement.
    const worst = worstOf.get(number);
    if (worst !== undefined && compareSeverity(severity, worst) <= 0) return;
    worstOf.set(number, severity);
    if (!(await membersOf(number)).some(isEnded)) return;
    change({ ...incident, outlived: incident.outlived + 1 });
    // Read them again, as earlier steps of this transaction stored them.
    readMembers.delete(number);
    const ended = (await membersOf(number)).filter(isEnded).map((alert) => alert.id);
    for (const id of ended) unacknowledged.add(id);
    await alerts.acknowledge(ended, null);
  }

  /** Begins a fleet verdict if there are enough; updates one that holds (CONTRACT 15). */
  async function weigh(number: number, alert: Alert): Promise<void> {
    const lasting = open.find(({ verdict }) => verdict !== null);
    if (lasting !== undefined) changed.add(lasting.number);
    if (lasting !== undefined || settings.fleet === null || begunOf(alert).length === 0) return;
    const together = countTogether((await membersOf(number)).flatMap(begunOf));
    if (together < settings.fleet.minOrganizations) return;
    const known = firedBeside.get(number);
    const fired = known ?? (await incidents.countSpikeDays(Math.floor(nowMs / dayMs) - rateDays, number));
    firedBeside.set(number, fired);
    const knownForMs = nowMs - Number(await meta.getOrSet(watchedSinceKey, String(nowMs)));
    const organizations = withResult();
    const usual = usualNumber({ weeksLookedAt: weeksLookedAt(), fired, organizations, knownForMs });
    const { isBeyond, probability } = isBeyondChance(together, usual);
    const begun = find(number);
    if (!isBeyond || begun === undefined) return;
    change({ ...begun, verdict: { startsAtMs: nowMs, together, usual, probability, organizations } });
    events.push({ what: "fleet verdict holds", incident: begun });
  }

  async function membersOf(number: number): Promise<Alert[]> {
    const known = readMembers.get(number);
    if (known !== undefined) return known;
    const read = [...((await incidents.members([number])).get(number) ?? [])];
    readMembers.set(number, read);
    return read;
  }

  function find(number: number): Incident | undefined {
    return open.find((one) => one.number === number);
  }

  function change(incident: Incident): void {
    open = open.map((one) => (one.number === incident.number ? incident : one));
    changed.add(incident.number);
  }

  return { take, close };
}

/** An organization's first look cannot say when its spike began. */
function begunOf(alert: Alert): Begun[] {
  const { slug, startsAtMs, isFirstLook } = alert;
  return isSpikeAlert(alert) && isFirstLook !== true ? [{ slug, startsAtMs }] : [];
}

function family({ check, kind }: Alert, report: CheckReport | null): string {
  return familyOf({ check, kind, errorReason: report?.kind === "error" ? report.error.reason : null });
}

function carrierOf(report: CheckReport | null): string | null {
  return report?.kind === "result" ? (report.evidence?.sharedValue ?? null) : null;
}
