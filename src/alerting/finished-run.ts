import type { CheckReport, ResultReport } from "../contract/report.ts";
import { spikeOnsetOf, type SpikeOnset } from "../contract/spike-onset.ts";
import type { Board } from "../store/runs/board.ts";
import type { OwnJournal } from "../store/runs/own-journal.ts";
import { joinReport, splitReport, type ReportTimes, type SplitReport } from "../store/runs/report-shape.ts";
import type { CheckKey } from "../store/runs/runs.ts";

/** A run that is running or has ended. */
export interface Run extends CheckKey {
  readonly dueAtMs: number;
  /** It was requested (POST …/run). */
  readonly isAsked: boolean;
  /** The journal of the process when it began: a process that has joined again since then no longer runs the check. */
  readonly journal: OwnJournal;
}

/** A run whose result is that of an earlier run but for its times, because its counts cannot have changed since. */
export interface UnchangedRun extends ReportTimes {
  readonly kind: "unchanged";
  readonly severity: ResultReport["severity"];
  readonly counts: ResultReport["counts"];
  /** The report of the earlier run. */
  readonly split: SplitReport;
}

/** What a finished run hands over to be made durable. */
export interface RecordRequest {
  readonly run: Run;
  readonly report: CheckReport | UnchangedRun;
  /** When the check is due again. */
  readonly nextDueAtMs: number;
}

/** Returns whether someone waits for the run: it was asked for, or its verdict is another one than before. */
export function isAwaited({ run, report }: RecordRequest, board: Pick<Board, "stateOf" | "idOf">): boolean {
  return run.isAsked || board.stateOf(board.idOf(run) ?? 0)?.severity !== report.severity;
}

/** Returns the report in two parts. */
export function splitOf(report: CheckReport | UnchangedRun): SplitReport {
  return report.kind === "unchanged" ? report.split : splitReport(report);
}

/** Returns the whole report. */
export function wholeOf(report: CheckReport | UnchangedRun): CheckReport {
  if (report.kind !== "unchanged") return report;
  const { check, slug, startedAtMs, finishedAtMs, split } = report;
  return joinReport(split, { check, slug, startedAtMs, finishedAtMs });
}

/** Returns what a result of the spike check says beside its verdict, as far as it can be read. */
export function spikeFacts(report: CheckReport): {
  readonly onset?: SpikeOnset;
  readonly windowHours?: number;
  readonly baselineDaysKnown?: number;
} {
  if (report.kind !== "result" || report.check !== "dead-asset-spike") return {};
  const onset = spikeOnsetOf(report.result);
  const { windowHours } = report.result.threshold;
  const { baselineDaysKnown } = report.result.observed;
  return {
    ...(onset === null ? {} : { onset }),
    ...(typeof windowHours === "number" && windowHours > 0 ? { windowHours } : {}),
    ...(typeof baselineDaysKnown === "number" ? { baselineDaysKnown } : {}),
  };
}
