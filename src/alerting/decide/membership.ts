import { dayMs } from "../../base/time.ts";
import type { Incident } from "../../store/alerts/incidents.ts";

/** An alert that begins to fire, as far as membership looks at it. */
export interface FiringAlert {
  readonly family: string;
  readonly firingAtMs: number;
  /** `key=value` that most of its deaths share, by the evidence of the report that made it fire; null: none is known. */
  readonly carrier: string | null;
}

/** An incident, as far as membership looks at it. */
export type OpenIncident = Pick<Incident, "family" | "firstFiredAtMs" | "carrier"> & {
  readonly verdict: { readonly startsAtMs: number } | null;
};

// By then a slow list has filled a window, and one that is looked at daily was looked at. In a fleet where hundreds
// fire by chance an incident that took them all would never end (docs/comparison.md).
const underVerdictMs = dayMs;

/**
 * Returns the open incident that a firing alert joins; null: it opens one (CONTRACT 15, Unit). In this order: the
 * newest incident of its family within 24 hours of its fleet verdict; the same within `withinMs` of the first alert
 * that fired in it; for deaths, the newest one with the same carrier. `open` is newest first. Where the wall clock went
 * back behind the first alert, that counts as within.
 */
export function incidentToJoin<Known extends OpenIncident>(
  { family, firingAtMs, carrier }: FiringAlert,
  open: readonly Known[],
  withinMs: number,
): Known | null {
  const own = open.filter((incident) => incident.family === family);
  const [newest] = own;
  if (newest === undefined) return null;
  if (newest.verdict !== null && firingAtMs - newest.verdict.startsAtMs <= underVerdictMs) return newest;
  if (firingAtMs - newest.firstFiredAtMs <= withinMs) return newest;
  if (family !== "deaths" || carrier === null) return null;
  return own.find((incident) => incident.carrier === carrier) ?? null;
}
