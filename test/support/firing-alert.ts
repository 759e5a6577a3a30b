import type { AlertState } from "../../src/store/alerts/alerts.ts";

/** Returns the alert of a failing spike of acme that fires since it began. */
export function firingAlert(id: string, startsAtMs: number, given: Partial<AlertState> = {}): AlertState {
  return {
    id,
    check: "dead-asset-spike",
    slug: "acme",
    kind: "verdict",
    state: "firing",
    severity: "fail",
    startsAtMs,
    firingAtMs: startsAtMs,
    okSinceMs: null,
    unknownRuns: 0,
    peak: { severity: "fail", currentCount: 90, atMs: startsAtMs },
    acknowledgement: null,
    reason: "not_ok",
    ...given,
  };
}
