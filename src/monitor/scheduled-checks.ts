import { isDeepStrictEqual } from "node:util";
import { minuteMs } from "../base/time.ts";
import type { CheckTarget } from "../checks/checks.ts";
import { checkKey } from "../contract/check-key.ts";
import type { CheckReport } from "../contract/report.ts";
import type { Board } from "../store/runs/board.ts";
import type { CheckState, Run } from "../store/runs/check-state.ts";
import { nextDueAtMs, ticksBetween } from "./schedule.ts";

/** A check that is configured. */
export interface ScheduledCheck {
  target: CheckTarget;
  dueAtMs: number;
  /** When its next run may begin: later than it is due after one that was not recorded; Infinity: never. */
  beginsAtMs: number;
  /** Settles when the run is over and recorded, or goes on as another one; null: it does not run. */
  underWay: Promise<unknown> | null;
  /** Whether its current run is the last one: it is no longer configured. */
  isLeaving: boolean;
}

/** The facts of a check's last run that decide when it is due again. */
type LastRun = Pick<CheckState, "dueAtMs" | "isAsked" | "lastRunAtMs">;

// A usual correction of the clock is smaller. A clock that is set back farther must not keep checks from running.
const smallStepMs = minuteMs;
// One look finds all checks of the next seconds, which jitter spreads.
const soonMs = 10_000;
// A pattern with seconds has 86,400 ticks a day; counting costs 5 µs each.
const limit = 10_000;

/** Returns when a check is due after its last run; now if it never ran. */
export function firstDueAtMs(target: CheckTarget, last: LastRun | null, nowMs: number): number {
  if (last === null) return nowMs;
  // The clock has been set back since the last run.
  if (last.lastRunAtMs > nowMs + smallStepMs) return nextDueAtMs(target.schedule, target.slug, nowMs);
  return dueAgainAtMs(target, last);
}

function dueAgainAtMs({ schedule, slug }: CheckTarget, { dueAtMs, isAsked, lastRunAtMs }: LastRun): number {
  // A clock that was stepped back a little during the run must not give the same tick twice.
  const backMs = dueAtMs - lastRunAtMs;
  const isSteppedBack = !isAsked && backMs > 0 && backMs < smallStepMs;
  return nextDueAtMs(schedule, slug, isSteppedBack ? dueAtMs : lastRunAtMs);
}

/**
 * Returns when a check is due again after a run, by its current schedule, and how many ticks the run skipped: each tick
 * is run or counted exactly once.
 */
export function afterRun(target: CheckTarget, { dueAtMs, isAsked }: Run, { startedAtMs, finishedAtMs }: CheckReport) {
  const { schedule, slug } = target;
  // The tick of a scheduled run is done even when the clock says that it is still to come.
  const ownTickMs = isAsked ? startedAtMs : Math.max(startedAtMs, dueAtMs);
  return {
    schedule,
    nextDueAtMs: dueAgainAtMs(target, { dueAtMs, isAsked, lastRunAtMs: finishedAtMs }),
    skipped: {
      // Late ticks passed before the run began, overlapping ones during the run.
      late: ticksBetween(schedule, slug, { fromMs: dueAtMs, toMs: startedAtMs, limit }),
      overlap: ticksBetween(schedule, slug, { fromMs: ownTickMs, toMs: finishedAtMs, limit }),
    },
  };
}

/** The configured checks in memory: when each is due follows from its last run. */
export class ScheduledChecks {
  readonly #board: Pick<Board, "state">;
  readonly #checks = new Map<string, ScheduledCheck>();
  /** The checks due soon by the last look, the earliest last. Void where a check now begins at another time. */
  #soon: { readonly atMs: number; readonly one: ScheduledCheck }[] = [];
  /** No other check begins before this. */
  #othersAtMs = Infinity;

  constructor(board: Pick<Board, "state">) {
    this.#board = board;
  }

  /** Adds the configured checks and removes the rest; a running one is removed when it ends. */
  arrange(targets: ReadonlyMap<string, CheckTarget>, nowMs: number): void {
    for (const [key, one] of this.#checks) {
      one.isLeaving = !targets.has(key);
      if (one.isLeaving && one.underWay === null) this.#drop(key, one);
    }
    for (const [key, target] of targets) {
      const known = this.#checks.get(key);
      if (known === undefined) {
        const one = { target, dueAtMs: nowMs, beginsAtMs: nowMs, underWay: null, isLeaving: false };
        this.#checks.set(key, one);
        this.#wait(one, this.#firstDueAtMs(one, nowMs));
        continue;
      }
      const isChanged = !isDeepStrictEqual(known.target.schedule, target.schedule);
      known.target = target;
      // An overdue check runs once; then the new schedule holds.
      if (isChanged && known.underWay === null && known.dueAtMs > nowMs)
        this.#wait(known, nextDueAtMs(target.schedule, target.slug, nowMs));
    }
  }

  get(key: string): ScheduledCheck | undefined {
    return this.#checks.get(key);
  }

  /** Returns an instant at or before the next run; Infinity when none is waited for. */
  nextAtMs(): number {
    return Math.min(this.#soon.at(-1)?.atMs ?? Infinity, this.#othersAtMs);
  }

  /** Takes at most `most` checks that are due and not running, the longest due first. */
  takeDue(nowMs: number, most: number): ScheduledCheck[] {
    if (this.#othersAtMs <= nowMs) this.#look(nowMs);
    const taken: ScheduledCheck[] = [];
    while (taken.length < most && (this.#soon.at(-1)?.atMs ?? Infinity) <= nowMs) {
      const next = this.#soon.pop();
      if (next?.one.underWay === null && next.one.beginsAtMs === next.atMs) taken.push(next.one);
    }
    return taken;
  }

  /** Computes the due times of checks that do not run: the board was read again. */
  restart(nowMs: number): void {
    for (const one of this.#checks.values()) if (one.underWay === null) this.#wait(one, this.#firstDueAtMs(one, nowMs));
  }

  /** Ends a run: the check is due again, or is removed if it is no longer configured. */
  leave(one: ScheduledCheck, dueAtMs: number, beginsAtMs = dueAtMs): void {
    one.underWay = null;
    if (one.isLeaving) this.#drop(checkKey(one.target), one);
    else this.#wait(one, dueAtMs, beginsAtMs);
  }

  /** Ends a run that may not be recorded: the check is due as before, unless the board has a run since then. */
  leaveUnrecorded(one: ScheduledCheck, dueAtMs: number, nowMs: number, notBeforeMs = 0): void {
    const last = this.#board.state(one.target.check, one.target.slug);
    const isRun = last !== null && (last.dueAtMs >= dueAtMs || last.lastRunAtMs >= dueAtMs);
    const stillAtMs = isRun ? firstDueAtMs(one.target, last, nowMs) : dueAtMs;
    this.leave(one, stillAtMs, Math.max(stillAtMs, notBeforeMs));
  }

  /** Computes due times from now: the clock was set back, maybe by days. */
  setBack(nowMs: number): void {
    for (const one of this.#checks.values()) {
      const dueAtMs = nextDueAtMs(one.target.schedule, one.target.slug, nowMs);
      if (one.underWay === null && dueAtMs < one.beginsAtMs) this.#wait(one, dueAtMs);
    }
  }

  /** Returns a promise for each running check, which settles when the run ends. */
  underWay(): Promise<unknown>[] {
    return [...this.#checks.values()].flatMap(({ underWay }) => underWay ?? []);
  }

  /** Resolves when none is running. A check of a round may go on as a run of its own. */
  async whenIdle(): Promise<void> {
    for (let running = this.underWay(); running.length > 0; running = this.underWay())
      await Promise.allSettled(running);
  }

  #firstDueAtMs({ target }: ScheduledCheck, nowMs: number): number {
    return firstDueAtMs(target, this.#board.state(target.check, target.slug), nowMs);
  }

  /** Goes through all checks: about 0.05 ms for ten thousand, every ten seconds. */
  #look(nowMs: number): void {
    this.#othersAtMs = Infinity;
    const soon: ScheduledCheck[] = [];
    for (const one of this.#checks.values())
      if (one.underWay !== null) continue;
      else if (one.beginsAtMs <= nowMs + soonMs) soon.push(one);
      else this.#othersAtMs = Math.min(this.#othersAtMs, one.beginsAtMs);
    this.#soon = soon
      .map((one) => ({ one, atMs: one.beginsAtMs }))
      .toReversed()
      .toSorted((left, right) => right.atMs - left.atMs);
  }

  #wait(one: ScheduledCheck, dueAtMs: number, beginsAtMs = dueAtMs): void {
    one.dueAtMs = dueAtMs;
    one.beginsAtMs = beginsAtMs;
    this.#othersAtMs = Math.min(this.#othersAtMs, beginsAtMs);
  }

  #drop(key: string, one: ScheduledCheck): void {
    this.#checks.delete(key);
    one.beginsAtMs = Infinity;
  }
}
