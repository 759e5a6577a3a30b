import { dayMs } from "../base/time.ts";
import type { Board } from "../store/runs/board.ts";
import { InstantColumn } from "../store/runs/columns.ts";
import type { JournalRun, RowRuns } from "../store/runs/journal-row.ts";
import { keptUntilMs } from "../store/runs/kept-reports.ts";
import type { OwnJournal } from "../store/runs/own-journal.ts";
import type { LastKeptReport } from "../store/runs/runs.ts";
import type { RepeatRequest } from "./finished-run.ts";

/** The checks of which the last run of this process was ok and left no alert. */
export class QuietChecks {
  /** Until when the same report need not be stored again, by number. */
  readonly #untilMs = new InstantColumn();

  has(checkId: number): boolean {
    return this.#untilMs.get(checkId) > -Infinity;
  }

  note(checkId: number, isQuiet: boolean, kept: LastKeptReport | null): void {
    this.#untilMs.set(checkId, isQuiet && kept !== null ? keptUntilMs(kept) : -Infinity);
  }

  /** Returns whether a run of this instant that finds the same needs nothing but its place in the journal. */
  canRepeat(checkId: number, atMs: number): boolean {
    const untilMs = this.#untilMs.get(checkId);
    // A clock may be set back by days.
    return atMs < untilMs && atMs > untilMs - 2 * dayMs;
  }

  clear(): void {
    this.#untilMs.clear();
  }
}

/** Returns a row of runs and repeats; what the journal can no longer repeat, because it was folded meanwhile, is written out. */
export function rowOf(
  entries: readonly JournalRun[],
  repeated: readonly RepeatRequest[],
  { journal, board }: { readonly journal: OwnJournal; readonly board: Pick<Board, "stateOf"> },
): RowRuns {
  const runs = [...entries];
  const canRepeat = (checkId: number): boolean => journal.canRepeat(checkId);
  const repeats = repeated.map(({ checkIds, dueAtMs, startedAtMs, finishedAtMs }) => {
    const times = { dueAtMs, startedAtMs, finishedAtMs };
    if (checkIds.every(canRepeat)) return { ...times, checkIds };
    for (const checkId of checkIds) {
      const report = canRepeat(checkId) ? undefined : board.stateOf(checkId)?.split;
      if (report !== undefined) runs.push({ ...times, checkId, isAsked: false, isReportKept: false, report });
    }
    return { ...times, checkIds: checkIds.filter(canRepeat) };
  });
  return { runs, repeats };
}
