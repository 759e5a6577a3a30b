import type { AssetTypeCounts } from "./asset-types.ts";
import type { SpikeCounts } from "./verdict.ts";
import { checkCount } from "./verdict.ts";
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
}

/**
 * Counts deaths by the bounds of CONTRACT 2: an event exactly at the end is in the window, one exactly at the window's start
 * in the baseline. The order of events does not matter. Types without a death in either are left out.
 * @throws SpikeInputError for an instant or count that is out of range
 */
export function countEvents(events: Iterable<CountedEvent>, window: SpikeWindow): EventCounts {
  const byType = new Map<string | null, { currentCount: number; baselineCount: number }>();
  let currentCount = 0;
  let baselineCount = 0;
  for (const { atMs, count = 1, status = "DETECTED_AS_DEAD", assetType = null } of events) {
    checkInstant("atMs", atMs);
    checkCount("count", count);
    if (status !== "DETECTED_AS_DEAD" || count === 0) continue;
    if (atMs <= window.baselineStartMs || atMs > window.endMs) continue;
    const ofType = byType.get(assetType) ?? { currentCount: 0, baselineCount: 0 };
    byType.set(assetType, ofType);
    if (atMs > window.windowStartMs) {
      currentCount += count;
      ofType.currentCount += count;
    } else {
      baselineCount += count;
      ofType.baselineCount += count;
    }
  }
  const assetTypes = [...byType].map(([assetType, counts]) => ({ assetType, ...counts }));
  assetTypes.sort((left, right) => ((left.assetType ?? "") < (right.assetType ?? "") ? -1 : 1));
  return { currentCount, baselineCount, assetTypes };
}
