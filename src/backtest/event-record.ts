import { placeOf } from "../base/numbers.ts";
import { AssetBook, noType, type AssetName } from "../contract/assets.ts";
import type { Interval } from "../contract/liveness-counts.ts";
import { assetTypeAttribute } from "../evidence/attribution.ts";
import type { CountKind } from "../spike/findings.ts";
import type { SpikeRule } from "../spike/evaluate.ts";
import { medianDays } from "../spike/median.ts";
import type { SpikeThresholds } from "../spike/thresholds.ts";
import { spikeWindow } from "../spike/window.ts";
import type { HistoryEvent } from "../store/events/events.ts";

/** The events of one organization in sorted arrays, to count over long times without queries. */
export interface EventRecord {
  readonly slug: string;
  /** Instants of deaths, ascending, epoch ms. */
  readonly deathAtMs: readonly number[];
  /** Deaths before the one with that index; has one entry more. */
  readonly deathsBefore: readonly number[];
  /** The number of each death's asset; -1: none. */
  readonly deathAsset: readonly number[];
  /** When each death's asset was found alive, epoch ms; NaN: never. */
  readonly revivedAtMs: readonly number[];
  /** The index in `sets` of each death's type and attributes. */
  readonly deathSet: readonly number[];
  /** null: so many that attributes are no categories. */
  readonly sets: readonly ValueSet[] | null;
  /** Instants of events of any status, ascending. */
  readonly seenAtMs: readonly number[];
}

/** What deaths have in common: their attributes and, by its number, their type. */
type ValueSet = readonly (readonly [attribute: string, value: string])[];

// The daemon's evidence gives up at as many, in a window (store/events/evidence.ts).
const mostSets = 50_000;

/** Collects the events of one organization, in any order. */
export class EventRecorder {
  readonly #slug: string;
  readonly #assets = new AssetBook<number>();
  /** By their number in #assets. */
  readonly #names: AssetName[] = [];
  // Arrays of numbers: objects for millions of events would take three times the memory.
  readonly #at: number[] = [];
  /** 0: not a death. */
  readonly #deaths: number[] = [];
  readonly #isAlive: boolean[] = [];
  readonly #asset: number[] = [];
  readonly #set: number[] = [];
  /** Deaths that say the same share a set. */
  readonly #sets = new Map<string, number>();

  constructor(slug: string) {
    this.#slug = slug;
  }

  get length(): number {
    return this.#at.length;
  }

  add({ atMs, status, count, typeId, asset, attributes = "" }: HistoryEvent): void {
    const isDeath = status === "DETECTED_AS_DEAD";
    this.#at.push(atMs);
    this.#deaths.push(isDeath ? count : 0);
    this.#set.push(isDeath ? this.#setOf(`${typeId}${attributes}`) : -1);
    this.#isAlive.push(status === "DETECTED_AS_ALIVE");
    this.#asset.push(asset === null ? -1 : this.#numberOf({ typeId, asset }));
  }

  /** Returns the events by time; equal times keep the order of `add`. */
  finish(): EventRecord {
    const at = this.#at;
    const order = [...at.keys()].sort((left, right) => (at[left] ?? 0) - (at[right] ?? 0));
    const deathAtMs: number[] = [];
    const deathsBefore = [0];
    const deathAsset: number[] = [];
    const deathSet: number[] = [];
    const revivedAtMs: number[] = [];
    // Each asset's deaths since it was last found alive, linked from the latest.
    const latestDeath = new AssetBook<number>();
    const earlierDeath: number[] = [];
    for (const index of order) {
      const atMs = at[index] ?? 0;
      const count = this.#deaths[index] ?? 0;
      const asset = this.#asset[index] ?? -1;
      const name = this.#names[asset];
      if (count > 0) {
        const death = deathAtMs.push(atMs) - 1;
        deathsBefore.push((deathsBefore[death] ?? 0) + count);
        deathAsset.push(asset);
        deathSet.push(this.#set[index] ?? -1);
        revivedAtMs.push(Number.NaN);
        earlierDeath.push(name === undefined ? -1 : (latestDeath.get(name) ?? -1));
        if (name !== undefined) latestDeath.set(name, death);
      } else if (this.#isAlive[index] === true && name !== undefined) {
        for (const [dead, latest] of latestDeath.meant(name)) {
          for (let death = latest; death >= 0; death = earlierDeath[death] ?? -1) revivedAtMs[death] = atMs;
          latestDeath.delete(dead);
        }
      }
    }
    const seenAtMs = order.map((index) => at[index] ?? 0);
    const sets = this.#sets.size > mostSets ? null : [...this.#sets.keys()].map(valuesOf);
    return { slug: this.#slug, deathAtMs, deathsBefore, deathAsset, revivedAtMs, deathSet, sets, seenAtMs };
  }

  #setOf(values: string): number {
    const known = this.#sets.get(values) ?? this.#sets.size;
    if (known <= mostSets) this.#sets.set(values, known);
    return known;
  }

  #numberOf(name: AssetName): number {
    const known = this.#assets.get(name);
    if (known !== undefined) return known;
    this.#assets.set(name, this.#names.length);
    return this.#names.push(name) - 1;
  }
}

/** Reads a type's number and the JSON of attributes behind it. */
function valuesOf(values: string): ValueSet {
  const typeId = Number.parseInt(values, 10);
  const attributes = values.slice(String(typeId).length);
  return [
    ...(typeId === noType ? [] : [[assetTypeAttribute, String(typeId)] as const]),
    ...Object.entries(attributes === "" ? {} : (JSON.parse(attributes) as Record<string, string>)),
  ];
}

export interface Counting extends SpikeRule {
  readonly thresholds: Pick<SpikeThresholds, "windowHours" | "baselineDays">;
}

/** Returns the counts of the window, the baseline and each day of a median; an asset counts once in each. */
export function countsAt(record: EventRecord, nowMs: number, { thresholds, baseline, count }: Counting) {
  const { baselineStartMs, windowStartMs, endMs } = spikeWindow(nowMs, thresholds);
  const countIn = count === "assets" ? assetsIn : deathsIn;
  const dayCounts =
    baseline === "mean"
      ? []
      : medianDays(nowMs, thresholds).map(({ afterMs, untilMs }) => countIn(record, afterMs, untilMs));
  return {
    currentCount: countIn(record, windowStartMs, endMs),
    // For assets the days are added: over the whole baseline an asset would count once.
    baselineCount:
      count === "assets"
        ? dayCounts.reduce((sum, some) => sum + some, 0)
        : deathsIn(record, baselineStartMs, windowStartMs),
    dayCounts,
  };
}

function deathsIn(record: EventRecord, afterMs: number, untilMs: number): number {
  const { deathsBefore } = record;
  const until = (atMs: number): number => deathsBefore[placeOf(record.deathAtMs, atMs + 1)] ?? 0;
  return until(untilMs) - until(afterMs);
}

function assetsIn(record: EventRecord, afterMs: number, untilMs: number): number {
  const { deathAsset, deathsBefore } = record;
  const assets = new Set<number>();
  let nameless = 0;
  const end = placeOf(record.deathAtMs, untilMs + 1);
  for (let death = placeOf(record.deathAtMs, afterMs + 1); death < end; death++) {
    const asset = deathAsset[death] ?? -1;
    if (asset >= 0) assets.add(asset);
    else nameless += (deathsBefore[death + 1] ?? 0) - (deathsBefore[death] ?? 0);
  }
  return assets.size + nameless;
}

/**
 * Returns an interval's deaths by their set (an asset counts once, with its last death, where assets count), and how
 * many deaths of known assets are undone by its end.
 */
export function deathsBySet(record: EventRecord, { afterMs, untilMs }: Interval, count: CountKind) {
  const bySet = new Map<number, number>();
  const seen = new Set<number>();
  const regret = { judgedCount: 0, revivedCount: 0 };
  const first = placeOf(record.deathAtMs, afterMs + 1);
  for (let death = placeOf(record.deathAtMs, untilMs + 1) - 1; death >= first; death--) {
    const asset = record.deathAsset[death] ?? -1;
    const aliveAtMs = record.revivedAtMs[death] ?? Number.NaN;
    let deaths = (record.deathsBefore[death + 1] ?? 0) - (record.deathsBefore[death] ?? 0);
    if (asset >= 0) {
      regret.judgedCount += deaths;
      // An asset that is found alive at the instant of its death does not undo it.
      if (aliveAtMs > (record.deathAtMs[death] ?? 0) && aliveAtMs <= untilMs) regret.revivedCount += deaths;
      if (count === "assets") deaths = seen.has(asset) ? 0 : 1;
      seen.add(asset);
    }
    const set = record.deathSet[death] ?? -1;
    bySet.set(set, (bySet.get(set) ?? 0) + deaths);
  }
  return { bySet, regret, deaths: bySet.values().reduce((sum, some) => sum + some, 0) };
}
