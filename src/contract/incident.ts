import { checkNames, type CheckErrorReason, type CheckName } from "./report.ts";

/** Families of several checks; every other check is a family of its own name (CONTRACT 15). */
export const sharedFamilies = ["deaths", "unreachable", "no-events"] as const;

// Unknown alerts are about the way to the service, except for these two reasons: events are missing.
const reasonsOfMissingEvents: readonly CheckErrorReason[] = ["no_events", "stream_silent"];

/** Returns the family of an alert and of its incident; `errorReason` is that of the run with which it fired. */
export function familyOf({
  check,
  kind,
  errorReason,
}: {
  readonly check: CheckName;
  readonly kind: "verdict" | "unknown";
  readonly errorReason: CheckErrorReason | null;
}): string {
  if (kind === "unknown")
    return errorReason !== null && reasonsOfMissingEvents.includes(errorReason) ? "no-events" : "unreachable";
  return familyOfCheck(check);
}

function familyOfCheck(check: CheckName): string {
  if (check === "dead-asset-spike" || check === "sentinel") return "deaths";
  return check === "event-flow" ? "no-events" : check;
}

/** Returns the families of these checks' alerts, the shared ones first. */
export function familiesOf(checks: Iterable<CheckName>): readonly string[] {
  return [...new Set<string>([...sharedFamilies, ...[...checks].map(familyOfCheck)])];
}

export const incidentFamilies = familiesOf(checkNames);
