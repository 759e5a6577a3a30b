import type { CheckTarget } from "../checks/checks.ts";
import type { CountsHold } from "../contract/liveness-counts.ts";

/** What is known at a look at the holds. */
export interface HoldLook {
  readonly nowMs: number;
  /** How often any counts changed so far; null: it is unknown. */
  readonly changes: number | null;
}

/** Checks of one schedule that are due at the same time, while the reports of their last runs hold. They run as one. */
export class DueGroup {
  /** One of them; its schedule is that of all. */
  readonly target: CheckTarget;
  dueAtMs: number;
  /** Settles when their run is over and recorded. */
  underWay: Promise<unknown> | null = null;
  /** Whether some of its checks have left it, or are others by now. */
  isChanged = false;
  /** Ascending. */
  #checkIds: Int32Array = new Int32Array();
  #joined: number[] = [];
  /** By their holds no count changes from here on until the first one ends. */
  #sinceMs = -Infinity;
  #lastChanges: number | null = null;

  constructor(target: CheckTarget, dueAtMs: number) {
    this.target = target;
    this.dueAtMs = dueAtMs;
  }

  /** The numbers of the checks, ascending; some may have left meanwhile. */
  get checkIds(): Int32Array {
    if (this.#joined.length > 0) {
      this.#checkIds = merged(this.#checkIds, Int32Array.from(this.#joined).sort());
      this.#joined = [];
    }
    return this.#checkIds;
  }

  /** Adds a check whose report holds by all changes that were read so far. */
  join(checkId: number, { fromMs }: CountsHold): void {
    this.#joined.push(checkId);
    this.#sinceMs = Math.max(this.#sinceMs, fromMs);
  }

  keepOnly(checkIds: Int32Array): void {
    this.#joined = [];
    this.#checkIds = checkIds;
    this.isChanged = false;
  }

  /** Returns what says whether a hold is valid still; the counts are asked only if any have changed since the last look. */
  looker({ nowMs, changes }: HoldLook): (hold: CountsHold) => boolean {
    const isSame = changes !== null && changes === this.#lastChanges && nowMs >= this.#sinceMs;
    this.#lastChanges = changes;
    this.#sinceMs = nowMs;
    if (changes === null) return () => false;
    if (isSame) return ({ untilMs }) => nowMs <= untilMs;
    return (hold) => nowMs >= hold.fromMs && nowMs <= hold.untilMs && hold.isCurrent();
  }
}

/** A check that has left and joined again is in both, or twice. */
function merged(left: Int32Array, right: Int32Array): Int32Array {
  const all = new Int32Array(left.length + right.length);
  let [length, fromLeft, fromRight] = [0, 0, 0];
  while (fromLeft < left.length || fromRight < right.length) {
    const [one, other] = [left[fromLeft] ?? Infinity, right[fromRight] ?? Infinity];
    if (one <= other) fromLeft++;
    else fromRight++;
    const checkId = Math.min(one, other);
    if (length === 0 || all[length - 1] !== checkId) all[length++] = checkId;
  }
  return all.subarray(0, length);
}
