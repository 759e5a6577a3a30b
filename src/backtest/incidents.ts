import { incidentToJoin } from "../alerting/decide/membership.ts";
import { countTogether, isBeyondChance, rateDays, usualNumber, weeksLookedAt } from "../alerting/decide/verdict.ts";
import { dayMs } from "../base/time.ts";
import { worstSeverity, type Severity } from "../contract/severity.ts";
import type { ReplayedNotice } from "./replay.ts";

/** A notice and the organization that it is of. */
export interface FleetNotice extends ReplayedNotice {
  readonly slug: string;
}

/** What would have been told as one. Epoch ms. */
export interface ReplayedIncident {
  readonly number: number;
  readonly family: "deaths" | "unreachable";
  readonly startsAtMs: number;
  /** null: some of it still fires at the end. */
  readonly endedAtMs: number | null;
  readonly severity: Severity;
  readonly slugs: readonly string[];
  /** Whether its organizations began together by no chance (a fleet verdict). */
  readonly isOneCause: boolean;
  /** What was told of it, in order. Notices of one instant are one message. */
  readonly told: readonly FleetNotice[];
}

/** What incidents depend on beside the notices. */
export interface IncidentRules {
  readonly withinMs: number;
  /** null: no fleet verdict. */
  readonly minOrganizations: number | null;
  /** The intervals at which the organizations are looked at, ms. */
  readonly intervalsMs: readonly number[];
  /** When the replay begins. */
  readonly fromMs: number;
}

interface Open {
  readonly number: number;
  readonly family: ReplayedIncident["family"];
  readonly firstFiredAtMs: number;
  /** Single deaths have no attributes here. */
  readonly carrier: null;
  readonly begun: { readonly slug: string; readonly startsAtMs: number }[];
  readonly told: FleetNotice[];
  readonly firing: Set<string>;
  verdict: { readonly startsAtMs: number } | null;
}

/** Returns the incidents of what organizations were told, by the daemon's own rules of membership and fleet verdict. */
export function incidentsOf(notices: readonly FleetNotice[], rules: IncidentRules): ReplayedIncident[] {
  const all: Open[] = [];
  const incidentOf = new Map<string, Open>();
  const fired: number[] = [];
  for (const notice of notices.toSorted((left, right) => left.atMs - right.atMs)) {
    const { slug, alertId, atMs, startsAtMs } = notice;
    const family = notice.kind === "verdict" ? "deaths" : "unreachable";
    const open = all.filter(({ firing }) => firing.size > 0).toReversed();
    const incident =
      incidentOf.get(alertId) ??
      incidentToJoin({ family, firingAtMs: atMs, carrier: null }, open, rules.withinMs) ??
      begin(all, family, atMs);
    incident.told.push(notice);
    if (!incidentOf.has(alertId)) {
      incidentOf.set(alertId, incident);
      incident.begun.push({ slug, startsAtMs });
      if (family === "deaths") {
        incident.verdict ??= isOneCause(incident, fired, atMs, rules) ? { startsAtMs: atMs } : null;
        if (incident.verdict === null) fired.push(atMs);
      }
    }
    if (notice.event === "resolved" || notice.event === "recovered") incident.firing.delete(alertId);
    else incident.firing.add(alertId);
  }
  return all.map(({ number, family, begun, told, firing, verdict }) => ({
    number,
    family,
    startsAtMs: Math.min(...begun.map(({ startsAtMs }) => startsAtMs)),
    endedAtMs: firing.size > 0 ? null : (told.at(-1)?.atMs ?? null),
    severity: worstSeverity(told.map(({ severity }) => severity)),
    slugs: [...new Set(begun.map(({ slug }) => slug))],
    isOneCause: verdict !== null,
    told,
  }));
}

function begin(all: Open[], family: Open["family"], firstFiredAtMs: number): Open {
  const known = { begun: [], told: [], firing: new Set<string>(), verdict: null };
  const opened: Open = { number: all.length + 1, family, firstFiredAtMs, carrier: null, ...known };
  all.push(opened);
  return opened;
}

function isOneCause(
  { begun }: Open,
  fired: readonly number[],
  nowMs: number,
  { minOrganizations, intervalsMs, fromMs }: IncidentRules,
): boolean {
  const together = countTogether(begun);
  if (minOrganizations === null || together < minOrganizations) return false;
  const usual = usualNumber({
    weeksLookedAt: intervalsMs.reduce((sum, intervalMs) => sum + weeksLookedAt(intervalMs), 0),
    fired: fired.filter((atMs) => nowMs - atMs <= rateDays * dayMs).length,
    organizations: intervalsMs.length,
    knownForMs: nowMs - fromMs,
  });
  return isBeyondChance(together, usual).isBeyond;
}

/** How many messages that is: what is told of one incident at one instant is one; reminders are none. */
export function messagesOf(incidents: readonly ReplayedIncident[]): number {
  return incidents.reduce((sum, { told }) => sum + new Set(told.map(({ atMs }) => atMs)).size, 0);
}
