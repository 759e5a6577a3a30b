import type { RecordRequest } from "../alerting/finished-run.ts";
import type { Recorded } from "../alerting/record.ts";
import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";
import type { CheckName, CheckReport } from "../contract/report.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Board } from "../store/runs/board.ts";
import type { CheckKey } from "../store/runs/check-state.ts";
import type { CheckTarget } from "../checks/checks.ts";
import type { OpenRun } from "./run-check.ts";

/** How checks are run that are due together. */
export interface RoundOptions {
  /** Returns for each its report, or what is left of its run, which takes a place; must not reject. See run-check.ts. */
  readonly run: (targets: readonly CheckTarget[], signal: AbortSignal) => Promise<readonly (CheckReport | OpenRun)[]>;
  /** Most checks of a round. */
  readonly most: number;
}

export interface SchedulerOptions {
  /** Whether a run may begin now (last-states.ts). */
  readonly canBegin: () => boolean;
  /** Whether a check is skipped, because events that it counts are being imported [never]. */
  readonly isImporting?: (target: CheckTarget) => boolean;
  /** The last run of each check: what is due when follows from it. */
  readonly board: Pick<Board, "state">;
  readonly clock: Clock;
  readonly targets: readonly CheckTarget[];
  /** Checks that run at once. */
  readonly concurrency: number;
  /** Bound of one run, all its attempts and waits included. */
  readonly runTimeoutMs: number;
  /** Answers what the check gave; must not reject. See run-check.ts. */
  readonly run: (target: CheckTarget, signal: AbortSignal) => Promise<CheckReport>;
  /** How due checks are run together, for a source that counts for all of them at once [each is run on its own]. */
  readonly round?: RoundOptions;
  /** Makes finished runs durable (alerting/record.ts), and answers what came of each, in order. */
  readonly record: (
    requests: readonly RecordRequest[],
    signal: AbortSignal,
  ) => Promise<readonly PromiseSettledResult<Pick<Recorded, "state" | "previousSeverity">>[]>;
  /** Called when the store would not take a run, however often it was asked; it is run again [not called]. */
  readonly onUnrecorded?: (check: CheckKey, durationSeconds: number) => void;
  readonly metrics: Pick<Metrics, "checkRan" | "runSkipped" | "schedulerLag">;
  readonly logger: Logger;
  /** [10 s] How often to look at the wall clock though nothing is known to be due. */
  readonly pollMs?: number;
}

export interface SchedulerChange {
  readonly targets: readonly CheckTarget[];
  readonly concurrency?: number;
  readonly runTimeoutMs?: number;
}

export interface Scheduler {
  /** Begins to run what is due. */
  start(): void;
  /** Applies a new configuration; running checks go on. */
  setTargets(change: SchedulerChange): void;
  /** The board was read again: computes when each check is due. */
  restart(): void;
  /**
   * Runs the check now, like a scheduled run, after one that is running.
   * @throws FlatlineError not_found, unavailable (stopping, or no run may begin), or what recording threw
   */
  runNow(check: CheckName, slug: string, signal: AbortSignal): Promise<CheckReport>;
  /**
   * Does work that is no run in a place of the runs, one such work at a time. Rejects with the reason of the signal when that
   * aborts before there is a place.
   */
  runBeside<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result>;
  /** Returns when the check with this key is due, and whether it runs; null while it is not known. */
  standing(key: string): { readonly dueAtMs: number; readonly isRunning: boolean } | null;
  /**
   * Waits for runs over the store's own events that are about to end, 250 ms at most: their reads and a commit take turns on the
   * store's connection, so without it each of hundreds of alerts that begin together is a commit of its own.
   */
  gatherEnding(): Promise<void>;
  /** Returns whether no look ended for more than 30 s while a check is due, or the scheduler has stopped. */
  isStalled(): boolean;
  /** How many checks are running. */
  running(): number;
  /**
   * Starts no new runs; running checks get `drainMs`, then their signals abort. @throws the error that kept a run from being
   * recorded
   */
  stop(drainMs: number): Promise<void>;
}
