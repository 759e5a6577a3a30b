import { medianOf } from "../../base/numbers.ts";
import type { CheckReport, ResultReport } from "../report.ts";
import type { SpikeOnset } from "../spike-evidence.ts";

/** An organization with a firing spike alert, and its last result. */
export interface SpikingMember {
  readonly alert: { readonly onset?: SpikeOnset };
  readonly report: CheckReport | null;
}

/** The facts that organizations that spike together have in common. Times are epoch ms. */
export interface FleetEvidence {
  /** The median of the onsets; null: none is known. */
  readonly beganAtMs: number | null;
  /** Markers before many of the onsets, oldest first. */
  readonly markers: readonly { readonly text: string; readonly atMs: number }[];
  /** null: there are no events of revivals. */
  readonly undone: {
    /** The share of the deaths that were found alive, 0–1. */
    readonly share: number;
    /** Organizations with most of their deaths found alive. */
    readonly organizations: number;
  } | null;
}

// A marker of one organization says nothing about the fleet, and would name it to receivers of others.
const leastMarkedShare = 0.2;
const mostMarkers = 3;
const mostlyUndone = 0.5;

export function fleetEvidence(members: readonly SpikingMember[]): FleetEvidence {
  const results = members.map(({ report }) => (report?.kind === "result" ? report : null));
  const begun = members.flatMap(({ alert }, index) => alert.onset ?? results[index]?.evidence?.onset ?? []);
  const beganAtMs = medianOf(begun.map(({ atMs }) => atMs));
  return {
    beganAtMs: beganAtMs === null ? null : Math.round(beganAtMs),
    markers: commonMarkers(begun),
    undone: undoneOf(results.filter((result) => result !== null)),
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

function undoneOf(results: readonly ResultReport[]): FleetEvidence["undone"] {
  const known = results.flatMap(({ counts: { currentCount: count }, evidence }) => {
    const revived = evidence?.revived ?? null;
    return revived === null || count === null || count === 0 ? [] : [{ count, undone: Math.min(revived.count, count) }];
  });
  if (known.length === 0) return null;
  const sum = (key: "count" | "undone"): number => known.reduce((all, one) => all + one[key], 0);
  const mostly = known.filter(({ count, undone }) => undone >= count * mostlyUndone);
  return { share: sum("undone") / sum("count"), organizations: mostly.length };
}
