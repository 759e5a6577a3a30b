import { hourMs } from "../../base/time.ts";
import type { CheckName, CheckReport, ShownCounts } from "../../contract/report.ts";
import type { Severity } from "../../contract/severity.ts";

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

/** What of a check's past its last state keeps. */
interface Past {
  /** The instant since when the severity holds. */
  readonly severitySinceMs: number;
  /** The report of the last run with a result, as JSON; null: none had one. */
  readonly resultText: string | null;
  readonly lastSuccessAtMs: number | null;
  /** Whether the last report is kept: it is another severity, reason or threshold, or the first of an hour that is not ok. */
  readonly isKept: boolean;
}

/**
 * The last state of a check. Reports are texts, which are parsed when somebody asks: as objects, those of a fleet are most of
 * what the garbage collector moves.
 */
export class CheckState implements Run, Past {
  readonly check: CheckName;
  readonly slug: string;
  readonly dueAtMs: number;
  readonly isAsked: boolean;
  readonly severity: Severity;
  readonly severitySinceMs: number;
  readonly lastRunAtMs: number;
  readonly lastSuccessAtMs: number | null;
  /** What the last report counts; null if it is an error. */
  readonly lastCounts: ShownCounts | null;
  /** The last report as JSON. */
  readonly text: string;
  readonly resultText: string | null;
  readonly isKept: boolean;
  /** What an operator takes for a change when it differs. */
  readonly #kind: string;

  /** `text` is the report as JSON. */
  constructor(report: CheckReport, text: string, run: Pick<Run, "dueAtMs" | "isAsked">, past: Past) {
    this.check = report.check;
    this.slug = report.slug;
    this.dueAtMs = run.dueAtMs;
    this.isAsked = run.isAsked;
    this.severity = report.severity;
    this.severitySinceMs = past.severitySinceMs;
    this.lastRunAtMs = report.finishedAtMs;
    this.lastSuccessAtMs = past.lastSuccessAtMs;
    this.lastCounts = shownCounts(report);
    this.text = text;
    this.resultText = past.resultText;
    this.isKept = past.isKept;
    this.#kind = kindOf(report);
  }

  /** Returns the state after a run. */
  static after(before: CheckState | null, report: CheckReport, run: Pick<Run, "dueAtMs" | "isAsked">): CheckState {
    const { severity, finishedAtMs: atMs } = report;
    const text = JSON.stringify(report);
    const isResult = report.kind === "result";
    return new CheckState(report, text, run, {
      severitySinceMs: before?.severity === severity ? before.severitySinceMs : atMs,
      resultText: isResult ? text : (before?.resultText ?? null),
      lastSuccessAtMs: isResult ? atMs : (before?.lastSuccessAtMs ?? null),
      isKept:
        before === null ||
        before.#kind !== kindOf(report) ||
        (isResult && severity !== "ok" && isNewHour(before, atMs)),
    });
  }

  get lastReport(): CheckReport {
    return JSON.parse(this.text) as CheckReport;
  }

  /** Returns the report of the last run with a result. */
  get lastResultReport(): CheckReport | null {
    return this.resultText === null ? null : (JSON.parse(this.resultText) as CheckReport);
  }

  /** Returns the current count of the last run; null if its report has none. */
  get currentCount(): number | null {
    return this.lastCounts?.currentCount ?? null;
  }
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
  const { threshold, observed } = report.result;
  const thresholds = chosenThresholds.map((name) => threshold[name]);
  return JSON.stringify([report.severity, ...thresholds, observed["counting"]]);
}
