import type { Incident } from "../../store/alerts/incidents.ts";

/** An alert that begins to fire, as far as membership looks at it. */
export interface FiringAlert {
  readonly family: string;
  readonly firingAtMs: number;
  /** `key=value` that most of its deaths share, by the evidence of the report that made it fire; null: none is known. */
  readonly carrier: string | null;
}

/**
 * Returns the open incident that a firing alert joins; null: it opens one (CONTRACT 15, Unit). In this order: the newest
 * incident of its family while that has a fleet verdict; the same within `withinMs` of the first alert that fired in it; for
 * deaths, the newest one with the same carrier. `open` is newest first. Where the wall clock went back behind the first alert,
 * that counts as within.
 */
export function incidentToJoin(
  { family, firingAtMs, carrier }: FiringAlert,
  open: readonly Incident[],
  withinMs: number,
): Incident | null {
  const own = open.filter((incident) => incident.family === family);
  const [newest] = own;
  if (newest === undefined) return null;
  if (newest.verdict !== null || firingAtMs - newest.firstFiredAtMs <= withinMs) return newest;
  if (family !== "deaths" || carrier === null) return null;
  return own.find((incident) => incident.carrier === carrier) ?? null;
}
