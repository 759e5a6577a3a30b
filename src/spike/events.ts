import type { AssetTypeCounts } from "./asset-types.ts";
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
 * deaths of each are counted too.
 * @throws SpikeInputError for an instant or count that is out of range
 */
export function countEvents(
  events: Iterable<CountedEvent>,
  window: SpikeWindow,
  days: readonly DayWindow[] = [],
): EventCounts {
  const byType = new Map<string | null, MutableCounts>();
  const all = noCounts(days);
  const startMs = Math.min(window.baselineStartMs, days.at(-1)?.afterMs ?? window.baselineStartMs);
  for (const { atMs, count = 1, status = "DETECTED_AS_DEAD", assetType = null } of events) {
    checkInstant("atMs", atMs);
    checkCount("count", count);
    if (status !== "DETECTED_AS_DEAD" || count === 0) continue;
    if (atMs <= startMs || atMs > window.endMs) continue;
    const ofType = byType.get(assetType) ?? noCounts(days);
    byType.set(assetType, ofType);
    add(all, atMs, count, window, days);
    add(ofType, atMs, count, window, days);
  }
  const isSeen = ({ currentCount, baselineCount, dayCounts }: MutableCounts): boolean =>
    currentCount + baselineCount > 0 || dayCounts.some((deaths) => deaths > 0);
  const assetTypes = [...byType]
    .filter(([, counts]) => isSeen(counts))
    .map(([assetType, counts]) => ({ assetType, ...withDays(counts) }));
  assetTypes.sort((left, right) => ((left.assetType ?? "") < (right.assetType ?? "") ? -1 : 1));
  return { ...withDays(all), assetTypes };
}

interface MutableCounts {
  currentCount: number;
  baselineCount: number;
  readonly dayCounts: number[];
}

function noCounts(days: readonly DayWindow[]): MutableCounts {
  return { currentCount: 0, baselineCount: 0, dayCounts: days.map(() => 0) };
}

function add(
  counts: MutableCounts,
  atMs: number,
  count: number,
  window: SpikeWindow,
  days: readonly DayWindow[],
): void {
  if (atMs > window.windowStartMs) counts.currentCount += count;
  else if (atMs > window.baselineStartMs) counts.baselineCount += count;
  for (const [index, { afterMs, untilMs }] of days.entries()) {
    if (atMs > afterMs && atMs <= untilMs) counts.dayCounts[index] = (counts.dayCounts[index] ?? 0) + count;
  }
}

function withDays({ currentCount, baselineCount, dayCounts }: MutableCounts): SpikeCounts & {
  readonly dayCounts?: readonly number[];
} {
  return { currentCount, baselineCount, ...(dayCounts.length === 0 ? {} : { dayCounts }) };
}
