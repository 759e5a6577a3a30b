import type { CountKind } from "../spike/findings.ts";
import { medianDays, type BaselineKind } from "../spike/median.ts";
import type { SpikeThresholds } from "../spike/thresholds.ts";
import { spikeWindow } from "../spike/window.ts";
import type { EventRecord } from "./event-record.ts";

/** What is counted, and in which windows. */
export interface Counting {
  readonly thresholds: Pick<SpikeThresholds, "windowHours" | "baselineDays">;
  readonly baseline: BaselineKind;
  readonly count: CountKind;
}

/** Returns the counts of the windows that end at `nowMs`, and of each day of a median; an asset counts once in each. */
export function countsAt(record: EventRecord, nowMs: number, { thresholds, baseline, count }: Counting) {
  const { baselineStartMs, windowStartMs, endMs } = spikeWindow(nowMs, thresholds);
  const countIn = count === "assets" ? assetsIn : deathsIn;
  const dayCounts =
    baseline === "mean"
      ? []
      : medianDays(nowMs, thresholds).map(({ afterMs, untilMs }) => countIn(record, afterMs, untilMs));
  return {
    currentCount: countIn(record, windowStartMs, endMs),
    // The median of assets has no count of the whole baseline, in which an asset would be one.
    baselineCount:
      count === "assets"
        ? dayCounts.reduce((sum, some) => sum + some, 0)
        : deathsIn(record, baselineStartMs, windowStartMs),
    dayCounts,
  };
}

function deathsIn(record: EventRecord, afterMs: number, untilMs: number): number {
  const { deathsBefore } = record;
  return (deathsBefore[deathsUpTo(record, untilMs)] ?? 0) - (deathsBefore[deathsUpTo(record, afterMs)] ?? 0);
}

function assetsIn(record: EventRecord, afterMs: number, untilMs: number): number {
  const { deathAsset, deathsBefore } = record;
  const assets = new Set<number>();
  let nameless = 0;
  const end = deathsUpTo(record, untilMs);
  for (let death = deathsUpTo(record, afterMs); death < end; death++) {
    const asset = deathAsset[death] ?? -1;
    if (asset >= 0) assets.add(asset);
    else nameless += (deathsBefore[death + 1] ?? 0) - (deathsBefore[death] ?? 0);
  }
  return assets.size + nameless;
}

/** How many instants of deaths lie at or before `atMs`. */
function deathsUpTo({ deathAtMs }: EventRecord, atMs: number): number {
  let [low, high] = [0, deathAtMs.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((deathAtMs[middle] ?? 0) <= atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
