import { minuteMs } from "../base/time.ts";
import type { ScheduleEntry } from "../store/runs/schedule.ts";
import { nextDueAtMs, scheduleKey, ticksBetween, type Schedule } from "./schedule.ts";
import type { CheckTarget } from "./target.ts";

// A pattern with seconds has 86,400 ticks a day; counting costs 5 µs each.
const countedTicks = 10_000;
// A clock is corrected by less at once; one that is set back farther must not keep checks from running.
const smallStepMs = minuteMs;

/** The row that the store should have for a target, given the one that it has (ScheduleStore.sync, CONTRACT 5). */
export function wantedEntry(target: CheckTarget, stored: ScheduleEntry | undefined, nowMs: number): ScheduleEntry {
  const { check, slug, schedule } = target;
  const key = scheduleKey(schedule);
  // Never run: at once. Overdue under another schedule: that runs once, then the new one holds.
  if (stored === undefined) return { check, slug, scheduleKey: key, nextDueAtMs: nowMs, seenDueAtMs: null };
  const isOverdue = stored.scheduleKey !== key && stored.nextDueAtMs <= nowMs;
  return {
    check,
    slug,
    scheduleKey: key,
    nextDueAtMs: isOverdue ? stored.nextDueAtMs : nextDueAtMs(schedule, slug, nowMs),
    seenDueAtMs: stored.nextDueAtMs,
  };
}

/** A run that has ended, by the wall clock. */
export interface EndedRun {
  readonly schedule: Schedule;
  readonly slug: string;
  /** When it was due; in the future for one that was asked for before its time. */
  readonly dueAtMs: number;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  /** false: somebody asked for it (POST …/run). */
  readonly isScheduled: boolean;
}

/** When the check is due again. */
export function dueAgainAtMs(run: EndedRun): number {
  // A clock that was stepped back a little while it ran must not bring the same tick twice.
  const backMs = run.dueAtMs - run.finishedAtMs;
  const isSteppedBack = run.isScheduled && backMs > 0 && backMs < smallStepMs;
  return nextDueAtMs(run.schedule, run.slug, isSteppedBack ? run.dueAtMs : run.finishedAtMs);
}

/**
 * The ticks that this run stands for beside its own: `late` ones passed before it could start, `overlap` ones while it was
 * under way. With dueAgainAtMs each tick is run or counted exactly once.
 */
export function skippedTicks(run: EndedRun): { readonly late: number; readonly overlap: number } {
  const { schedule, slug, dueAtMs, startedAtMs, finishedAtMs } = run;
  const limit = countedTicks;
  // What a scheduled run was due for is its own tick even when the clock says that it is still to come.
  const ownTickMs = run.isScheduled ? Math.max(startedAtMs, dueAtMs) : startedAtMs;
  return {
    late: ticksBetween(schedule, slug, { fromMs: dueAtMs, toMs: startedAtMs, limit }),
    overlap: ticksBetween(schedule, slug, { fromMs: ownTickMs, toMs: finishedAtMs, limit }),
  };
}

/** When a run's check is due again, and the ticks that it stands for. */
export interface RunPlan {
  readonly nextDueAtMs: number;
  readonly skipped: { readonly late: number; readonly overlap: number };
}

/** Plans runs that began and ended together: those that were due by the same pattern at the same time have the same plan. */
export function createRunPlanner(): (run: EndedRun) => RunPlan {
  const plans = new Map<string, RunPlan>();
  return (run) => {
    const { schedule, dueAtMs } = run;
    if (schedule.jitterMs > 0) return planOf(run);
    const key = `${dueAtMs} ${schedule.pattern}\n${schedule.timezone}`;
    const known = plans.get(key);
    if (known !== undefined) return known;
    const plan = planOf(run);
    plans.set(key, plan);
    return plan;
  };
}

function planOf(run: EndedRun): RunPlan {
  return { nextDueAtMs: dueAgainAtMs(run), skipped: skippedTicks(run) };
}
