import { dayMs } from "../base/time.ts";
import { familyOf } from "../contract/incident.ts";
import type { CheckReport } from "../contract/report.ts";
import { compareSeverity, type Severity } from "../contract/severity.ts";
import type { Alert } from "../store/alerts/alerts.ts";
import type { FleetVerdict, Incident } from "../store/alerts/incidents.ts";
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
 * Opens the book for the steps of a transaction, in the order in which they will be taken; before anything of them is stored.
 */
export async function openIncidentBook(
  parts: StoreParts,
  steps: readonly ReportedStep[],
  context: IncidentContext,
): Promise<Pick<OpenBook, "take" | "close">> {
  const changes = steps.flatMap(({ step, report }) => step.changes.map((change) => ({ ...change, report })));
  if (changes.length === 0) return { take: async ({ step }) => Promise.resolve(step), close: async () => [] };
  const open = await parts.incidents.open();
  // Only an end asks whether something still fires.
  const firing = changes.some(({ alert }) => alert.end !== null) ? await parts.incidents.firingCounts() : new Map();
  return new OpenBook(parts, context, open, firing);
}

/** The incidents in the transaction in which alerts fire and end: what fires gets its incident, what is over ends. */
class OpenBook {
  readonly #parts: StoreParts;
  readonly #context: IncidentContext;
  /** Newest first. */
  #open: readonly Incident[];
  readonly #firing: Map<number, number>;
  /** Numbers of those that are not stored as they are. */
  readonly #changed = new Set<number>();
  readonly #events: IncidentEvent[] = [];
  /** Read once: thousands may fire in one transaction. */
  readonly #membersOf = new Map<number, Alert[]>();
  /** The worst severity that something of each incident got in this transaction: what is no worse ends nothing more. */
  readonly #worst = new Map<number, Severity>();
  /** Days with a spike that each incident does not have, as stored before this transaction. */
  readonly #firedBeside = new Map<number, number>();
  /** Alerts whose acknowledgement ended with that of their incident: a later step of them must not bring it back. */
  readonly #unacknowledged = new Set<string>();

  constructor(
    parts: StoreParts,
    context: IncidentContext,
    open: readonly Incident[],
    firing: ReadonlyMap<number, number>,
  ) {
    this.#parts = parts;
    this.#context = context;
    this.#open = open;
    this.#firing = new Map(firing);
  }

  /** Returns the step with the incident of each alert that fires with it; its alerts are to be stored as they are then. */
  async take({ step, report }: ReportedStep): Promise<Transition> {
    const joined = new Map<string, Incident>();
    for (const { event, alert } of step.changes) {
      if (alert.end !== null) await this.#leave(alert, alert.end.atMs);
      else if (event === "firing" || event === "unknown") joined.set(alert.id, await this.#join(alert, report));
      else if (event === "escalated") await this.#worsen(alert.incident?.number ?? 0, alert.severity);
    }
    const changed = (alert: Alert): Alert => this.#asItIs(alert, joined.get(alert.id));
    return {
      ...step,
      alerts: step.alerts.map(changed),
      changes: step.changes.map((change) => ({ ...change, alert: changed(change.alert) })),
    };
  }

  /** Stores what the steps changed of the incidents; returns what is worth a line of the log. */
  async close(): Promise<readonly IncidentEvent[]> {
    for (const incident of this.#open) {
      if (!this.#changed.has(incident.number)) continue;
      const { verdict } = incident;
      const organizations = this.#context.withResult();
      const counted = verdict === null ? incident : { ...incident, verdict: { ...verdict, organizations } };
      this.#change(counted);
      await this.#parts.incidents.save(counted);
    }
    return this.#events.map(({ what, incident }) => ({ what, incident: this.#find(incident.number) ?? incident }));
  }

  async #join(alert: Alert, report: CheckReport | null): Promise<Incident> {
    const { settings, newId } = this.#context;
    const firingAtMs = alert.firingAtMs ?? alert.startsAtMs;
    const begun = { family: family(alert, report), firingAtMs, carrier: carrierOf(report) };
    const known = incidentToJoin(begun, this.#open, settings.incidentWithinMs);
    const incident =
      known ??
      (await this.#parts.incidents.add({
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
      this.#open = [incident, ...this.#open];
      this.#events.push({ what: "incident opened", incident });
    }
    this.#firing.set(incident.number, (this.#firing.get(incident.number) ?? 0) + 1);
    await this.#worsen(incident.number, alert.severity);
    // Only now: where acknowledgements end the members are read again, and this one is not stored yet.
    (await this.#members(incident.number)).push(alert);
    if (isSpikeAlert(alert)) await this.#weigh(incident.number, alert);
    return incident;
  }

  /** An incident ends when none of its alerts fires any more. */
  async #leave(alert: Alert, endsAtMs: number): Promise<void> {
    const left = this.#find(alert.incident?.number ?? 0);
    if (left === undefined) return;
    const count = (this.#firing.get(left.number) ?? 1) - 1;
    this.#firing.set(left.number, count);
    if (count > 0) return;
    const ended = { ...left, endedAtMs: endsAtMs };
    await this.#parts.incidents.save(ended);
    this.#events.push({ what: "incident ended", incident: ended });
    this.#open = this.#open.filter((one) => one !== left);
  }

  /** An acknowledgement is of what was: it ends for all when the incident gets worse than it was then. */
  async #worsen(number: number, severity: Severity): Promise<void> {
    const incident = this.#find(number);
    if (incident === undefined) return;
    const isEnded = ({ acknowledgement, end }: Alert): boolean =>
      end === null && acknowledgement !== null && compareSeverity(severity, acknowledgement.severity) > 0;
    // Thousands may get worse in one transaction, and none of them be acknowledged.
    const worst = this.#worst.get(number);
    if (worst !== undefined && compareSeverity(severity, worst) <= 0) return;
    this.#worst.set(number, severity);
    if (!(await this.#members(number)).some(isEnded)) return;
    this.#change({ ...incident, outlived: incident.outlived + 1 });
    // They are read again, as earlier steps of this transaction left them.
    this.#membersOf.delete(number);
    const ended = (await this.#members(number)).filter(isEnded).map((alert) => alert.id);
    for (const id of ended) this.#unacknowledged.add(id);
    await this.#parts.alerts.acknowledge(ended, null);
  }

  /** Whether a fleet verdict begins with this alert, or what it counts grows (CONTRACT 15, Fleet verdict). */
  async #weigh(number: number, alert: Alert): Promise<void> {
    const { settings, nowMs, withResult } = this.#context;
    const lasting = this.#open.find(({ verdict }) => verdict !== null);
    if (lasting !== undefined) this.#changed.add(lasting.number);
    if (lasting !== undefined || settings.fleet === null) return;
    const found = await this.#judgeTogether(number, alert, settings.fleet.minOrganizations);
    const begun = this.#find(number);
    if (found === null || begun === undefined) return;
    this.#change({ ...begun, verdict: { ...found, startsAtMs: nowMs, organizations: withResult() } });
    this.#events.push({ what: "fleet verdict holds", incident: begun });
  }

  async #judgeTogether(number: number, alert: Alert, least: number): Promise<FoundVerdict | null> {
    if (begunOf(alert).length === 0) return null;
    const { nowMs, withResult, weeksLookedAt } = this.#context;
    const members = await this.#members(number);
    const together = countTogether(members.flatMap((member) => begunOf(member)));
    if (together < least) return null;
    const { incidents, meta } = this.#parts;
    const known = this.#firedBeside.get(number);
    const fired = known ?? (await incidents.countSpikeDays(Math.floor(nowMs / dayMs) - rateDays, number));
    this.#firedBeside.set(number, fired);
    const knownForMs = nowMs - Number(await meta.getOrSet(watchedSinceKey, String(nowMs)));
    const organizations = withResult();
    const usual = usualNumber({ weeksLookedAt: weeksLookedAt(), fired, organizations, knownForMs });
    const { isBeyond, probability } = isBeyondChance(together, usual);
    return isBeyond ? { together, usual, probability } : null;
  }

  async #members(number: number): Promise<Alert[]> {
    const known = this.#membersOf.get(number);
    if (known !== undefined) return known;
    const read = [...((await this.#parts.incidents.members([number])).get(number) ?? [])];
    this.#membersOf.set(number, read);
    return read;
  }

  #find(number: number): Incident | undefined {
    return this.#open.find((one) => one.number === number);
  }

  #change(incident: Incident): void {
    this.#open = this.#open.map((one) => (one.number === incident.number ? incident : one));
    this.#changed.add(incident.number);
  }

  #asItIs(alert: Alert, joined: Incident | undefined): Alert {
    const own = this.#unacknowledged.has(alert.id) ? { ...alert, acknowledgement: null } : alert;
    return joined === undefined ? own : { ...own, incident: { id: joined.id, number: joined.number } };
  }
}

type FoundVerdict = Omit<FleetVerdict, "startsAtMs" | "organizations">;

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
