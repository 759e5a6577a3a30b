import { breakAddresses, ownOrigins } from "../../../base/broken-address.ts";
import { brokenResult } from "../../../contract/healthcheck.ts";
import { formatCount } from "../../../base/numbers.ts";
import { formatLength } from "../../parts/figures.ts";
import { compareWorst, type RowCheck } from "./row.ts";
import type { OtherCheck } from "../organization/other-checks.ts";
import { viewCheck } from "../../api/check-view.ts";
import type { CheckSnapshot } from "../../ports/checks.ts";

/** Returns the checks beside the spike check that are not ok, the worst first; one that never ran says nothing yet. */
export function rowChecksOf(snapshots: readonly CheckSnapshot[], nowMs: number): RowCheck[] {
  return snapshots
    .flatMap((snapshot): RowCheck[] => {
      const { check, severity, sinceMs } = headOf(snapshot, nowMs);
      return severity === null || severity === "ok" ? [] : [{ check, severity, sinceMs }];
    })
    .toSorted((left, right) => compareWorst(right.severity, left.severity) || (left.check < right.check ? -1 : 1));
}

/** Returns the same with all that the organization's page shows, those that are ok too. */
export function otherChecksOf(snapshots: readonly CheckSnapshot[], nowMs: number): OtherCheck[] {
  return snapshots
    .map((snapshot): OtherCheck => {
      const { state, alerts } = snapshot;
      // The findings of a review queue name reports: this page is public.
      const view = viewCheck(snapshot, nowMs, false);
      const result = view.result === null ? null : brokenResult(view.result, ownOrigins(view.result.appUrl));
      const head = headOf(snapshot, nowMs);
      const alert = alerts.find((one) => one.state === "firing") ?? alerts[0];
      const messages = view.error === null ? [] : [`${breakAddresses(view.error.message)} (${view.error.reason})`];
      return {
        ...head,
        lastRunMs: state.lastRunAtMs,
        nextRunMs: state.nextDueAtMs,
        isRunning: state.isRunning,
        alert: alert === undefined ? null : alert.state === "firing" && alert.silenced ? "silenced" : alert.state,
        saw: result === null ? "" : sawOf(result.observed),
        messages: [...messages, ...(result?.findings ?? []).map(({ message }) => message)],
      };
    })
    .toSorted(
      (left, right) =>
        compareWorst(right.severity ?? "unknown", left.severity ?? "unknown") || (left.check < right.check ? -1 : 1),
    );
}

function headOf(snapshot: CheckSnapshot, nowMs: number): Pick<OtherCheck, "check" | "severity" | "sinceMs"> {
  const { state } = snapshot;
  const severity = viewCheck(snapshot, nowMs, false).severity;
  // A result that became stale is unknown since its run.
  return {
    check: state.check,
    severity,
    sinceMs: severity === state.severity ? state.severitySinceMs : state.lastRunAtMs,
  };
}

function sawOf(observed: Readonly<Record<string, unknown>>): string {
  const { sentinels, dead, checkedAssets, usualCheckedAssets, queued, oldestAgeSeconds } = observed;
  if (typeof sentinels === "number" && typeof dead === "number")
    return `${formatCount(dead)} of ${formatCount(sentinels)} called dead`;
  if (typeof checkedAssets === "number") {
    const usual = typeof usualCheckedAssets === "number" ? `, usually ${formatCount(usualCheckedAssets)}` : "";
    return `${formatCount(checkedAssets)} assets checked in 24\u00a0h${usual}`;
  }
  const { longDeaths, longRevived } = observed;
  if (typeof longDeaths === "number" && typeof longRevived === "number")
    return `${formatCount(longRevived)} of ${formatCount(longDeaths)} deaths undone`;
  if (typeof queued === "number") {
    const oldest =
      typeof oldestAgeSeconds === "number" ? `, the oldest for ${formatLength(oldestAgeSeconds * 1_000)}` : "";
    return `${formatCount(queued)} wait${oldest}`;
  }
  return "";
}
