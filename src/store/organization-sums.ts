import { minuteMs } from "../base/time.ts";
import type { AssetTypeDeaths, Interval } from "../contract/liveness-counts.ts";
import { cellNumbers } from "./event-changes.ts";
import { RunningSeries } from "./running-series.ts";

interface TypeSeries {
  readonly typeId: number;
  readonly assetType: string | null;
  readonly series: RunningSeries;
}

/** Reads single deaths from ≤ at < to, as pairs of type and number. */
type ReadEdge = (fromMs: number, toMs: number) => readonly (readonly [number, number])[];

/** Of maps and arrays around a series, measured with 5,000 of them, 2026-11. */
const overheadBytes = 400;

/** The running sums of one organization, from a first minute on. */
export class OrganizationSums {
  #fromMinute: number;
  /** The first minute that is not read yet; Infinity: all are. */
  #nextMinute: number;
  /** Without a type first, then by name. */
  readonly #types: TypeSeries[] = [];
  #bytes = 0;
  /** The earliest minute that was asked for since the last trim. */
  #askedMinute = Infinity;
  #trimAtMinute = -Infinity;

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
    return this.#bytes;
  }

  get cells(): number {
    return this.#types.reduce((cells, { series }) => cells + series.cells, 0);
  }

  /** False when the sums are beyond the integers of JavaScript. */
  get isExact(): boolean {
    return this.#types.every(({ series }) => series.total <= Number.MAX_SAFE_INTEGER);
  }

  reachesTo(minute: number): boolean {
    return minute >= this.#fromMinute;
  }

  /** All before `nextMinute` was read; null: everything was. */
  loadedTo(nextMinute: number | null): void {
    this.#nextMinute = nextMinute ?? Infinity;
  }

  /** Adds cells [start, end) of slug_id, minute, type_id, deaths, in any order; those not to be known (yet) are left out. */
  add(cells: readonly number[], start: number, end: number, typeName: (typeId: number) => string | null): void {
    const byType = new Map<number, Map<number, number>>();
    for (let at = start; at < end; at += cellNumbers) {
      const minute = cells[at + 1] ?? 0;
      if (minute < this.#fromMinute || minute >= this.#nextMinute) continue;
      const typeId = cells[at + 2] ?? 0;
      const minutes = byType.get(typeId) ?? new Map<number, number>();
      byType.set(typeId, minutes);
      minutes.set(minute, (minutes.get(minute) ?? 0) + (cells[at + 3] ?? 0));
    }
    for (const [typeId, byMinute] of byType) {
      const minutes = [...byMinute.keys()].sort((a, b) => a - b);
      const { series } = this.#typeOf(typeId, typeName);
      const bytes = series.bytes;
      series.add(
        minutes,
        minutes.map((minute) => byMinute.get(minute) ?? 0),
      );
      this.#bytes += series.bytes - bytes;
    }
  }

  dropBefore(minute: number): void {
    let bytes = 0;
    for (const { series } of this.#types) {
      series.dropBefore(minute);
      bytes += series.bytes + overheadBytes;
    }
    this.#bytes = bytes;
  }

  /** Once in `everyMinutes`, forgets what nobody has asked for since the last time. */
  trim(askedMinute: number, everyMinutes: number): void {
    if (askedMinute < this.#askedMinute) this.#askedMinute = askedMinute;
    if (askedMinute < this.#trimAtMinute || askedMinute === Infinity) return;
    if (this.#trimAtMinute !== -Infinity && this.#askedMinute - everyMinutes > this.#fromMinute) {
      this.#fromMinute = this.#askedMinute - everyMinutes;
      this.dropBefore(this.#fromMinute);
    }
    this.#askedMinute = askedMinute;
    this.#trimAtMinute = askedMinute + everyMinutes;
  }

  /** Types that have a death in one of the intervals; `readEdge` is asked only for minutes that an interval cuts. */
  deaths(intervals: readonly Interval[], readEdge: ReadEdge): AssetTypeDeaths[] {
    const edges = this.#edgesOf(intervals, readEdge);
    const answer: AssetTypeDeaths[] = [];
    for (const { typeId, assetType, series } of this.#types) {
      let isAny = false;
      let lastMs = Number.NaN;
      let lastSum = 0;
      const deaths: number[] = [];
      for (const { afterMs, untilMs } of intervals) {
        // Intervals often begin where the last one has ended, or end where it has begun.
        const after = afterMs === lastMs ? lastSum : sumThrough(series, typeId, afterMs, edges);
        const until = untilMs <= afterMs ? after : sumThrough(series, typeId, untilMs, edges);
        lastMs = untilMs;
        lastSum = until;
        if (untilMs <= afterMs) lastMs = afterMs;
        if (until > after) isAny = true;
        deaths.push(until - after);
      }
      if (isAny) answer.push({ assetType, deaths });
    }
    return answer;
  }

  /** Deaths within the minute of an instant and up to it, by type, for instants that cut a minute with deaths. */
  #edgesOf(intervals: readonly Interval[], readEdge: ReadEdge): Edges | null {
    const edges: Edges = new Map();
    for (const { afterMs, untilMs } of intervals) {
      if (untilMs <= afterMs) continue;
      for (const atMs of [afterMs, untilMs]) {
        const endMs = atMs + 1;
        if (endMs % minuteMs === 0 || edges.has(atMs)) continue;
        const minute = Math.floor(endMs / minuteMs);
        if (!this.#types.some(({ series }) => series.isAt(series.placeOf(minute), minute))) continue;
        const byType = new Map<number, number>();
        for (const [typeId, count] of readEdge(minute * minuteMs, endMs)) {
          byType.set(typeId, (byType.get(typeId) ?? 0) + count);
        }
        edges.set(atMs, byType);
      }
    }
    return edges.size === 0 ? null : edges;
  }

  #typeOf(typeId: number, typeName: (typeId: number) => string | null): TypeSeries {
    const known = this.#types.find((type) => type.typeId === typeId);
    if (known !== undefined) return known;
    const type = { typeId, assetType: typeName(typeId), series: new RunningSeries() };
    this.#types.push(type);
    this.#types.sort((a, b) => ((a.assetType ?? "") < (b.assetType ?? "") ? -1 : 1));
    this.#bytes += type.series.bytes + overheadBytes;
    return type;
  }
}

type Edges = Map<number, ReadonlyMap<number, number>>;

/** Running sum of all deaths at or before an instant. */
function sumThrough(series: RunningSeries, typeId: number, atMs: number, edges: Edges | null): number {
  const sum = series.sumBefore(series.placeOf(Math.floor((atMs + 1) / minuteMs)));
  return edges === null ? sum : sum + (edges.get(atMs)?.get(typeId) ?? 0);
}
