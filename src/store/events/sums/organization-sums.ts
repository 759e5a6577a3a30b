import { minuteMs } from "../../../base/time.ts";
import type { AssetTypeDeaths, CountsHold, Interval } from "../../../contract/liveness-counts.ts";
import { cellNumbers } from "../sqlite/changes.ts";
import { mostTypes, RunningSums, type SumCell } from "./running-sums.ts";
import type { SumScratch } from "./scratch.ts";

/** A query whose sums are in a scratch buffer: the offsets of each interval's end and start. */
export interface AskedSums {
  readonly sums: OrganizationSums;
  readonly ends: readonly number[];
}

/** Size of the objects around the arrays of an organization. */
const overheadBytes = 1_024;

/** The running sums of one organization, from a first minute on. */
export class OrganizationSums {
  #fromMinute: number;
  /** The first minute that is not loaded; Infinity: all are. */
  #nextMinute: number;
  readonly #sums = new RunningSums();
  /** Position of a type in the sums, by its number in the store. */
  readonly #types = new Map<number, number>();
  /** Names by position, and positions in the order of names: no type comes first. */
  readonly #names: (string | null)[] = [];
  #order: readonly number[] = [];
  /** The earliest minute that was queried since the last trim. */
  #askedMinute = Infinity;
  #trimAtMinute = -Infinity;
  #isExact = true;
  #total = 0;
  /** Changes with the counts; NaN after the last change. */
  #version = 0;

  constructor(fromMinute: number) {
    this.#fromMinute = fromMinute;
    this.#nextMinute = fromMinute;
  }

  get isLoaded(): boolean {
    return this.#nextMinute === Infinity;
  }

  get nextMinute(): number {
    return this.#nextMinute;
  }

  get bytes(): number {
    return this.#sums.bytes + overheadBytes;
  }

  get cells(): number {
    return this.#sums.cells;
  }

  /** False if there are more deaths than safe integers, or more types than positions. */
  get isExact(): boolean {
    return this.#isExact;
  }

  reachesTo(minute: number): boolean {
    return minute >= this.#fromMinute;
  }

  /** Records that everything before `nextMinute` is loaded; null: everything is. */
  loadedTo(nextMinute: number | null): void {
    this.#nextMinute = nextMinute ?? Infinity;
  }

  /**
   * Adds cells [start, end) of slug_id, minute, type_id, deaths, in any order; cells outside of the loaded range are
   * ignored.
   */
  add(cells: readonly number[], start: number, end: number, typeName: (typeId: number) => string | null): void {
    this.#version++;
    const added: SumCell[] = [];
    for (let at = start; at < end; at += cellNumbers) {
      const minute = cells[at + 1] ?? 0;
      if (minute < this.#fromMinute || minute >= this.#nextMinute) continue;
      const type = this.#placeOf(cells[at + 2] ?? 0, typeName);
      const deaths = cells[at + 3] ?? 0;
      this.#total += deaths;
      added.push({ minute, type, deaths });
    }
    if (this.#types.size > mostTypes || this.#total > Number.MAX_SAFE_INTEGER / mostTypes) this.#isExact = false;
    if (this.#isExact) this.#sums.add(inOrder(added));
  }

  dropBefore(minute: number): void {
    this.#version++;
    this.#sums.dropBefore(minute);
  }

  /** Ends all holds: the counts are no longer followed. */
  end(): void {
    this.#version = Number.NaN;
  }

  /**
   * Returns how long the counts of these intervals hold as they move with the clock, now at `nowMs`: until one of their ends comes
   * to a minute with deaths, forward or, after the clock was set back, backward. Null if one is within such a minute.
   */
  hold(intervals: readonly Interval[], nowMs: number): CountsHold | null {
    let [fromMs, untilMs] = [-Infinity, Infinity];
    for (const { afterMs, untilMs: endMs } of intervals)
      for (const atMs of [afterMs, endMs]) {
        const quiet = this.#sums.quietAround(Math.floor((atMs + 1) / minuteMs));
        if (quiet === null) return null;
        const distanceMs = nowMs - (atMs + 1);
        fromMs = Math.max(fromMs, Math.max(quiet.from, this.#fromMinute) * minuteMs + distanceMs);
        untilMs = Math.min(untilMs, quiet.until * minuteMs + distanceMs);
      }
    const version = this.#version;
    return { fromMs, untilMs, isCurrent: () => this.#version === version };
  }

  /** Once per `everyMinutes`, drops minutes that were not queried since the last time. */
  trim(askedMinute: number, everyMinutes: number): void {
    if (askedMinute < this.#askedMinute) this.#askedMinute = askedMinute;
    if (askedMinute < this.#trimAtMinute || askedMinute === Infinity) return;
    if (this.#trimAtMinute !== -Infinity && this.#askedMinute - everyMinutes > this.#fromMinute) {
      this.#fromMinute = this.#askedMinute - everyMinutes;
      this.#sums.dropBefore(this.#fromMinute);
    }
    this.#askedMinute = askedMinute;
    this.#trimAtMinute = askedMinute + everyMinutes;
  }

  /**
   * Writes the sums that the intervals need, and records their partial minutes; `read` returns the result when those are
   * added.
   */
  ask(slugId: number, intervals: readonly Interval[], scratch: SumScratch): AskedSums {
    // Intervals often share an end.
    const instants: number[] = [];
    const starts: number[] = [];
    const startOf = (atMs: number): number => {
      const known = instants.indexOf(atMs);
      if (known >= 0) return starts[known] ?? 0;
      instants.push(atMs);
      const start = scratch.take(this.#sums.types);
      starts.push(start);
      this.#sumThrough(slugId, atMs, scratch, start);
      return start;
    };
    const ends: number[] = [];
    for (const { afterMs, untilMs } of intervals) {
      if (untilMs > afterMs) ends.push(startOf(untilMs), startOf(afterMs));
      else ends.push(0, 0);
    }
    return { sums: this, ends };
  }

  /** Returns the types with a death in one of the intervals. */
  read({ ends }: AskedSums, { sums }: SumScratch): AssetTypeDeaths[] {
    const answer: AssetTypeDeaths[] = [];
    for (const type of this.#order) {
      let isAny = false;
      const deaths: number[] = [];
      for (let end = 0; end < ends.length; end += 2) {
        const count = (sums[(ends[end] ?? 0) + type] ?? 0) - (sums[(ends[end + 1] ?? 0) + type] ?? 0);
        if (count > 0) isAny = true;
        deaths.push(count);
      }
      if (isAny) answer.push({ assetType: this.#names[type] ?? null, deaths });
    }
    return answer;
  }

  /** Writes the sums of all deaths at or before an instant. */
  #sumThrough(slugId: number, atMs: number, scratch: SumScratch, start: number): void {
    const endMs = atMs + 1;
    const minute = Math.floor(endMs / minuteMs);
    const hasDeaths = this.#sums.before(minute, scratch.sums, start);
    if (!hasDeaths || endMs === minute * minuteMs) return;
    scratch.addEdge({ slugId, fromMs: minute * minuteMs, toMs: endMs, start, types: this.#types });
  }

  #placeOf(typeId: number, typeName: (typeId: number) => string | null): number {
    const known = this.#types.get(typeId);
    if (known !== undefined) return known;
    const place = this.#names.push(typeName(typeId)) - 1;
    this.#types.set(typeId, place);
    const nameAt = (at: number): string => this.#names[at] ?? "";
    this.#order = [...this.#names.keys()].sort((a, b) => (nameAt(a) < nameAt(b) ? -1 : 1));
    return place;
  }
}

/** Sorts cells by minute and type, and merges equal ones. */
function inOrder(cells: SumCell[]): readonly SumCell[] {
  cells.sort((a, b) => a.minute - b.minute || a.type - b.type);
  const merged: SumCell[] = [];
  for (const cell of cells) {
    const last = merged.at(-1);
    if (last === undefined || last.minute !== cell.minute || last.type !== cell.type) merged.push(cell);
    else merged[merged.length - 1] = { ...last, deaths: last.deaths + cell.deaths };
  }
  return merged;
}
