import { medianOf } from "../../base/numbers.ts";
import type { CheckReport, ResultReport } from "../report.ts";
import type { SpikeOnset } from "../spike-evidence.ts";

/** An organization whose spike alert fires, with its last result. */
export interface SpikingMember {
  readonly alert: { readonly onset?: SpikeOnset };
  readonly report: CheckReport | null;
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

/** Returns what the members have in common. */
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
