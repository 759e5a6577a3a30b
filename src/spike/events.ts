import type { AssetTypeCounts } from "./asset-types.ts";
import type { CountKind } from "./findings.ts";
import { type SpikeCounts, checkCount } from "./verdict.ts";
import type { DayWindow } from "./median.ts";
import { checkInstant, type SpikeWindow } from "./window.ts";

/** The fields of a liveness event that counting needs. */
export interface CountedEvent {
  /** Integer epoch ms. */
  readonly atMs: number;
  /** [1]; larger for data that is counted already. */
  readonly count?: number;
  /** [DETECTED_AS_DEAD]; other statuses are not counted. */
  readonly status?: string;
  readonly assetType?: string | null;
  /** Needed only when assets are counted. */
  readonly asset?: string | null;
}

/** Deaths in the window and the baseline, in total and by asset type (null: events without one), by name. */
export interface EventCounts extends SpikeCounts {
  readonly assetTypes: readonly AssetTypeCounts[];
  /** Deaths in each of `days`, in their order; absent: no days were given. */
  readonly dayCounts?: readonly number[];
}

/**
 * Counts deaths by the bounds of CONTRACT 2: an event at the end is in the window, one at the window's start in the
 * baseline. Events may have any order. Types without deaths are left out. With `days` (medianDays), counts each day
 * too. When assets are counted, each (assetType, asset) counts once in the window and once in each day, an event
 * without an asset with its `count`, and baselineCount is the sum of the days.
 * @throws SpikeInputError for an instant or count out of range
 */
export function countEvents(
  events: Iterable<CountedEvent>,
  { baselineStartMs, windowStartMs, endMs }: SpikeWindow,
  days: readonly DayWindow[] = [],
  counting: CountKind = "deaths",
): EventCounts {
  const intervals = [
    { afterMs: windowStartMs, untilMs: endMs },
    { afterMs: counting === "assets" ? windowStartMs : baselineStartMs, untilMs: windowStartMs },
    ...days,
  ];
  const all = intervals.map(() => 0);
  const byType = new Map<string | null, number[]>();
  const seen = new Set<string>();
  for (const { atMs, count = 1, status = "DETECTED_AS_DEAD", assetType = null, asset = null } of events) {
    checkInstant("atMs", atMs);
    checkCount("count", count);
    if (status !== "DETECTED_AS_DEAD" || count === 0) continue;
    const isAsset = counting === "assets" && asset !== null;
    for (const [index, { afterMs, untilMs }] of intervals.entries()) {
      if (atMs <= afterMs || atMs > untilMs) continue;
      const name = isAsset ? JSON.stringify([index, assetType, asset]) : "";
      if (isAsset && seen.has(name)) continue;
      if (isAsset) seen.add(name);
      const ofType = byType.get(assetType) ?? intervals.map(() => 0);
      byType.set(assetType, ofType);
      for (const counts of [all, ofType]) counts[index] = (counts[index] ?? 0) + (isAsset ? 1 : count);
    }
  }
  const named = ([currentCount = 0, baselineCount = 0, ...dayCounts]: readonly number[]) => ({
    currentCount,
    baselineCount: counting === "assets" ? dayCounts.reduce((sum, count) => sum + count, 0) : baselineCount,
    ...(days.length === 0 ? {} : { dayCounts }),
  });
  const assetTypes = [...byType]
    .map(([assetType, counts]) => ({ assetType, ...named(counts) }))
    .toSorted((left, right) => ((left.assetType ?? "") < (right.assetType ?? "") ? -1 : 1));
  return { ...named(all), assetTypes };
}
