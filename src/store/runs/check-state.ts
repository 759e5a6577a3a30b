import { hourMs } from "../../base/time.ts";
import type { HealthcheckResult } from "../../contract/healthcheck.ts";
import type { CheckName, CheckReport, ShownCounts } from "../../contract/report.ts";

/** A check of an organization. */
export interface CheckKey {
  readonly check: CheckName;
  readonly slug: string;
}

/** A run of a check, which may not have ended. */
export interface Run extends CheckKey {
  readonly dueAtMs: number;
  /** Whether it was requested (POST …/run). */
  readonly isAsked: boolean;
}

/** The part of a check's past that its last state keeps. */
interface Past {
  /** The instant since when the severity holds. */
  readonly severitySinceMs: number;
  /** The report of the last run with a result, as JSON; null: none had one. */
  readonly resultText: string | null;
  readonly lastSuccessAtMs: number | null;
  /** Whether history keeps the last report: a new severity, reason or threshold, or the first non-ok one of an hour. */
  readonly isKept: boolean;
}

export type CheckState = ReturnType<typeof checkState>;

/**
 * The last state of a check; `text` is its last report as JSON. Reports are parsed when somebody asks: as objects, a
 * fleet's would be most of the garbage collector's work.
 */
export function checkState(report: CheckReport, text: string, run: Pick<Run, "dueAtMs" | "isAsked">, past: Past) {
  return {
    ...past,
    check: report.check,
    slug: report.slug,
    dueAtMs: run.dueAtMs,
    isAsked: run.isAsked,
    severity: report.severity,
    lastRunAtMs: report.finishedAtMs,
    /** The counts of the last report; null: it is an error. */
    lastCounts: shownCounts(report),
    text,
    /** Differs when an operator would see a change; of an error its reason. */
    kind: kindOf(report),
    get lastReport(): CheckReport {
      return JSON.parse(text) as CheckReport;
    },
    /** The report of the last run with a result. */
    get lastResultReport(): CheckReport | null {
      return past.resultText === null ? null : (JSON.parse(past.resultText) as CheckReport);
    },
  } as const;
}

/** Returns the state after a run. */
export function stateAfter(before: CheckState | null, report: CheckReport, run: Run): CheckState {
  const { severity, finishedAtMs: atMs } = report;
  const text = JSON.stringify(report);
  const isResult = report.kind === "result";
  return checkState(report, text, run, {
    severitySinceMs: before?.severity === severity ? before.severitySinceMs : atMs,
    resultText: isResult ? text : (before?.resultText ?? null),
    lastSuccessAtMs: isResult ? atMs : (before?.lastSuccessAtMs ?? null),
    isKept:
      before === null || before.kind !== kindOf(report) || (isResult && severity !== "ok" && isNewHour(before, atMs)),
  });
}

function isNewHour({ lastRunAtMs }: CheckState, atMs: number): boolean {
  return Math.floor(lastRunAtMs / hourMs) !== Math.floor(atMs / hourMs);
}

function shownCounts(report: CheckReport): ShownCounts | null {
  if (report.kind === "error") return null;
  const { currentCount, expectedCount, ratio } = report.counts;
  const { windowHours } = report.result.threshold;
  return { currentCount, expectedCount, ratio, windowHours: typeof windowHours === "number" ? windowHours : null };
}

// Others, such as warnAbove, follow from the counts and change with each run.
const chosenThresholds: readonly string[] = [
  "windowHours",
  "baselineDays",
  "warnMultiplier",
  "failMultiplier",
  "minSpikeCount",
  "warnAfterSeconds",
  "failAfterSeconds",
];

function kindOf(report: CheckReport): string {
  if (report.kind === "error") return report.error.reason;
  const { result, severity } = report;
  return JSON.stringify([severity, ...chosenThresholdsOf(result), result.observed["counting"]]);
}

/** Returns the thresholds of a result that people choose, as far as it has them. */
export function chosenThresholdsOf({ threshold }: HealthcheckResult): readonly unknown[] {
  return chosenThresholds.map((name) => threshold[name]);
}
