import { incidentToJoin } from "../alerting/decide/membership.ts";
import { countTogether, isBeyondChance, rateDays, usualNumber, weeksLookedAt } from "../alerting/decide/verdict.ts";
import { dayMs } from "../base/time.ts";
import { worstSeverity } from "../contract/severity.ts";
import type { ReplayedNotice } from "./replay.ts";

export interface IncidentRules {
  readonly withinMs: number;
  /** null: no fleet verdict. */
  readonly minOrganizations: number | null;
  /** The intervals of the organizations' schedules, ms. */
  readonly intervalsMs: readonly number[];
  readonly fromMs: number;
}

/** Opens an incident. What deaths share is found for what is shown alone (cause.ts), so it has no carrier. */
function openIncident(number: number, family: "deaths" | "unreachable", firstFiredAtMs: number) {
  return {
    number,
    family,
    firstFiredAtMs,
    carrier: null,
    begun: [] as { readonly slug: string; readonly startsAtMs: number }[],
    told: [] as ReplayedNotice[],
    firing: new Set<string>(),
    verdict: null as { readonly startsAtMs: number } | null,
  };
}

export type ReplayedIncident = ReturnType<typeof incidentsOf>[number];

/** Returns the incidents of these notices, by the daemon's rules of membership and fleet verdict. */
export function incidentsOf(notices: readonly ReplayedNotice[], rules: IncidentRules) {
  const all: ReturnType<typeof openIncident>[] = [];
  const incidentOf = new Map<string, (typeof all)[number]>();
  const fired: number[] = [];
  for (const notice of notices.toSorted((left, right) => left.atMs - right.atMs)) {
    const { slug, alertId, atMs, startsAtMs } = notice;
    const family = notice.kind === "verdict" ? "deaths" : "unreachable";
    const open = all.filter(({ firing }) => firing.size > 0).toReversed();
    const known = incidentOf.get(alertId);
    const incident =
      known ??
      incidentToJoin({ family, firingAtMs: atMs, carrier: null }, open, rules.withinMs) ??
      openIncident(all.length + 1, family, atMs);
    if (incident.told.push(notice) === 1) all.push(incident);
    if (known === undefined) {
      incidentOf.set(alertId, incident);
      incident.begun.push({ slug, startsAtMs });
      if (family === "deaths") {
        incident.verdict ??= isOneCause(incident.begun, fired, atMs, rules) ? { startsAtMs: atMs } : null;
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
    /** null: it still fires at the end. */
    endedAtMs: firing.size > 0 ? null : (told.at(-1)?.atMs ?? null),
    severity: worstSeverity(told.map(({ severity }) => severity)),
    slugs: [...new Set(begun.map(({ slug }) => slug))],
    /** It has a fleet verdict. */
    isOneCause: verdict !== null,
    /** In order; notices at the same instant are one message. */
    told,
  }));
}

function isOneCause(
  begun: readonly { readonly slug: string; readonly startsAtMs: number }[],
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

/** Returns how many messages these are: one for each incident and instant, without reminders. */
export function messagesOf(incidents: readonly ReplayedIncident[]): number {
  return incidents.reduce((sum, { told }) => sum + new Set(told.map(({ atMs }) => atMs)).size, 0);
}
