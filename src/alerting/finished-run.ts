import type { CheckReport } from "../contract/report.ts";
import { spikeOnsetOf, type SpikeOnset } from "../contract/spike-onset.ts";
import type { Board } from "../store/runs/board.ts";
import type { RepeatedRuns } from "../store/runs/journal-row.ts";
import type { OwnJournal } from "../store/runs/own-journal.ts";
import type { CheckKey } from "../store/runs/runs.ts";

/** A run that is running or has ended. */
export interface Run extends CheckKey {
  readonly dueAtMs: number;
  /** It was requested (POST …/run). */
  readonly isAsked: boolean;
  /** The journal of the process when it began: a process that has joined again since then no longer runs the check. */
  readonly journal: OwnJournal;
}

/** What a finished run hands over to be made durable. */
export interface RecordRequest {
  readonly run: Run;
  readonly report: CheckReport;
  /** When the check is due again. */
  readonly nextDueAtMs: number;
}

/** Returns whether someone waits for the run: it was asked for, or its verdict is another one than before. */
export function isAwaited({ run, report }: RecordRequest, board: Pick<Board, "stateOf" | "idOf">): boolean {
  return run.isAsked || board.stateOf(board.idOf(run) ?? 0)?.severity !== report.severity;
}

/** Runs that found what the last runs of their checks found: ok, without an alert. */
export interface RepeatRequest extends RepeatedRuns, Pick<Run, "journal"> {}

/** Runs that ended together, to be stored in one commit. */
export interface EndedRuns {
  readonly requests: readonly RecordRequest[];
  readonly repeats: readonly RepeatRequest[];
  readonly signal: AbortSignal | undefined;
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
