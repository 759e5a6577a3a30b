import type { CheckReport } from "../contract/report.ts";
import type { AlertEnd, AlertState } from "../store/alerts/alerts.ts";
import type { Transition } from "./decide/transition.ts";

/** Returns how an alert ends with this step, and what the run that ends it said of its baseline. */
export function endOf(step: Transition, { id, reason }: AlertState, report: CheckReport | null): AlertEnd {
  const atMs = step.changes.find(({ alert, endsAtMs }) => alert.id === id && endsAtMs !== null)?.endsAtMs ?? 0;
  if (reason === "organization_removed" || reason === "check_removed")
    return { atMs, isByRun: false, baselineExclusion: null };
  const exclusion = report?.kind === "result" ? report.result.observed["baselineExclusion"] : undefined;
  const isKnown = exclusion === "none" || exclusion === "applied" || exclusion === "too_much";
  return { atMs, isByRun: true, baselineExclusion: isKnown ? exclusion : null };
}
