import type { ErrorReport, ResultReport } from "../../contract/report.ts";
import type { SpikeOnset } from "../../contract/spike-evidence.ts";
import { compareSeverity, type Severity } from "../../contract/severity.ts";
import type { AlertPeak, Alert } from "../../store/alerts/alerts.ts";
import type { Reason } from "./reasons.ts";
import type { AlertPolicy } from "../settings.ts";

/** The events at the begin and the end of an alert, by kind. */
export const eventsOf = {
  verdict: { begun: "firing", over: "resolved" },
  unknown: { begun: "unknown", over: "recovered" },
} as const;

/** A change of a firing alert. */
export type ChangeEvent = "firing" | "escalated" | "deescalated" | "resolved" | "unknown" | "recovered";

/** A change that receivers may be notified of. */
export interface TransitionChange {
  readonly event: ChangeEvent;
  readonly alert: Alert;
  readonly previousSeverity: Severity;
  readonly reason: Reason;
}

/** The facts of a run besides its verdict. */
export interface RunFacts extends Pick<Alert, "found" | "onset" | "windowHours"> {
  readonly baselineDaysKnown?: number;
  /** The run cannot say when deaths began: see Alert. */
  readonly isFirstLook?: boolean;
}

type RunFields = "check" | "slug" | "startedAtMs" | "kind" | "severity";
type ResultRun = Pick<ResultReport, RunFields | "counts" | "baselineCoverage"> & RunFacts;
export type TransitionReport = ResultRun | (Pick<ErrorReport, RunFields> & RunFacts);

export interface TransitionInput {
  readonly states: readonly Alert[];
  readonly report: TransitionReport;
  readonly policy: AlertPolicy;
  readonly newId: () => string;
}

/** The changes that a report makes to the alerts of its (check, slug). */
export interface Transition {
  /** The alerts to save: new, changed and ended ones. */
  readonly alerts: readonly Alert[];
  /** The ids of pending alerts to delete. */
  readonly forgotten: readonly string[];
  readonly changes: readonly TransitionChange[];
  /** The reason for each alert's state, changed or not. */
  readonly decisions: readonly { readonly alertId: string; readonly reason: Reason }[];
}

// With fewer days, a single day decides a median (CONTRACT 2).
const leastDaysKnown = 3;

type Draft = { readonly [Kind in keyof Transition]: Transition[Kind][number][] };

const newDraft = (): Draft => ({ alerts: [], forgotten: [], changes: [], decisions: [] });

/**
 * Decides what a report changes (CONTRACT 7). A result moves the alerts of both kinds. An error only moves the alert of
 * kind unknown; the verdict alert keeps its clocks. `startedAtMs` is the run's time (runTimeMs). When the wall clock
 * went back, a wait begins again.
 */
export function transition(input: TransitionInput): Transition {
  const draft = newDraft();
  const { report } = input;
  const verdict = input.states.find(({ kind }) => kind === "verdict") ?? null;
  const unknown = input.states.find(({ kind }) => kind === "unknown") ?? null;
  if (report.kind === "error") {
    countUnknown(draft, input, report, unknown);
    return draft;
  }
  if (unknown !== null) endUnknown(draft, report, unknown);
  if (report.severity === "ok") {
    if (verdict !== null) takeOk(draft, input, report, verdict);
  } else {
    takeNotOk(draft, input, report, verdict);
  }
  return draft;
}

/** Ends an alert whose organization or check is not configured any more. A pending one is deleted. */
export function removal(state: Alert, reason: "organization_removed" | "check_removed", nowMs: number): Transition {
  const draft = newDraft();
  end(draft, state, Math.max(nowMs, state.startsAtMs), reason);
  return draft;
}

function takeNotOk(draft: Draft, input: TransitionInput, report: ResultRun, before: Alert | null): void {
  const runAtMs = report.startedAtMs;
  const alert: Alert =
    before === null
      ? create(input, "verdict", report)
      : {
          ...before,
          severity: report.severity,
          okSinceMs: null,
          startsAtMs: before.state === "pending" ? Math.min(before.startsAtMs, runAtMs) : before.startsAtMs,
          peak: worsePeak(before.peak, peakOf(report)),
          ...foundBy(report),
          ...earlierOnset(before.onset, report.onset),
        };
  if (before?.state === "firing") return keepFiring(draft, alert, before);
  if (isBaselineIncomplete(report, input.policy)) return keep(draft, alert, "baseline_incomplete");
  if (runAtMs - alert.startsAtMs < input.policy.forMs) return keep(draft, alert, "for_running");
  fire(draft, report, alert, input.policy.forMs === 0 ? "not_ok" : "for_elapsed");
}

/** Applies to local sources: an API does not say what its baseline covers. */
function isBaselineIncomplete(
  { baselineCoverage, baselineDaysKnown = leastDaysKnown }: ResultRun,
  { minBaselineCoverage }: AlertPolicy,
): boolean {
  if (baselineCoverage === null) return false;
  return baselineCoverage < minBaselineCoverage || baselineDaysKnown < leastDaysKnown;
}

function keepFiring(draft: Draft, alert: Alert, before: Alert): void {
  const order = compareSeverity(alert.severity, before.severity);
  if (order > 0) return change(draft, "escalated", alert, before.severity, "severity_rose");
  if (order < 0) return change(draft, "deescalated", alert, before.severity, "severity_fell");
  keep(draft, alert, isStopped(alert) && !isStopped(before) ? "excess_stopped" : "still_not_ok");
}

function isStopped({ found }: Alert): boolean {
  return found?.excess?.state === "stopped";
}

function takeOk(draft: Draft, input: TransitionInput, report: ResultRun, before: Alert): void {
  const runAtMs = report.startedAtMs;
  if (before.state === "pending") return end(draft, before, runAtMs, "cleared_before_firing");
  const { keepFiringForMs } = input.policy;
  if (keepFiringForMs === 0) return end(draft, before, runAtMs, "back_to_ok");
  const okSinceMs = Math.min(before.okSinceMs ?? runAtMs, runAtMs);
  if (runAtMs - okSinceMs >= keepFiringForMs) return end(draft, before, runAtMs, "keep_firing_for_elapsed");
  keep(draft, { ...before, okSinceMs }, "keep_firing_for_running");
}

function countUnknown(draft: Draft, input: TransitionInput, report: TransitionReport, before: Alert | null): void {
  const alert =
    before === null
      ? create(input, "unknown", report)
      : { ...before, unknownRuns: before.unknownRuns + 1, ...foundBy(report) };
  if (alert.state === "firing") return keep(draft, alert, "still_unknown");
  if (alert.unknownRuns < input.policy.unknownAfter) return keep(draft, alert, "run_failed");
  fire(draft, report, alert, "unknown_after_reached");
}

function endUnknown(draft: Draft, report: ResultRun, before: Alert): void {
  end(draft, before, report.startedAtMs, before.state === "firing" ? "result_returned" : "result_returned_early");
}

function create(input: TransitionInput, kind: Alert["kind"], report: TransitionReport): Alert {
  return {
    id: input.newId(),
    check: report.check,
    slug: report.slug,
    kind,
    state: "pending",
    severity: report.severity,
    startsAtMs: report.startedAtMs,
    firingAtMs: null,
    okSinceMs: null,
    unknownRuns: kind === "unknown" ? 1 : 0,
    peak: peakOf(report),
    acknowledgement: null,
    end: null,
    ...foundBy(report),
    ...(report.isFirstLook === true ? { isFirstLook: true } : {}),
    ...earlierOnset(undefined, report.onset),
    ...(report.windowHours === undefined ? {} : { windowHours: report.windowHours }),
    reason: "",
  };
}

function fire(draft: Draft, report: TransitionReport, alert: Alert, reason: Reason): void {
  const firing: Alert = { ...alert, state: "firing", firingAtMs: report.startedAtMs };
  change(draft, eventsOf[alert.kind].begun, firing, "ok", reason);
}

function change(draft: Draft, event: ChangeEvent, alert: Alert, previousSeverity: Severity, reason: Reason): void {
  const changed: Alert = { ...alert, reason };
  keep(draft, changed, reason);
  draft.changes.push({ event, alert: changed, previousSeverity, reason });
}

function end(draft: Draft, before: Alert, runAtMs: number, reason: Reason): void {
  draft.decisions.push({ alertId: before.id, reason });
  if (before.state === "pending") return void draft.forgotten.push(before.id);
  const isByRun = reason !== "organization_removed" && reason !== "check_removed";
  const alert: Alert = { ...before, reason, end: { atMs: Math.max(runAtMs, before.startsAtMs), isByRun } };
  draft.alerts.push(alert);
  draft.changes.push({ event: eventsOf[before.kind].over, alert, previousSeverity: before.severity, reason });
}

function keep(draft: Draft, alert: Alert, reason: Reason): void {
  draft.alerts.push({ ...alert, reason });
  draft.decisions.push({ alertId: alert.id, reason });
}

function peakOf(report: TransitionReport): AlertPeak {
  const currentCount = report.kind === "result" ? report.counts.currentCount : null;
  return { severity: report.severity, currentCount, atMs: report.startedAtMs };
}

function foundBy({ found }: TransitionReport): Pick<Alert, "found"> {
  return found === undefined ? {} : { found };
}

/** The earlier onset. On a tie the later run's: a marker may have been added since. */
function earlierOnset(before: SpikeOnset | undefined, now: SpikeOnset | undefined): { readonly onset?: SpikeOnset } {
  const onset = before === undefined || (now !== undefined && now.atMs <= before.atMs) ? now : before;
  return onset === undefined ? {} : { onset };
}

/** The worse peak: by severity, then by count; on a tie the earlier one. */
function worsePeak(before: AlertPeak, now: AlertPeak): AlertPeak {
  const order = compareSeverity(now.severity, before.severity);
  if (order !== 0) return order > 0 ? now : before;
  return (now.currentCount ?? -1) > (before.currentCount ?? -1) ? now : before;
}
