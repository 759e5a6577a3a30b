import { medianOf } from "../../base/numbers.ts";
import type { CheckReport } from "../report.ts";
import type { SpikeOnset } from "../spike-evidence.ts";

/** What the last result of an organization whose spike alert fires says of its deaths. */
export interface FleetMember {
  readonly onset: SpikeOnset | null;
  /** Deaths in its window, and how many of these were found alive; null where no events say. */
  readonly deaths: { readonly count: number; readonly revivedCount: number } | null;
}

/** The facts that many organizations that spike at once have in common. Times are epoch ms. */
export interface FleetEvidence {
  /** The median of the onsets; null: none is known. */
  readonly beganAtMs: number | null;
  /** The markers that many of the onsets follow, oldest first. */
  readonly markers: readonly { readonly text: string; readonly atMs: number }[];
  /** null: no events say it. */
  readonly undone: {
    /** Share of the deaths that were found alive, 0–1. */
    readonly share: number;
    /** Organizations most of whose deaths were. */
    readonly organizations: number;
  } | null;
}

// A marker of one organization is not about the fleet, and would name it to the receivers of others.
const leastMarkedShare = 0.2;
const mostMarkers = 3;
const mostlyUndone = 0.5;

/** Returns the member of an alert that fires; `report` is the last one with a result. */
export function fleetMember({ onset }: { readonly onset?: SpikeOnset }, report: CheckReport | null): FleetMember {
  if (report?.kind !== "result") return { onset: onset ?? null, deaths: null };
  const { counts, evidence } = report;
  const revived = evidence?.revived ?? null;
  const count = counts.currentCount;
  const isKnown = revived !== null && count !== null && count > 0;
  return {
    onset: onset ?? evidence?.onset ?? null,
    deaths: isKnown ? { count, revivedCount: Math.min(revived.count, count) } : null,
  };
}

/** Returns what the members have in common. */
export function fleetEvidence(members: readonly FleetMember[]): FleetEvidence {
  const begun = members.flatMap(({ onset }) => onset ?? []);
  const beganAtMs = medianOf(begun.map(({ atMs }) => atMs));
  return {
    beganAtMs: beganAtMs === null ? null : Math.round(beganAtMs),
    markers: commonMarkers(begun),
    undone: undoneOf(members),
  };
}

function commonMarkers(begun: readonly SpikeOnset[]): FleetEvidence["markers"] {
  const named = begun.flatMap(({ marker }) => (marker === null ? [] : [marker]));
  const groups = [...Map.groupBy(named, ({ text, atMs }) => JSON.stringify([atMs, text])).values()];
  return groups
    .filter(({ length }) => length >= 2 && length >= begun.length * leastMarkedShare)
    .toSorted((left, right) => right.length - left.length)
    .slice(0, mostMarkers)
    .flatMap(([marker]) => (marker === undefined ? [] : [{ text: marker.text, atMs: marker.atMs }]))
    .toSorted((left, right) => left.atMs - right.atMs);
}

function undoneOf(members: readonly FleetMember[]): FleetEvidence["undone"] {
  const known = members.flatMap(({ deaths }) => deaths ?? []);
  const count = known.reduce((sum, one) => sum + one.count, 0);
  if (count === 0) return null;
  const revivedCount = known.reduce((sum, one) => sum + one.revivedCount, 0);
  const mostly = known.filter((one) => one.revivedCount >= one.count * mostlyUndone);
  return { share: revivedCount / count, organizations: mostly.length };
}
