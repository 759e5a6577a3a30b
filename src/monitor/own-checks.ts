import type { Run } from "../alerting/finished-run.ts";
import type { CheckTarget } from "../checks/checks.ts";
import type { Schedule } from "../checks/target.ts";
import { checkKey } from "../contract/check-key.ts";
import type { CheckReport } from "../contract/report.ts";
import type { Board } from "../store/runs/board.ts";
import { dueAgainAtMs, firstDueAtMs, rescheduledAtMs, stillDueAtMs } from "./due-times.ts";
import { nextDueAtMs, scheduleKey, ticksBetween } from "./schedule.ts";

/** A check that is configured. */
export interface OwnCheck {
  target: CheckTarget;
  dueAtMs: number;
  /** Settles when the run is over and recorded, or goes on as another one; null: it does not run. */
  underWay: Promise<unknown> | null;
  /** Whether its current run is the last one: it is no longer configured. */
  isLeaving: boolean;
  /** The number of its entry in the queue: an older entry does not count. */
  ticket: number;
}

/** A run whose report is there, but not recorded yet. */
export interface EndedRun {
  readonly one: OwnCheck;
  readonly run: Run;
  readonly report: CheckReport;
  readonly durationMs: number;
}

/** A run that ended, with what follows from its times. */
export interface PlannedRun extends EndedRun {
  readonly schedule: Schedule;
  readonly nextDueAtMs: number;
  /** The ticks that it stands for beside its own: with `nextDueAtMs` each one is run or counted exactly once. */
  readonly skipped: { readonly late: number; readonly overlap: number };
}

// A pattern with seconds has 86,400 ticks a day; counting costs 5 µs each.
const limit = 10_000;

/** Plans when the check of a run is due again, by the schedule that holds now. */
export function planRun(ended: EndedRun): PlannedRun {
  // The configuration may be read again while the run is recorded.
  const { schedule, slug } = ended.one.target;
  const { dueAtMs, isAsked } = ended.run;
  const { startedAtMs, finishedAtMs } = ended.report;
  // The tick of a scheduled run is done even when the clock says that it is still to come.
  const ownTickMs = isAsked ? startedAtMs : Math.max(startedAtMs, dueAtMs);
  return {
    ...ended,
    schedule,
    nextDueAtMs: dueAgainAtMs(ended.one.target, { dueAtMs, isAsked, lastRunAtMs: finishedAtMs }),
    skipped: {
      // They passed before it could start, or while it was running.
      late: ticksBetween(schedule, slug, { fromMs: dueAtMs, toMs: startedAtMs, limit }),
      overlap: ticksBetween(schedule, slug, { fromMs: ownTickMs, toMs: finishedAtMs, limit }),
    },
  };
}

interface Unrecorded {
  readonly nowMs: number;
  /** The earliest instant of its next run [when it is due]. */
  readonly notBeforeMs?: number;
}

interface QueuedCheck {
  readonly one: OwnCheck;
  readonly ticket: number;
}

/** The configured checks in memory: when each is due follows from its last run. */
export class OwnChecks {
  readonly #board: Pick<Board, "state">;
  readonly #checks = new Map<string, OwnCheck>();
  readonly #queue = new DueQueue<QueuedCheck>();

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
        const dueAtMs = firstDueAtMs(target, this.#board.state(target.check, target.slug), nowMs);
        const one: OwnCheck = { target, dueAtMs, underWay: null, isLeaving: false, ticket: 0 };
        this.#checks.set(key, one);
        this.#enqueue(one, dueAtMs);
        continue;
      }
      const isChanged = scheduleKey(known.target.schedule) !== scheduleKey(target.schedule);
      known.target = target;
      if (isChanged && known.underWay === null) this.#enqueue(known, rescheduledAtMs(target, known.dueAtMs, nowMs));
    }
  }

  get(key: string): OwnCheck | undefined {
    return this.#checks.get(key);
  }

  /** Returns an instant at or before the next due run; null when none is waited for. */
  nextAtMs(): number | null {
    return this.#queue.nextAtMs();
  }

  /** The checks that are due and not running, the longest due first; at most `limit`. */
  takeDue(nowMs: number, limit: number): OwnCheck[] {
    const due: OwnCheck[] = [];
    while (due.length < limit && (this.#queue.nextAtMs() ?? Infinity) <= nowMs) {
      const entry = this.#queue.take();
      if (entry !== undefined && entry.ticket === entry.one.ticket && entry.one.underWay === null) due.push(entry.one);
    }
    return due;
  }

  /** The board was read again: each that does not run is due as it says. */
  restart(nowMs: number): void {
    for (const one of this.#checks.values()) {
      const { check, slug } = one.target;
      if (one.underWay === null) this.#enqueue(one, firstDueAtMs(one.target, this.#board.state(check, slug), nowMs));
    }
  }

  /** Ends a run: the check is due again, or goes where it is no longer configured. */
  leave(one: OwnCheck, dueAtMs: number, notBeforeMs = dueAtMs): void {
    one.underWay = null;
    if (one.isLeaving) this.#drop(checkKey(one.target), one);
    else this.#enqueue(one, dueAtMs, notBeforeMs);
  }

  /** Ends a run that may not be recorded: the check is due as it was, unless a run is on the board by now. */
  leaveUnrecorded(one: OwnCheck, dueAtMs: number, { nowMs, notBeforeMs = 0 }: Unrecorded): void {
    const { target } = one;
    const stillAtMs = stillDueAtMs(target, dueAtMs, this.#board.state(target.check, target.slug), nowMs);
    this.leave(one, stillAtMs, Math.max(stillAtMs, notBeforeMs));
  }

  /** Computes due times from now: the clock was set back, it may be by days. */
  setBack(nowMs: number): void {
    for (const one of this.#checks.values()) {
      const { schedule, slug } = one.target;
      const dueAtMs = Math.min(one.dueAtMs, nextDueAtMs(schedule, slug, nowMs));
      if (one.underWay === null && dueAtMs !== one.dueAtMs) this.#enqueue(one, dueAtMs);
    }
  }

  /** The running ones, each until its end. */
  underWay(): Promise<unknown>[] {
    return [...this.#checks.values()].flatMap(({ underWay }) => underWay ?? []);
  }

  /** Resolves when none is running. One that could not be run with others is a run of its own afterwards. */
  async whenIdle(): Promise<void> {
    for (let running = this.underWay(); running.length > 0; running = this.underWay())
      await Promise.allSettled(running);
  }

  #enqueue(one: OwnCheck, dueAtMs: number, notBeforeMs = dueAtMs): void {
    one.dueAtMs = dueAtMs;
    one.ticket++;
    this.#queue.add(notBeforeMs, { one, ticket: one.ticket });
  }

  #drop(key: string, one: OwnCheck): void {
    this.#checks.delete(key);
    one.ticket++;
  }
}

/** What is due when, the earliest first: a binary heap. */
class DueQueue<Item> {
  readonly #heap: { readonly dueAtMs: number; readonly item: Item }[] = [];

  /** The earliest due time; null when nothing is in it. */
  nextAtMs(): number | null {
    return this.#heap[0]?.dueAtMs ?? null;
  }

  add(dueAtMs: number, item: Item): void {
    const heap = this.#heap;
    let at = heap.push({ dueAtMs, item }) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  /** Takes out the earliest. */
  take(): Item | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first?.item;
    heap[0] = last;
    for (let at = 0; ;) {
      // Pairs are not arrays: with 10,000 checks a run goes through twenty levels, and each array would be garbage.
      const left = 2 * at + 1;
      const right = left + 1;
      const child = right < heap.length && this.#isBefore(right, left) ? right : left;
      if (child >= heap.length || !this.#isBefore(child, at)) return first.item;
      this.#swap(at, child);
      at = child;
    }
  }

  #isBefore(left: number, right: number): boolean {
    return (this.#heap[left]?.dueAtMs ?? Infinity) < (this.#heap[right]?.dueAtMs ?? Infinity);
  }

  #swap(left: number, right: number): void {
    const one = this.#heap[left];
    const other = this.#heap[right];
    if (one === undefined || other === undefined) return;
    this.#heap[left] = other;
    this.#heap[right] = one;
  }
}
