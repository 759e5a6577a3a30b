import type { AssetTypeCounts } from "./asset-types.ts";
import type { CountKind } from "./findings.ts";
import { type SpikeCounts, checkCount } from "./verdict.ts";
import type { DayWindow } from "./median.ts";
import { checkInstant, type SpikeWindow } from "./window.ts";

/** One liveness event, as far as counting needs it. */
export interface CountedEvent {
  /** Integer epoch ms. */
  readonly atMs: number;
  /** [1]; for data that is already counted. */
  readonly count?: number;
  /** [DETECTED_AS_DEAD]; any other status is no death. */
  readonly status?: string;
  readonly assetType?: string | null;
  /** Only where assets are counted. */
  readonly asset?: string | null;
}

/** Deaths in the window and in the baseline, in all and by asset type (null: events without one), by name. */
export interface EventCounts extends SpikeCounts {
  readonly assetTypes: readonly AssetTypeCounts[];
  /** Deaths in each of the asked days, in their order; absent when none were asked for. */
  readonly dayCounts?: readonly number[];
}

/**
 * Counts deaths by the bounds of CONTRACT 2: an event exactly at the end is in the window, one exactly at the window's start
 * in the baseline. The order of events does not matter. Types without a death in any are left out. With `days` (medianDays) the
 * deaths of each are counted too. Where assets are counted, each (assetType, asset) counts once in the window and once in each day,
 * an event without an asset as many times as it says, and baselineCount is the sum of the days.
 * @throws SpikeInputError for an instant or count that is out of range
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
