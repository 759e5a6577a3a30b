import { dayMs, minuteMs } from "../../src/base/time.ts";
import { incidentToJoin, type OpenIncident } from "../../src/alerting/decide/membership.ts";
import {
  countTogether,
  isBeyondChance,
  rateDays,
  usualNumber,
  weeksLookedAt,
  type Begun,
} from "../../src/alerting/decide/verdict.ts";
import type { Fleet, WorldAlert } from "./world.ts";

/** An incident of the replay; it is open until the last of its alerts ends. */
export interface ReplayedIncident extends OpenIncident {
  verdict: { readonly startsAtMs: number } | null;
  endsAtMs: number;
  readonly alerts: WorldAlert[];
  /** How many of its alerts are in the usual rate. */
  spikeDays: number;
  /** What counts for a verdict. */
  readonly begun: Begun[];
}

// The defaults (CONTRACT 15).
const withinMs = 30 * minuteMs;
const minOrganizations = 3;

/** Replays the incidents of a fleet's deaths: the order of src/alerting/incidents.ts over the same decisions, without a store. */
export class ReplayedBook {
  readonly incidents: ReplayedIncident[] = [];
  readonly #fleet: Fleet;
  /** Newest first. */
  #open: ReplayedIncident[] = [];
  /** By day, the incident of each organization's first alert. */
  readonly #spikeDays = new Map<number, Map<string, ReplayedIncident>>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Takes an alert; they come in the order in which they fire. */
  take(alert: WorldAlert): void {
    const { slug, firingAtMs, endsAtMs } = alert;
    this.#open = this.#open.filter((one) => one.endsAtMs > firingAtMs);
    const joined = incidentToJoin({ family: "deaths", firingAtMs, carrier: null }, this.#open, withinMs);
    const incident = joined ?? this.#openOne(firingAtMs);
    incident.endsAtMs = Math.max(incident.endsAtMs, endsAtMs);
    incident.alerts.push(alert);
    if (!alert.isFirstLook) incident.begun.push({ slug, startsAtMs: firingAtMs });
    const isLasting = this.#open.some(({ verdict }) => verdict !== null);
    if (incident.verdict === null) this.#weigh(incident, alert, isLasting);
  }

  #openOne(firstFiredAtMs: number): ReplayedIncident {
    const opened: ReplayedIncident = {
      family: "deaths",
      firstFiredAtMs,
      carrier: null,
      verdict: null,
      endsAtMs: firstFiredAtMs,
      alerts: [],
      spikeDays: 0,
      begun: [],
    };
    this.incidents.push(opened);
    this.#open = [opened, ...this.#open];
    return opened;
  }

  #weigh(incident: ReplayedIncident, { slug, firingAtMs, isFirstLook }: WorldAlert, isLasting: boolean): void {
    const day = Math.floor(firingAtMs / dayMs);
    const noted = this.#spikeDays.get(day) ?? new Map<string, ReplayedIncident>();
    this.#spikeDays.set(day, noted);
    if (!noted.has(slug)) incident.spikeDays++;
    noted.set(slug, noted.get(slug) ?? incident);
    this.#spikeDays.delete(day - rateDays - 1);
    if (isFirstLook || isLasting) return;
    const together = countTogether(incident.begun);
    if (together < minOrganizations) return;
    const { organizations, intervalMs } = this.#fleet;
    const usual = usualNumber({
      weeksLookedAt: organizations * weeksLookedAt(intervalMs),
      fired: [...this.#spikeDays.values()].reduce((sum, slugs) => sum + slugs.size, 0) - incident.spikeDays,
      organizations,
      knownForMs: firingAtMs,
    });
    if (!isBeyondChance(together, usual).isBeyond) return;
    incident.verdict = { startsAtMs: firingAtMs };
    for (const slugs of this.#spikeDays.values())
      for (const [noted, of] of slugs) if (of === incident) slugs.delete(noted);
  }
}
