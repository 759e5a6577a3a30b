import { FlatlineError } from "../base/errors.ts";
import type { Clock } from "../base/time.ts";
import type { CallOptions, PlatformApi, SpikeRequest } from "../contract/platform-api.ts";
import { evaluateSpike, spikeWindow, SpikeInputError, windowCoverage, type SpikeThresholds } from "../spike/spike.ts";
import type { EventStore } from "../store/events.ts";

/** The part of the port that evaluates: what a scheduled spike check needs. */
export type SpikeEvaluator = Pick<PlatformApi, "deadAssetSpike">;

export interface LocalPlatformApiOptions {
  readonly store: { readonly events: Pick<EventStore, "counts"> };
  /** Its now is the end of the window: a fixed one evaluates the past (`check --at`). */
  readonly clock: Pick<Clock, "nowMs">;
  /** Template with `{slug}` (CONTRACT 4, appUrl). */
  readonly appUrl: string | null;
  /** Whom the caller may ask about; any other slug is refused, whether it exists or not. */
  readonly organizations: readonly string[];
}

/**
 * API v2's healthcheck over the stored liveness events, as the holder of one key would get it. Rejects with `api_forbidden`
 * for a slug out of reach, `api_bad_request` for thresholds that no evaluation is defined for, and with the store's codes.
 */
export function createLocalPlatformApi(options: LocalPlatformApiOptions): SpikeEvaluator {
  const reachable = new Set(options.organizations);
  return {
    deadAssetSpike: async (request, callOptions) => {
      const { slug } = request;
      if (!reachable.has(slug)) {
        throw new FlatlineError("api_forbidden", "this key has no access to that organization");
      }
      stopIfAborted(callOptions);
      return evaluateStored(request, options, callOptions);
    },
  };
}

/**
 * Share (0–1) of the baseline that lies after the organization's first stored event (CONTRACT 7, minBaselineCoverage); 0
 * without any event. Rejects with the store's codes.
 */
export async function baselineCoverage(
  store: { readonly events: Pick<EventStore, "firstEventAtMs"> },
  slug: string,
  thresholds: Pick<SpikeThresholds, "windowHours" | "baselineDays">,
  nowMs: number,
): Promise<number> {
  return windowCoverage(spikeWindow(nowMs, thresholds), await store.events.firstEventAtMs(slug));
}

async function evaluateStored(
  request: SpikeRequest,
  { store, clock, appUrl }: LocalPlatformApiOptions,
  callOptions: CallOptions | undefined,
): ReturnType<SpikeEvaluator["deadAssetSpike"]> {
  const { slug, ...thresholds } = request;
  const nowMs = clock.nowMs();
  try {
    const assetTypes = await store.events.counts({ slug, ...spikeWindow(nowMs, thresholds) });
    stopIfAborted(callOptions);
    let currentCount = 0;
    let baselineCount = 0;
    for (const counts of assetTypes) {
      currentCount += counts.currentCount;
      baselineCount += counts.baselineCount;
    }
    return evaluateSpike({ slug, nowMs, thresholds, currentCount, baselineCount, assetTypes, appUrl });
  } catch (error) {
    if (!(error instanceof SpikeInputError)) throw error;
    throw new FlatlineError("api_bad_request", error.message, { cause: error, issues: [error.message] });
  }
}

function stopIfAborted(callOptions: CallOptions | undefined): void {
  const signal = callOptions?.signal;
  if (signal === undefined || !signal.aborted) return;
  const isTimeout = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
  throw isTimeout
    ? new FlatlineError("api_timeout", "the evaluation did not end in time", { cause: signal.reason })
    : new FlatlineError("api_network", "the evaluation was stopped by its caller", { cause: signal.reason });
}
