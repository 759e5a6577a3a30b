import { FlatlineError } from "../base/errors.ts";
import { dayMs, hourMs } from "../base/time.ts";
import type { HealthcheckResult } from "../contract/healthcheck.ts";
import type { AssetStatus, LivenessStore } from "../store/events/liveness.ts";
import {
  coverageIntervals,
  evaluateEventFlow,
  isSilent,
  type EventFlowInput,
  type EventFlowThresholds,
} from "./event-flow.ts";
import { evaluateSentinel } from "./sentinel.ts";

/** What is asked of the stored events beside their counts; local events only. */
export interface LivenessChecks {
  sentinel(ask: {
    slug: string;
    nowMs: number;
    assets: readonly string[];
    appUrl: string | null;
  }): Promise<HealthcheckResult>;
  eventFlow(ask: {
    slug: string;
    nowMs: number;
    thresholds: EventFlowThresholds;
    appUrl: string | null;
  }): Promise<HealthcheckResult>;
  /** @throws FlatlineError stream_silent when no event of any status came for longer than `maxSilenceMs`. */
  refuseSilence(ask: { slug: string; nowMs: number; maxSilenceMs: number }): Promise<void>;
}

export interface LivenessChecksOptions {
  readonly liveness: LivenessStore;
  /** Instant of the organization's first stored event; null without one. */
  readonly firstEventAtMs: (slug: string) => Promise<number | null>;
}

// What a sentinel was called longer ago than this is history: it would have been seen since.
const sentinelLookbackMs = 90 * dayMs;
// Late events may come this much later than they happened to be seen at once; others when all is read again.
const lateMs = 2 * hourMs;
const readAgainAfterMs = hourMs;

interface Looked {
  readonly assets: string;
  readonly wholeAtMs: number;
  readonly nowMs: number;
  readonly statuses: ReadonlyMap<string, AssetStatus>;
}

interface UsualDays {
  readonly atMs: number;
  readonly byDay: readonly number[];
}

/**
 * The checks over single events. Both read long stretches of raw rows, so what is old is read again once an hour only; a
 * clock that goes back (`check --at`) reads anew.
 */
export function createLivenessChecks({ liveness, firstEventAtMs }: LivenessChecksOptions): LivenessChecks {
  const looked = new Map<string, Looked>();
  const usual = new Map<string, UsualDays>();

  async function statusesOf(slug: string, assets: readonly string[], nowMs: number): Promise<readonly AssetStatus[]> {
    const key = JSON.stringify(assets);
    const last = looked.get(slug);
    const isKnown =
      last !== undefined && last.assets === key && nowMs >= last.nowMs && nowMs - last.wholeAtMs < readAgainAfterMs;
    const afterMs = isKnown ? last.nowMs - lateMs : nowMs - sentinelLookbackMs;
    const found = await liveness.lastStatuses({ slug, assets, interval: { afterMs, untilMs: nowMs } });
    const statuses = new Map(isKnown ? last.statuses : []);
    for (const status of found) statuses.set(status.asset, status);
    looked.set(slug, { assets: key, wholeAtMs: isKnown ? last.wholeAtMs : nowMs, nowMs, statuses });
    return [...statuses.values()];
  }

  /** Of whole days after the first event only: the day on which flatline was set up says nothing of what is usual. */
  async function usualDaysOf(slug: string, nowMs: number): Promise<readonly number[]> {
    const known = usual.get(slug);
    if (known !== undefined && nowMs >= known.atMs && nowMs - known.atMs < readAgainAfterMs) return known.byDay;
    const firstMs = await firstEventAtMs(slug);
    const byDay: number[] = [];
    for (const interval of coverageIntervals(nowMs).slice(1)) {
      if (firstMs === null || firstMs > interval.afterMs) break;
      byDay.push(await liveness.distinctAssets(slug, interval));
    }
    usual.set(slug, { atMs: nowMs, byDay });
    return byDay;
  }

  return {
    sentinel: async ({ slug, nowMs, assets, appUrl }) => {
      const statuses = await statusesOf(slug, assets, nowMs);
      return evaluateSentinel({ slug, nowMs, assets, statuses, appUrl });
    },
    eventFlow: async ({ slug, nowMs, thresholds, appUrl }) => {
      const input: EventFlowInput = {
        slug,
        nowMs,
        thresholds,
        lastEventAtMs: await liveness.lastEventAtMs(slug, nowMs),
        checkedAssets: await liveness.distinctAssets(slug, { afterMs: nowMs - dayMs, untilMs: nowMs }),
        checkedAssetsByDay: await usualDaysOf(slug, nowMs),
        appUrl,
      };
      return evaluateEventFlow(input);
    },
    refuseSilence: async ({ slug, nowMs, maxSilenceMs }) => {
      const lastEventAtMs = await liveness.lastEventAtMs(slug, nowMs);
      if (!isSilent(lastEventAtMs, nowMs, maxSilenceMs)) return;
      const since = lastEventAtMs === null ? "was ever stored" : `since ${new Date(lastEventAtMs).toISOString()}`;
      throw new FlatlineError(
        "stream_silent",
        `no liveness event ${since}: without any there are no deaths to count, see whether the liveness checker still runs`,
      );
    },
  };
}
