import type { CheckName } from "../../contract/report.ts";
import type { Severity } from "../../contract/severity.ts";
import type { FleetBounds } from "../settings.ts";

/**
 * Answers how many of so many organizations must fire for a fleet verdict by ratio (CONTRACT 7): both bounds in one number. Null
 * where no number decides.
 */
export function fleetBound(bounds: FleetBounds | null, organizations: number): number | null {
  if (bounds === null || bounds.ratio === "auto") return null;
  return Math.max(bounds.minOrganizations, Math.ceil(bounds.ratio * organizations), 1);
}

/** Counts the organizations that the ratio is of: those whose last spike run gave a result, or whose spike alert fires. */
export function countFleet(
  states: Iterable<{ readonly check: CheckName; readonly slug: string; readonly severity: Severity | null }>,
  spiking: Iterable<string>,
): number {
  const slugs = new Set(spiking);
  for (const { check, slug, severity } of states)
    if (check === "dead-asset-spike" && severity !== null && severity !== "unknown") slugs.add(slug);
  return slugs.size;
}
