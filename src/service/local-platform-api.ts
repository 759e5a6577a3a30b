import { abortError, FlatlineError } from "../base/errors.ts";
import type { Clock } from "../base/time.ts";
import type { Actor } from "../contract/actor.ts";
import type { CallOptions, PlatformApi, PlatformSource } from "../contract/platform-api.ts";
import { apiRule, type SpikeRule } from "../spike/evaluate.ts";
import type { Store } from "../store/store.ts";
import type { KeyIdentity } from "./api-keys.ts";
import { evaluateLocally } from "./local-evaluation.ts";
import { listLocally } from "./local-listing.ts";
import { reviewLocally } from "./local-review.ts";
import { reaches } from "./organization-access.ts";

export interface LocalPlatformApiOptions {
  readonly store: Store;
  /** Its time is the end of the healthcheck's window: a fixed clock evaluates the past (`check --at`). */
  readonly clock: Pick<Clock, "nowMs" | "sleep">;
  /** Template with `{slug}` (CONTRACT 4, appUrl). */
  readonly appUrl: string | null;
  readonly identity: KeyIdentity;
  /** A configured organization exists before any of its data is stored. */
  readonly isConfigured: (slug: string) => boolean;
  /** The rule is not part of the request [apiRule for all]. */
  readonly ruleOf?: (slug: string) => SpikeRule;
}

/**
 * Creates API v2 over the store for the holder of one key (CONTRACT 9). Rejects with the `api_*` code of the first
 * check that fails, in the contract's order, and with the store's codes.
 */
export function createLocalPlatformApi(options: LocalPlatformApiOptions): PlatformApi {
  const { store, clock, appUrl, ruleOf } = options;
  return {
    deadAssetSpike: async ({ slug, ...thresholds }, callOptions) => {
      if (!(await reaches(slug, options)))
        throw new FlatlineError("api_forbidden", "this key has no access to that organization");
      stopIfAborted(callOptions);
      const evaluation = { ...(ruleOf?.(slug) ?? apiRule), slug, thresholds, appUrl, nowMs: clock.nowMs() };
      const { result } = await evaluateLocally(evaluation, store.events, callOptions);
      stopIfAborted(callOptions);
      return result;
    },
    listReports: async (query, callOptions) => {
      stopIfAborted(callOptions);
      return listLocally(query, options, () => stopIfAborted(callOptions));
    },
    reviewProposal: async (request, callOptions) => {
      // A write that has begun cannot be cancelled.
      stopIfAborted(callOptions);
      return reviewLocally(request, options);
    },
  };
}

/**
 * Creates API v2 in process, with a customer's key for each slug. `organizations`: the configured ones; `author`: of
 * reviews [flatline itself].
 */
export function createLocalPlatformSource({
  organizations,
  author,
  ...options
}: Pick<LocalPlatformApiOptions, "store" | "clock" | "appUrl"> & {
  readonly organizations: readonly string[];
  readonly author?: Actor;
}): PlatformSource {
  const configured = new Set(organizations);
  return {
    forOrganization: (slug) => {
      const said = author === undefined ? {} : { author };
      const identity: KeyIdentity = { role: "customer", organizations: [slug], keyId: null, ...said };
      return createLocalPlatformApi({ ...options, identity, isConfigured: (name) => configured.has(name) });
    },
  };
}

function stopIfAborted(callOptions: CallOptions | undefined): void {
  const signal = callOptions?.signal;
  if (signal?.aborted === true)
    throw abortError(signal, "the operation did not end in time", "the operation was stopped by its caller");
}
