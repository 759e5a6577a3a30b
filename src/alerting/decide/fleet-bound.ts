import type { FleetBounds } from "../settings.ts";

/**
 * Answers how many of so many organizations must fire for a fleet verdict by ratio (CONTRACT 7): both bounds in one number. Null
 * where no number decides.
 */
export function fleetBound(bounds: FleetBounds | null, organizations: number): number | null {
  if (bounds === null || bounds.ratio === "auto") return null;
  return Math.max(bounds.minOrganizations, Math.ceil(bounds.ratio * organizations), 1);
}
