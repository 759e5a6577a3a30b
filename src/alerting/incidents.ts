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

/** A step of the alerts of one check, and the report that made it; null: no run did. */
export interface ReportedStep {
  readonly step: Transition;
  readonly report: CheckReport | null;
}

/** What incidents are decided by, beside the store. */
export interface IncidentContext {
  readonly settings: Pick<AlertingSettings, "incidentWithinMs" | "fleet" | "targetOf">;
  readonly newId: () => string;
  readonly nowMs: number;
  /** How many organizations' last spike run gave a result. */
  readonly withResult: () => number;
  /** Organization-weeks that were looked at in the last 30 minutes (decide/verdict.ts). */
  readonly weeksLookedAt: () => number;
}

/** Something that happened to an incident. */
export interface IncidentEvent {
  readonly what: "incident opened" | "incident ended" | "fleet verdict holds";
  readonly incident: Incident;
}

/** The key in the store's table `meta` of the instant since which the fleet is watched, epoch ms. */
export const watchedSinceKey = "watchedSinceMs";

/**
 * Opens the book of the incidents for the steps of a transaction, in the order in which they will be taken and before
 * anything of them is stored: what fires gets its incident, what is over ends.
 */
export async function openIncidentBook(
  { incidents, alerts, meta }: StoreParts,
  steps: readonly ReportedStep[],
  { settings, newId, nowMs, withResult, weeksLookedAt }: IncidentContext,
) {
  const changes = steps.flatMap(({ step }) => step.changes);
  /** Newest first. */
  let open: readonly Incident[] = changes.length === 0 ? [] : await incidents.open();
  // Only an end asks whether something still fires.
  const isEnding = changes.some(({ alert }) => alert.end !== null);
  const firing = new Map(isEnding ? await incidents.firingCounts() : []);
  /** Numbers of those that are not stored as they are. */
  const changed = new Set<number>();
  const events: IncidentEvent[] = [];
  /** Read once: thousands may fire in one transaction. */
  const readMembers = new Map<number, Alert[]>();
  /** The worst severity that something of each incident got in this transaction: what is no worse ends nothing more. */
  const worstOf = new Map<number, Severity>();
  /** Days with a spike that each incident does not have, as stored before this transaction. */
  const firedBeside = new Map<number, number>();
  /** Alerts whose acknowledgement ended with that of their incident: a later step of them must not bring it back. */
  const unacknowledged = new Set<string>();

  /** Returns the step with the incident of each alert that fires with it; its alerts are to be stored as they are then. */
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

  /** Stores what the steps changed of the incidents; returns what is worth a line of the log. */
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
    // Only now: where acknowledgements end the members are read again, and this one is not stored yet.
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

  /** An acknowledgement is of what was: it ends for all when the incident gets worse than it was then. */
  async function worsen(number: number, severity: Severity): Promise<void> {
    const incident = find(number);
    if (incident === undefined) return;
    const isEnded = ({ acknowledgement, end }: Alert): boolean =>
      end === null && acknowledgement !== null && compareSeverity(severity, acknowledgement.severity) > 0;
    // Thousands may get worse in one transaction, and none of them be acknowledged.
    const worst = worstOf.get(number);
    if (worst !== undefined && compareSeverity(severity, worst) <= 0) return;
    worstOf.set(number, severity);
    if (!(await membersOf(number)).some(isEnded)) return;
    change({ ...incident, outlived: incident.outlived + 1 });
    // They are read again, as earlier steps of this transaction left them.
    readMembers.delete(number);
    const ended = (await membersOf(number)).filter(isEnded).map((alert) => alert.id);
    for (const id of ended) unacknowledged.add(id);
    await alerts.acknowledge(ended, null);
  }

  /** Whether a fleet verdict begins with this alert, or what it counts grows (CONTRACT 15, Fleet verdict). */
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

/** What began with the first look at an organization says nothing of when it began. */
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
