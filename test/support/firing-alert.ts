import type { Alert } from "../../src/store/alerts/alerts.ts";
import type { Incident } from "../../src/store/alerts/incidents.ts";

/** Returns the alert of a failing spike of acme that fires since it began. */
export function firingAlert(id: string, startsAtMs: number, given: Partial<Alert> = {}): Alert {
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
    end: null,
    ...given,
  };
}

/** Returns an incident of deaths that is open since its first alert, without a verdict and without any act. */
export function openIncident(startedAtMs: number, given: Partial<Incident> = {}): Incident {
  return {
    number: 41,
    id: "the-incident",
    family: "deaths",
    startedAtMs,
    firstFiredAtMs: startedAtMs,
    endedAtMs: null,
    carrier: null,
    verdict: null,
    outlived: 0,
    secondOpinion: null,
    ...given,
  };
}
