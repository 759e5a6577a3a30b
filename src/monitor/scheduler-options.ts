import type { Recorded, RecordRequest } from "../alerting/record.ts";
import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";
import type { CheckName, CheckReport } from "../contract/report.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { CheckState, ClaimedRun, ScheduleStore } from "../store/runs/schedule.ts";
import type { RoundOptions } from "./rounds.ts";
import type { CheckTarget } from "./target.ts";

export interface SchedulerOptions {
  readonly store: ScheduleStore;
  readonly clock: Clock;
  /** Names this process in leases: another one at each start. */
  readonly owner: string;
  readonly targets: readonly CheckTarget[];
  /** Checks under way at once. */
  readonly concurrency: number;
  /** Bound of one run, all its attempts and waits included. */
  readonly runTimeoutMs: number;
  /** Answers what the check gave; must not reject. See run-check.ts. */
  readonly run: (target: CheckTarget, signal: AbortSignal) => Promise<CheckReport>;
  /**
   * Makes a finished run durable in one transaction with all that follows from it (alerting/record.ts); `state` is null
   * when the lease was lost: then nothing was written, because the run is somebody else's now.
   */
  readonly record: (request: RecordRequest) => Promise<Pick<Recorded, "state">>;
  /** Called after a run was recorded, with the state as it is stored now. */
  readonly onRecorded: (state: CheckState) => void;
  /** Called when the store would not take a run, however often it was asked; it is run again [nobody is told]. */
  readonly onUnrecorded?: (run: ClaimedRun, durationSeconds: number) => void;
  /** Runs together what takes no time of its own [each on its own]; see rounds.ts. */
  readonly rounds?: RoundOptions;
  readonly metrics: Pick<Metrics, "checkRan" | "runSkipped" | "schedulerLag">;
  readonly logger: Logger;
  /** [1 s] How often to look at the store and the wall clock though nothing is known to be due. */
  readonly pollMs?: number;
}

export interface SchedulerChange {
  readonly targets: readonly CheckTarget[];
  readonly concurrency?: number;
  readonly runTimeoutMs?: number;
}

export interface Scheduler {
  /** Writes the targets into the store and begins to run what is due. Answers what the store had and the targets have not. */
  start(): Promise<RemovedTargets>;
  /** Applies a new configuration; runs under way go on. Answers which (check, slug) are gone. */
  setTargets(change: SchedulerChange): Promise<RemovedTargets>;
  /**
   * Runs the check now, like a scheduled run, after one that is under way.
   * @throws FlatlineError not_found, conflict (another process runs it), unavailable (stopping), or what recording threw
   */
  runNow(check: CheckName, slug: string, signal: AbortSignal): Promise<CheckReport>;
  /** Nothing was looked at for more than 30 s while something is due, or it has stopped. */
  isStalled(): boolean;
  /** How many checks are under way here. */
  running(): number;
  /**
   * No new runs; those under way get `drainMs`, then their signals abort and their leases go back.
   * @throws what kept a run from being recorded, or a lease from going back
   */
  stop(drainMs: number): Promise<void>;
}

export type RemovedTargets = readonly { readonly check: CheckName; readonly slug: string }[];
