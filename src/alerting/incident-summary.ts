import { pageUrl } from "../base/url.ts";
import { describeAuthor } from "../contract/actor.ts";
import { speaksForChecker } from "../contract/judgement.ts";
import { stoppedAtMsOf, type SpikeCarrier, type SpikeExcess } from "../contract/spike-evidence.ts";
import { worstSeverity } from "../contract/severity.ts";
import type { Alert } from "../store/alerts/alerts.ts";
import type { Incident } from "../store/alerts/incidents.ts";

export interface IncidentMember extends Alert {
  readonly isSilenced: boolean;
  /** Its failure holds its organization's gate. */
  readonly holdsGate: boolean;
}

/** The facts of an incident for every view (CONTRACT 15): totals of the members that are not silenced, no names. */
export type IncidentSummary = ReturnType<typeof summarizeIncident>;

const mostCarriers = 3;
// The same as for a single spike (evidence/likely-cause.ts).
const concentratedShare = 0.5;
const concentratedLift = 0.1;

/** Returns the summary of an incident over these members: all, a receiver's part, or what an identity may see. */
export function summarizeIncident(
  incident: Incident,
  members: readonly IncidentMember[],
  { externalUrl }: { readonly externalUrl: string | null },
) {
  const { id, number, family, startedAtMs, endedAtMs, secondOpinion } = incident;
  const shown = members.filter(({ isSilenced }) => !isSilenced);
  const firing = shown.filter(({ end }) => end === null);
  // The severity comes from firing members, else from ended ones; silenced ones count when all are silenced.
  const judged = shown.length === 0 ? members : firing.length === 0 ? shown : firing;
  const carriers = family === "deaths" ? sharedCarriers(shown) : [];
  return {
    id,
    number,
    /** null: no `externalUrl`. */
    url: pageUrl(externalUrl, `incidents/${number}`),
    family,
    startedAtMs,
    endedAtMs,
    severity: worstSeverity(judged.map((alert) => alert.severity)),
    organizations: slugsOf(shown).size,
    firing: slugsOf(firing).size,
    /** The sum of the members' last counts that were not ok; null: one of them has none. */
    deaths: family === "deaths" ? sumDeaths(shown) : null,
    onsetAtMs: middleOf(shown.flatMap((alert) => alert.onset?.atMs ?? [])),
    excessStoppedAtMs: excessStoppedAtMs(firing),
    likelyCause: causeOf(incident, shown, carriers),
    /** Shares of all excess deaths, the largest first. */
    carriers: carriers.slice(0, mostCarriers),
    secondOpinion,
    /** The person who acknowledged all firing alerts, or how many people; null: one is not acknowledged. */
    acknowledgedBy: acknowledgedBy(members),
    /** How many organizations' gates it holds. */
    held: slugsOf(members.filter(({ holdsGate }) => holdsGate)).size,
  };
}

/** Returns the members with the most excess deaths: firing ones, or all when none fires. */
export function worstMembers(members: readonly IncidentMember[], limit: number) {
  const firing = members.filter(({ end }) => end === null);
  return (firing.length === 0 ? members : firing)
    .flatMap(({ slug, found }) => {
      const deaths = found?.deaths ?? null;
      return deaths === null ? [] : [{ slug, excess: deaths.count - deaths.expected, ...deaths }];
    })
    .toSorted((left, right) => right.excess - left.excess || (left.slug < right.slug ? -1 : 1))
    .slice(0, limit);
}

export function slugsOf(members: readonly Pick<Alert, "slug">[]): ReadonlySet<string> {
  return new Set(members.map((alert) => alert.slug));
}

export function isSpikeAlert({ check, kind }: Pick<Alert, "check" | "kind">): boolean {
  return check === "dead-asset-spike" && kind === "verdict";
}

function sumDeaths(members: readonly IncidentMember[]) {
  const spikes = members.filter(({ check }) => check === "dead-asset-spike");
  const deaths = spikes.flatMap(({ found }) => found?.deaths ?? []);
  if (spikes.length === 0 || deaths.length < spikes.length) return null;
  const sum = (of: "count" | "expected"): number => deaths.reduce((all, one) => all + one[of], 0);
  return { count: sum("count"), expected: sum("expected") };
}

/**
 * Returns whether the excess goes on (CONTRACT 15), and when it stopped. `stopped`: it stopped for all
 * members that know; `unclear`: none knows. null: no events.
 */
export function incidentExcess(firing: readonly Pick<Alert, "found">[]): SpikeExcess | null {
  const all = firing.flatMap(({ found }) => found?.excess ?? []);
  const known = all.filter(({ state }) => state !== "unclear");
  if (all.length === 0) return null;
  const sums = {
    deathsLastHour: all.reduce((sum, { deathsLastHour }) => sum + deathsLastHour, 0),
    usualPerHour: all.reduce((sum, { usualPerHour }) => sum + usualPerHour, 0),
  };
  if (known.some(({ state }) => state === "ongoing"))
    return { ...sums, state: "ongoing", quietSinceMs: null, expectedEndAtMs: null };
  const quiet = (known.length > 0 ? known : all).map(({ quietSinceMs }) => quietSinceMs);
  const quietSinceMs = quiet.includes(null) ? null : Math.max(...quiet.map((atMs) => atMs ?? 0));
  const ends = known.flatMap(({ expectedEndAtMs }) => expectedEndAtMs ?? []);
  const expectedEndAtMs = ends.length === 0 ? null : Math.max(...ends);
  return { ...sums, state: known.length > 0 ? "stopped" : "unclear", quietSinceMs, expectedEndAtMs };
}

/** Returns when the excess of these alerts had stopped, epoch ms; null: it goes on, or is unknown. */
export function excessStoppedAtMs(firing: readonly Pick<Alert, "found">[]): number | null {
  const excess = incidentExcess(firing);
  return excess === null ? null : stoppedAtMsOf(excess);
}

/** Returns when the excess of each alert stopped, epoch ms, for those that have stopped. */
export function stoppedAtMsOfEach(members: readonly Pick<Alert, "found">[]): number[] {
  return members.flatMap(({ found }) => (found?.excess ? (stoppedAtMsOf(found.excess) ?? []) : []));
}

/** The median; of two middle values the earlier one, so that it is a real onset. */
function middleOf(instants: readonly number[]): number | null {
  const sorted = instants.toSorted((left, right) => left - right);
  return sorted[Math.ceil(sorted.length / 2) - 1] ?? null;
}

/** The values that the excess deaths share. A member's shares are weighted by its excess. */
export function sharedCarriers(members: readonly Pick<IncidentMember, "found">[]): SpikeCarrier[] {
  const weighted = members.flatMap(({ found }) => {
    const excess = found?.deaths ? Math.max(0, found.deaths.count - found.deaths.expected) : 0;
    return found === undefined || excess === 0 ? [] : [{ carriers: found.carriers, excess }];
  });
  const all = weighted.reduce((sum, { excess }) => sum + excess, 0);
  const byValue = Map.groupBy(
    weighted.flatMap(({ carriers, excess }) => carriers.map((carrier) => ({ carrier, weight: excess / all }))),
    ({ carrier: { key, value } }) => JSON.stringify([key, value]),
  );
  return [...byValue.values()]
    .flatMap((same) => {
      const [first] = same;
      if (first === undefined) return [];
      const { key, value } = first.carrier;
      const sum = (share: "share" | "usualShare"): number =>
        same.reduce((total, { carrier, weight }) => total + carrier[share] * weight, 0);
      return [{ key, value, share: sum("share"), usualShare: sum("usualShare") }];
    })
    .toSorted(
      (left, right) =>
        right.share - left.share || (`${left.key}=${left.value}` < `${right.key}=${right.value}` ? -1 : 1),
    );
}

/** The cause from a second opinion, else from revivals, else from shared values (CONTRACT 15). */
export function causeOf(
  { family, secondOpinion }: Pick<Incident, "family" | "secondOpinion">,
  members: readonly Pick<IncidentMember, "found">[],
  carriers: readonly SpikeCarrier[],
): "checker" | "assets" | "unclear" {
  if (family !== "deaths") return "unclear";
  if (secondOpinion?.verdict === "refuted") return "checker";
  if (secondOpinion?.verdict === "confirmed") return "assets";
  if (foundAlive(members) > 0) return "checker";
  const isConcentrated = carriers.some(
    ({ share, usualShare }) => share >= concentratedShare && share - usualShare >= concentratedLift,
  );
  if (isConcentrated) return "checker";
  const isSpread = members.length > 0 && members.every((alert) => alert.found?.cause === "assets");
  return isSpread ? "assets" : "unclear";
}

/** Returns how many deaths were found alive, if enough to suspect the checker; else 0. */
export function foundAlive(members: readonly Pick<IncidentMember, "found">[]): number {
  const revived = members.flatMap((alert) => alert.found?.revived ?? []);
  const judged = revived.reduce((sum, one) => sum + one.judged, 0);
  const revivedCount = revived.reduce((sum, { count }) => sum + count, 0);
  return judged > 0 && speaksForChecker({ revivedCount, share: revivedCount / judged }) ? revivedCount : 0;
}

function acknowledgedBy(members: readonly IncidentMember[]): string | null {
  const firing = members.filter(({ end }) => end === null);
  const acknowledgements = firing.flatMap((alert) => alert.acknowledgement ?? []);
  if (acknowledgements.length < firing.length) return null;
  const names = new Set(acknowledgements.map(({ by, note }) => describeAuthor(by, note)));
  const [first = null] = names;
  return names.size > 1 ? `${names.size} people` : first;
}
