import { compareSeverity } from "../../contract/severity.ts";
import type { AlertState } from "../../store/alerts/alerts.ts";
import type { Incident } from "../../store/alerts/incidents.ts";

/**
 * Returns whether an alert that joined after the acknowledgement of its incident is quiet under it (CONTRACT 15): only while the
 * incident has a fleet verdict and is no worse than the incident was. It is not acknowledged itself.
 */
export function isQuietUnder(
  { acknowledgement, verdict }: Pick<Incident, "acknowledgement" | "verdict">,
  alert: AlertState,
): boolean {
  // What came by a link or another service is of those that its receiver was notified of: who joins is notified.
  if (acknowledgement === null || acknowledgement.receiver !== null || verdict === null) return false;
  if (alert.acknowledgement !== null || alert.isTakenBack === true) return false;
  return compareSeverity(alert.severity, acknowledgement.severity) <= 0;
}
