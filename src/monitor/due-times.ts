import { minuteMs } from "../base/time.ts";
import { nextDueAtMs, ticksBetween } from "./schedule.ts";
import type { CheckTarget } from "../checks/checks.ts";
import type { Schedule } from "../checks/target.ts";

// A pattern with seconds has 86,400 ticks a day; counting costs 5 µs each.
const countedTicks = 10_000;
// A clock is corrected by less at once; one that is set back farther must not keep checks from running.
const smallStepMs = minuteMs;

/** Returns when a check is due that this process begins to run, given its last run; one that never ran is due at once. */
export function firstDueAtMs(target: CheckTarget, last: LastRun | null, nowMs: number): number {
  if (last === null) return nowMs;
  const { schedule, slug } = target;
  // The clock has been set back since the last run.
  if (last.lastRunAtMs > nowMs + smallStepMs) return nextDueAtMs(schedule, slug, nowMs);
  return dueAgainAtMs({ schedule, slug, ...last, finishedAtMs: last.lastRunAtMs, isScheduled: !last.isAsked });
}

/** Returns when a check is due whose schedule has changed: what is overdue runs once, then the new schedule holds. */
export function rescheduledAtMs({ schedule, slug }: CheckTarget, dueAtMs: number, nowMs: number): number {
  return dueAtMs <= nowMs ? dueAtMs : nextDueAtMs(schedule, slug, nowMs);
}

/** Returns when a check is due whose run was not recorded: when it was, unless it turned out to be stored. */
export function stillDueAtMs(target: CheckTarget, dueAtMs: number, last: LastRun | null, nowMs: number): number {
  const isRun = last !== null && (last.dueAtMs >= dueAtMs || last.lastRunAtMs >= dueAtMs);
  return isRun ? firstDueAtMs(target, last, nowMs) : dueAtMs;
}

/** What of a check's last run decides when it is due again. */
export interface LastRun {
  readonly dueAtMs: number;
  readonly isAsked: boolean;
  readonly lastRunAtMs: number;
}

/** A run that has ended, by the wall clock. */
export interface EndedRun {
  readonly schedule: Schedule;
  readonly slug: string;
  /** Instant at which it was due; in the future for a run that was requested before its time. */
  readonly dueAtMs: number;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  /** false: requested (POST …/run). */
  readonly isScheduled: boolean;
}

/** Returns when the check is due again. */
function dueAgainAtMs(run: Omit<EndedRun, "startedAtMs">): number {
  // A clock that was stepped back a little during the run must not give the same tick twice.
  const backMs = run.dueAtMs - run.finishedAtMs;
  const isSteppedBack = run.isScheduled && backMs > 0 && backMs < smallStepMs;
  return nextDueAtMs(run.schedule, run.slug, isSteppedBack ? run.dueAtMs : run.finishedAtMs);
}

/**
 * Returns the ticks that this run stands for beside its own: `late` ones passed before it could start, `overlap` ones while it was
 * running. With dueAgainAtMs each tick is run or counted exactly once.
 */
function skippedTicks(run: EndedRun): { readonly late: number; readonly overlap: number } {
  const { schedule, slug, dueAtMs, startedAtMs, finishedAtMs } = run;
  const limit = countedTicks;
  // The tick of a scheduled run is done even when the clock says that it is still to come.
  const ownTickMs = run.isScheduled ? Math.max(startedAtMs, dueAtMs) : startedAtMs;
  return {
    late: ticksBetween(schedule, slug, { fromMs: dueAtMs, toMs: startedAtMs, limit }),
    overlap: ticksBetween(schedule, slug, { fromMs: ownTickMs, toMs: finishedAtMs, limit }),
  };
}

/** The instant at which the check of a run is due again, and the ticks that the run stands for. */
export interface RunPlan {
  readonly nextDueAtMs: number;
  readonly skipped: { readonly late: number; readonly overlap: number };
}

/** Plans what follows from a run. */
export function planOf(run: EndedRun): RunPlan {
  return { nextDueAtMs: dueAgainAtMs(run), skipped: skippedTicks(run) };
}
