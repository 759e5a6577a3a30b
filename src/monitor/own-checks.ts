import type { CheckTarget } from "../checks/checks.ts";
import { checkKey } from "../contract/check-key.ts";
import type { CountsHold } from "../contract/liveness-counts.ts";
import type { Board } from "../store/runs/board.ts";
import { Column } from "../store/runs/columns.ts";
import { DueGroup, type HoldLook } from "./due-group.ts";
import { firstDueAtMs, rescheduledAtMs, stillDueAtMs } from "./due-times.ts";
import type { Membership } from "./membership.ts";
import { nextDueAtMs, scheduleKey } from "./schedule.ts";

/** A check that this process runs. */
export class OwnCheck {
  target: CheckTarget;
  /** Its current run is the last one here: another process runs the check, or it is no longer configured. */
  isLeaving = false;
  /** With which it is due and runs while its report holds; null: it is due and runs by itself. */
  group: DueGroup | null = null;
  /** Its entry of the queue: an older one does not count. */
  ticket = 0;
  #dueAtMs = 0;
  #underWay: Promise<unknown> | null = null;

  constructor(target: CheckTarget) {
    this.target = target;
  }

  get dueAtMs(): number {
    return this.group?.dueAtMs ?? this.#dueAtMs;
  }

  set dueAtMs(atMs: number) {
    this.#dueAtMs = atMs;
  }

  /** Settles when the run is over and recorded, or goes on as another one. */
  get underWay(): Promise<unknown> | null {
    return this.group?.underWay ?? this.#underWay;
  }

  set underWay(ended: Promise<unknown> | null) {
    this.#underWay = ended;
  }
}

/** What is due: checks by themselves, and groups of those whose reports hold. */
export interface DueChecks {
  readonly checks: readonly OwnCheck[];
  readonly groups: readonly DueGroup[];
}

export interface OwnChecksOptions {
  readonly membership: Pick<Membership, "owns">;
  readonly board: Pick<Board, "state" | "idOf">;
}

interface Unrecorded {
  readonly nowMs: number;
  /** When it may run again at the earliest [when it is due]. */
  readonly notBeforeMs?: number;
}

interface QueuedCheck {
  readonly one: OwnCheck;
  readonly ticket: number;
}

/** The checks that this process runs, in memory: when each is due follows from its last run. */
export class OwnChecks {
  readonly #options: OwnChecksOptions;
  readonly #checks = new Map<string, OwnCheck>();
  readonly #queue = new DueQueue<QueuedCheck | DueGroup>();
  /** Checks in groups, by number. */
  readonly #grouped = new Column<OwnCheck>();
  readonly #holds = new Column<CountsHold>();
  /** Those that others may join, by check, schedule and due time. */
  readonly #open = new Map<string, DueGroup>();

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
      else if (one.group !== null && one.target !== target) one.group.isChanged = true;
    }
    for (const [key, target] of targets) {
      if (!membership.owns(target)) continue;
      const known = this.#checks.get(key);
      if (known === undefined) {
        const one = new OwnCheck(target);
        this.#checks.set(key, one);
        this.#enqueue(one, firstDueAtMs(target, board.state(target.check, target.slug), nowMs));
        continue;
      }
      // A report that the old one found does not hold.
      const wasHeld = known.group !== null && known.target !== target;
      const isChanged = scheduleKey(known.target.schedule) !== scheduleKey(target.schedule);
      const { dueAtMs } = known;
      known.target = target;
      if (known.underWay !== null) continue;
      if (isChanged) this.#enqueue(known, rescheduledAtMs(target, dueAtMs, nowMs));
      else if (wasHeld) this.#enqueue(known, dueAtMs);
    }
  }

  get(key: string): OwnCheck | undefined {
    return this.#checks.get(key);
  }

  /** When the next one is due, or earlier; null when none is waited for. */
  nextAtMs(): number | null {
    return this.#queue.nextAtMs();
  }

  /**
   * The checks that are due and not running, the longest due first; at most `limit`, but for those of groups whose reports hold no
   * longer, or that `canRepeat` refuses.
   */
  takeDue(
    look: HoldLook,
    limit: number,
    canRepeat: (checkId: number, atMs: number) => boolean = () => false,
  ): DueChecks {
    const checks: OwnCheck[] = [];
    const groups: DueGroup[] = [];
    while (checks.length < limit && (this.#queue.nextAtMs() ?? Infinity) <= look.nowMs) {
      const entry = this.#queue.take();
      if (entry instanceof DueGroup) {
        for (const one of this.#takeEnded(entry, look, canRepeat)) checks.push(one);
        if (entry.checkIds.length > 0) groups.push(entry);
      } else if (entry !== undefined && entry.ticket === entry.one.ticket && entry.one.underWay === null)
        checks.push(entry.one);
    }
    return { checks, groups };
  }

  /** Ends a run: the check is due again, or goes where it is no longer this process's. */
  leave(one: OwnCheck, dueAtMs: number, notBeforeMs = dueAtMs): void {
    one.underWay = null;
    if (one.isLeaving) this.#drop(checkKey(one.target), one);
    else this.#enqueue(one, dueAtMs, notBeforeMs);
  }

  /** Ends a run whose report holds: the check is due again with the others of its schedule. */
  leaveHeld(one: OwnCheck, dueAtMs: number, hold: CountsHold): void {
    const checkId = this.#options.board.idOf(one.target);
    // A change that was read while it was recorded is not seen at the next look.
    if (one.isLeaving || checkId === undefined || !hold.isCurrent()) return this.leave(one, dueAtMs);
    one.underWay = null;
    one.ticket++;
    this.#holds.set(checkId, hold);
    this.#grouped.set(checkId, one);
    one.group = this.#openGroup(one.target, dueAtMs);
    one.group.join(checkId, hold);
  }

  /** Ends the run of a group: it is due again, or each of its checks by itself where one of them is another one by now. */
  leaveGroup(group: DueGroup, dueAtMs: number, nowMs: number): void {
    if (group.isChanged) return this.dissolve(group, { nowMs });
    group.underWay = null;
    group.dueAtMs = dueAtMs;
    const key = groupKey(group.target, dueAtMs);
    const other = this.#open.get(key);
    this.#open.set(key, group);
    this.#queue.add(dueAtMs, group);
    // Those that ran by themselves and were recorded before.
    if (other !== undefined) this.#merge(other, group);
  }

  /** Ends a run that may not be recorded: the check is due as it was, unless a run is on the board by now. */
  leaveUnrecorded(one: OwnCheck, dueAtMs: number, { nowMs, notBeforeMs = 0 }: Unrecorded): void {
    const { target } = one;
    const stillAtMs = stillDueAtMs(target, dueAtMs, this.#options.board.state(target.check, target.slug), nowMs);
    this.leave(one, stillAtMs, Math.max(stillAtMs, notBeforeMs));
  }

  /** Ends the run of a group, which may not be recorded: each of its checks is due by itself. */
  dissolve(group: DueGroup, unrecorded: Unrecorded): void {
    for (const one of this.membersOf(group)) this.leaveUnrecorded(one, group.dueAtMs, unrecorded);
  }

  /** The checks of a group. */
  membersOf(group: DueGroup): OwnCheck[] {
    return [...group.checkIds].flatMap((checkId) => {
      const one = this.#grouped.get(checkId);
      return one?.group === group ? [one] : [];
    });
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

  /** Resolves when none of these is running. One that could not be run with others is a run of its own afterwards. */
  async whenIdle(isOf: (check: CheckTarget) => boolean): Promise<void> {
    for (;;) {
      const running = this.underWay().filter(({ target }) => isOf(target));
      if (running.length === 0) return;
      await Promise.allSettled(running.map(({ ended }) => ended));
    }
  }

  /** Takes those out of a due group whose reports hold no longer, and closes it. */
  #takeEnded(group: DueGroup, look: HoldLook, canRepeat: (checkId: number, atMs: number) => boolean): OwnCheck[] {
    const key = groupKey(group.target, group.dueAtMs);
    if (this.#open.get(key) === group) this.#open.delete(key);
    const holds = group.looker(look);
    const ended: OwnCheck[] = [];
    const held = group.checkIds.filter((checkId) => {
      const hold = this.#holds.get(checkId);
      if (!group.isChanged && hold !== undefined && holds(hold) && canRepeat(checkId, look.nowMs)) return true;
      const one = this.#grouped.get(checkId);
      if (one?.group !== group) return false;
      if (hold !== undefined && holds(hold) && canRepeat(checkId, look.nowMs)) return true;
      one.dueAtMs = group.dueAtMs;
      one.group = null;
      ended.push(one);
      return false;
    });
    group.keepOnly(held);
    return ended;
  }

  #merge(from: DueGroup, into: DueGroup): void {
    for (const checkId of from.checkIds) {
      const one = this.#grouped.get(checkId);
      const hold = this.#holds.get(checkId);
      if (one?.group !== from || hold === undefined) continue;
      one.group = into;
      into.join(checkId, hold);
    }
    from.keepOnly(new Int32Array());
  }

  #openGroup(target: CheckTarget, dueAtMs: number): DueGroup {
    const key = groupKey(target, dueAtMs);
    let group = this.#open.get(key);
    if (group === undefined) {
      this.#open.set(key, (group = new DueGroup(target, dueAtMs)));
      this.#queue.add(dueAtMs, group);
    }
    return group;
  }

  #enqueue(one: OwnCheck, dueAtMs: number, notBeforeMs = dueAtMs): void {
    this.#leaveGroupOf(one);
    one.dueAtMs = dueAtMs;
    one.ticket++;
    this.#queue.add(notBeforeMs, { one, ticket: one.ticket });
  }

  #drop(key: string, one: OwnCheck): void {
    this.#leaveGroupOf(one);
    this.#checks.delete(key);
    one.ticket++;
  }

  #leaveGroupOf(one: OwnCheck): void {
    if (one.group === null) return;
    one.group.isChanged = true;
    one.group = null;
  }
}

/** Jitter spreads the checks of a schedule: each has a due time of its own, and comes back to it. */
function groupKey({ check, slug, schedule }: CheckTarget, dueAtMs: number): string {
  return `${schedule.jitterMs > 0 ? slug : ""} ${check} ${scheduleKey(schedule)} ${dueAtMs}`;
}

/** What is due when, the earliest first: a binary heap. */
class DueQueue<Item> {
  readonly #heap: { readonly dueAtMs: number; readonly item: Item }[] = [];

  get size(): number {
    return this.#heap.length;
  }

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
      // Without arrays for pairs: with 10,000 checks a run goes through twenty levels, and each array is garbage.
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
