import { dayMs } from "../../base/time.ts";
import type { Incident } from "../../store/alerts/incidents.ts";

export interface FiringAlert {
  readonly family: string;
  readonly firingAtMs: number;
  /** `key=value` that most of its deaths share, from the report that made it fire; null: unknown. */
  readonly carrier: string | null;
}

export type OpenIncident = Pick<Incident, "family" | "firstFiredAtMs" | "carrier"> & {
  readonly verdict: { readonly startsAtMs: number } | null;
};

// A day fills a window and has a run of each daily check. Without this limit a fleet where hundreds fire by chance
// would have one incident without end (docs/comparison.md).
const underVerdictMs = dayMs;

/**
 * Returns the open incident that a firing alert joins; null: it opens a new one (CONTRACT 15). In this order: the
 * newest incident of its family within 24 hours of its fleet verdict; the same within `withinMs` of its first alert;
 * for deaths, the newest with the same carrier. `open` is newest first. A time before the first alert counts as within:
 * the clock was set back.
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
