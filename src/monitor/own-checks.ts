import type { Board } from "../store/runs/board.ts";
import { DueQueue } from "./due-queue.ts";
import { firstDueAtMs, rescheduledAtMs } from "./due-times.ts";
import type { Membership } from "./membership.ts";
import { nextDueAtMs, scheduleKey } from "./schedule.ts";
import { checkKey } from "../contract/check-key.ts";
import type { CheckTarget } from "../checks/checks.ts";

/** A check that this process runs. */
export interface OwnCheck {
  target: CheckTarget;
  /** Its current run is the last one here: another process runs the check, or it is no longer configured. */
  isLeaving: boolean;
  dueAtMs: number;
  /** Its entry of the queue: an older one does not count. */
  ticket: number;
  /** Settles when the run is over and recorded, or goes on as another one. */
  underWay: Promise<unknown> | null;
}

export interface OwnChecksOptions {
  readonly membership: Pick<Membership, "owns">;
  readonly board: Pick<Board, "state">;
}

/** The checks that this process runs, in memory: when each is due follows from its last run. */
export class OwnChecks {
  readonly #options: OwnChecksOptions;
  readonly #checks = new Map<string, OwnCheck>();
  readonly #queue = new DueQueue<{ readonly one: OwnCheck; readonly ticket: number }>();

  constructor(options: OwnChecksOptions) {
    this.#options = options;
  }

  /** Adds the configured checks that this process owns and removes the rest; a running one is removed when it ends. */
  arrange(targets: ReadonlyMap<string, CheckTarget>, nowMs: number): void {
    const { membership, board } = this.#options;
    for (const [key, one] of this.#checks) {
      const target = targets.get(key);
      one.isLeaving = target === undefined || !membership.owns(target);
      if (one.isLeaving && one.underWay === null) this.#drop(key, one);
    }
    for (const [key, target] of targets) {
      if (!membership.owns(target)) continue;
      const known = this.#checks.get(key);
      if (known === undefined) {
        const one: OwnCheck = { target, isLeaving: false, dueAtMs: 0, ticket: 0, underWay: null };
        this.#checks.set(key, one);
        this.#enqueue(one, firstDueAtMs(target, board.state(target.check, target.slug), nowMs));
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

  /** When the next one is due, or earlier; null when none is waited for. */
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

  /** Ends a run: the check is due again, or goes where it is no longer this process's. */
  leave(one: OwnCheck, dueAtMs: number, notBeforeMs: number): void {
    one.underWay = null;
    if (one.isLeaving) this.#drop(checkKey(one.target), one);
    else this.#enqueue(one, dueAtMs, notBeforeMs);
  }

  /** Computes due times from now: the clock was set back, it may be by days. */
  setBack(nowMs: number): void {
    for (const one of this.#checks.values()) {
      const { schedule, slug } = one.target;
      const dueAtMs = Math.min(one.dueAtMs, nextDueAtMs(schedule, slug, nowMs));
      if (one.underWay === null && dueAtMs !== one.dueAtMs) this.#enqueue(one, dueAtMs);
    }
  }

  /** The running ones. */
  underWay(): { readonly target: CheckTarget; readonly ended: Promise<unknown> }[] {
    return [...this.#checks.values()].flatMap(({ target, underWay }) =>
      underWay === null ? [] : [{ target, ended: underWay }],
    );
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
