import type { CheckName, CheckReport, ShownCounts } from "../../contract/report.ts";
import type { Severity } from "../../contract/severity.ts";
import { digestOf, shouldKeepReport, type LastKeptReport } from "./kept-reports.ts";

/** A check of an organization. */
export interface CheckKey {
  readonly check: CheckName;
  readonly slug: string;
}

/** What a check's last run left. */
interface LastRun {
  /** The process that ran it, and its commit. */
  readonly ownerId: number;
  readonly seq: number;
  readonly dueAtMs: number;
  /** Whether it was requested (POST …/run). */
  readonly isAsked: boolean;
  /** The instant since when the severity holds. */
  readonly severitySinceMs: number;
  readonly lastReport: CheckReport;
  /** The report of the last run with a result; null: none had one. */
  readonly lastResultReport: CheckReport | null;
  /** The last report that was stored as a whole. */
  readonly kept: LastKeptReport | null;
}

/** The last state of a check. */
export class CheckState implements CheckKey, LastRun {
  readonly check: CheckName;
  readonly slug: string;
  readonly ownerId: number;
  readonly seq: number;
  readonly dueAtMs: number;
  readonly isAsked: boolean;
  readonly severitySinceMs: number;
  readonly lastReport: CheckReport;
  readonly lastResultReport: CheckReport | null;
  readonly kept: LastKeptReport | null;

  constructor(key: CheckKey, last: LastRun) {
    this.check = key.check;
    this.slug = key.slug;
    this.ownerId = last.ownerId;
    this.seq = last.seq;
    this.dueAtMs = last.dueAtMs;
    this.isAsked = last.isAsked;
    this.severitySinceMs = last.severitySinceMs;
    this.lastReport = last.lastReport;
    this.lastResultReport = last.lastResultReport;
    this.kept = last.kept;
  }

  /** Returns the state after a run of the commit `seq` of an owner. */
  static after(
    before: CheckState | null,
    report: CheckReport,
    run: Pick<LastRun, "ownerId" | "seq" | "dueAtMs" | "isAsked">,
  ): CheckState {
    const { severity, finishedAtMs: atMs } = report;
    const digest = digestOf(report);
    const kept = before?.kept ?? null;
    return new CheckState(report, {
      ...run,
      severitySinceMs: before?.severity === severity ? before.severitySinceMs : atMs,
      lastReport: report,
      lastResultReport: report.kind === "result" ? report : (before?.lastResultReport ?? null),
      kept: shouldKeepReport(kept, digest, atMs) ? { atMs, digest } : kept,
    });
  }

  get severity(): Severity {
    return this.lastReport.severity;
  }

  get lastRunAtMs(): number {
    return this.lastReport.finishedAtMs;
  }

  get lastSuccessAtMs(): number | null {
    return this.lastResultReport?.finishedAtMs ?? null;
  }

  /** Returns the current count of the last run; null if its report has none. */
  get currentCount(): number | null {
    return this.lastReport.kind === "error" ? null : this.lastReport.counts.currentCount;
  }

  /** Returns what the last report counts; null if it is an error. */
  get lastCounts(): ShownCounts | null {
    if (this.lastReport.kind === "error") return null;
    const { counts, result } = this.lastReport;
    const { currentCount, expectedCount, ratio } = counts;
    const { windowHours } = result.threshold;
    return { currentCount, expectedCount, ratio, windowHours: typeof windowHours === "number" ? windowHours : null };
  }

  /** Returns whether the last report was stored as a whole. */
  get isReportKept(): boolean {
    return this.kept?.atMs === this.lastRunAtMs;
  }
}
