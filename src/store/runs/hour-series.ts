import { hourMs } from "../../base/time.ts";
import { severities, type Severity } from "../../contract/severity.ts";

/** One run as a series keeps it. */
export interface HourRun {
  readonly atMs: number;
  readonly severity: Severity;
  readonly currentCount: number | null;
}

const width = 3;
const leastCapacity = 8;

/**
 * The last run of each hour of one check, oldest first. Numbers in one block: as objects, a week of 10,000 organizations was
 * 600 MB, and most of the time of the overview was garbage collection (2026-11).
 */
export class HourSeries {
  /** Instant, number of the severity, count (NaN: none) of each run. */
  #cells = new Float64Array(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Adds a run that is not older than the last one; it replaces that one in the same hour. */
  add({ atMs, severity, currentCount }: HourRun): void {
    if (this.#length > 0 && this.hour(this.#length - 1) === Math.floor(atMs / hourMs)) this.#length--;
    const at = this.#length * width;
    if (at + width > this.#cells.length) {
      const larger = new Float64Array(Math.max(leastCapacity * width, Math.ceil(at * 1.25)));
      larger.set(this.#cells);
      this.#cells = larger;
    }
    this.#cells.set([atMs, severities.indexOf(severity), currentCount ?? Number.NaN], at);
    this.#length++;
  }

  /** Forgets the runs of hours before `hour`. */
  dropBefore(hour: number): void {
    let dropped = 0;
    while (dropped < this.#length && this.hour(dropped) < hour) dropped++;
    if (dropped === 0) return;
    this.#cells.copyWithin(0, dropped * width, this.#length * width);
    this.#length -= dropped;
  }

  /** Returns the index of the last run in `hour` or before it, at most `carryHours` earlier; null without one. */
  lastIn(hour: number, carryHours: number): number | null {
    let [low, high] = [0, this.#length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.hour(middle) <= hour) low = middle + 1;
      else high = middle;
    }
    return low > 0 && this.hour(low - 1) >= hour - carryHours ? low - 1 : null;
  }

  atMs(index: number): number {
    return this.#cells[index * width] ?? Number.NaN;
  }

  /** Returns the hour of a run, since the epoch. */
  hour(index: number): number {
    return Math.floor(this.atMs(index) / hourMs);
  }

  severity(index: number): Severity | null {
    return severities[this.#cells[index * width + 1] ?? -1] ?? null;
  }

  currentCount(index: number): number | null {
    const count = this.#cells[index * width + 2] ?? Number.NaN;
    return Number.isNaN(count) ? null : count;
  }
}
