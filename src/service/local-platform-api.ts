import { FlatlineError } from "../base/errors.ts";
import type { Clock } from "../base/time.ts";
import type { LivenessCounts } from "../contract/liveness-counts.ts";
import type { CallOptions, PlatformApi, SpikeRequest } from "../contract/platform-api.ts";
import type { BaselineKind } from "../spike/median.ts";
import type { Store } from "../store/store.ts";
import type { KeyIdentity } from "./key-identity.ts";
import { evaluateLocally } from "./local-evaluation.ts";
import { createLocalListing } from "./local-listing.ts";
import { reviewLocally } from "./local-review.ts";
import { reaches } from "./organization-access.ts";

export interface LocalPlatformApiOptions {
  readonly store: Store;
  /** Who counts the healthcheck's deaths [the store]. */
  readonly counts?: Pick<LivenessCounts, "deaths">;
  /** Its now is the end of the healthcheck's window: a fixed one evaluates the past (`check --at`). */
  readonly clock: Pick<Clock, "nowMs" | "sleep">;
  /** Template with `{slug}` (CONTRACT 4, appUrl). */
  readonly appUrl: string | null;
  /** As whom. */
  readonly identity: KeyIdentity;
  /** Whether the configuration names it: such an organization exists before anything of it is stored. */
  readonly isConfigured: (slug: string) => boolean;
  /** By which rule an organization's deaths are expected; the request has no word for it. [mean, for all] */
  readonly baselineOf?: (slug: string) => BaselineKind;
}

/**
 * API v2 over the store and the pure evaluation, as the holder of one key gets it (CONTRACT 9). Rejects with the `api_*` code of
 * the first check that fails, in the contract's order, and with the store's codes.
 */
export function createLocalPlatformApi(options: LocalPlatformApiOptions): PlatformApi {
  const list = createLocalListing(options);
  return {
    deadAssetSpike: async (request, callOptions) => {
      if (!(await reaches(request.slug, options)))
        throw new FlatlineError("api_forbidden", "this key has no access to that organization");
      stopIfAborted(callOptions);
      return evaluateStored(request, options, callOptions);
    },
    listReports: async (query, callOptions) => {
      stopIfAborted(callOptions);
      return list(query, () => stopIfAborted(callOptions));
    },
    reviewProposal: async (request, callOptions) => {
      // Not later: what is written can't be stopped any more.
      stopIfAborted(callOptions);
      return reviewLocally(request, options);
    },
  };
}

async function evaluateStored(
  { slug, ...thresholds }: SpikeRequest,
  { store, counts, clock, appUrl, baselineOf }: LocalPlatformApiOptions,
  callOptions: CallOptions | undefined,
): ReturnType<PlatformApi["deadAssetSpike"]> {
  const evaluation = { slug, thresholds, baseline: baselineOf?.(slug) ?? "mean", appUrl, nowMs: clock.nowMs() };
  const result = await evaluateLocally(evaluation, counts ?? store.events, callOptions);
  stopIfAborted(callOptions);
  return result;
}

function stopIfAborted(callOptions: CallOptions | undefined): void {
  const signal = callOptions?.signal;
  if (signal === undefined || !signal.aborted) return;
  const isTimeout = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
  throw isTimeout
    ? new FlatlineError("api_timeout", "the operation did not end in time", { cause: signal.reason })
    : new FlatlineError("api_network", "the operation was stopped by its caller", { cause: signal.reason });
}
