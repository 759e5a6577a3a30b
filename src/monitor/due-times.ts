import { minuteMs } from "../base/time.ts";
import type { CheckTarget } from "../checks/checks.ts";
import { nextDueAtMs } from "./schedule.ts";

// A clock is corrected by less at once; one that is set back farther must not keep checks from running.
const smallStepMs = minuteMs;

/** Returns when a check is due that this process begins to run, given its last run; one that never ran is due at once. */
export function firstDueAtMs(target: CheckTarget, last: LastRun | null, nowMs: number): number {
  if (last === null) return nowMs;
  const { schedule, slug } = target;
  // The clock has been set back since the last run.
  if (last.lastRunAtMs > nowMs + smallStepMs) return nextDueAtMs(schedule, slug, nowMs);
  return dueAgainAtMs(target, last);
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

/** Returns when a check is due again after a run. */
export function dueAgainAtMs({ schedule, slug }: CheckTarget, { dueAtMs, isAsked, lastRunAtMs }: LastRun): number {
  // A clock that was stepped back a little during the run must not give the same tick twice.
  const backMs = dueAtMs - lastRunAtMs;
  const isSteppedBack = !isAsked && backMs > 0 && backMs < smallStepMs;
  return nextDueAtMs(schedule, slug, isSteppedBack ? dueAtMs : lastRunAtMs);
}
