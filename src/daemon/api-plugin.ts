import type { FastifyPluginAsync } from "fastify";
import type { ByteBudget } from "../base/request-body.ts";
import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";
import type { PlatformApi } from "../contract/platform-api.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { apiV2Routes } from "../service/api/routes.ts";
import type { KeyIdentity } from "../service/api-keys.ts";
import { findKey } from "../service/api-keys.ts";
import { createLocalPlatformApi } from "../service/local-platform-api.ts";
import type { Store } from "../store/store.ts";
import type { NoteFailure } from "../web/access/failures.ts";
import type { Runtime } from "./runtime.ts";

export interface ApiPluginDeps {
  readonly store: Store;
  readonly runtime: Pick<Runtime, "current">;
  /** Memory for the bodies of requests. */
  readonly bodies: ByteBudget;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "apiRequest">;
  readonly noteFailure: NoteFailure;
}

/** Returns the routes of the embedded service; none with another source (CONTRACT 8). */
export function createApiPlugins(deps: ApiPluginDeps): readonly FastifyPluginAsync[] {
  const { store, runtime, bodies, clock, logger, metrics } = deps;
  if (!runtime.current().config.source.holdsEvents) return [];
  const authenticate = (apiKey: string) => findKey(store, apiKey);
  // The API is made for each request: a reload may have changed its configuration.
  const apiFor = (identity: KeyIdentity): PlatformApi => {
    const { config, slugs, ruleOf } = runtime.current();
    return createLocalPlatformApi({
      store,
      clock,
      appUrl: config.appUrl,
      identity,
      // The API's rule counts deaths, whatever the checks count.
      ruleOf: (slug) => ({ ...ruleOf(slug), count: "deaths" }),
      isConfigured: (slug) => slugs.has(slug),
    });
  };
  const onWrongKey = (address: string): void => deps.noteFailure("api_v2", address);
  return [apiV2Routes({ authenticate, apiFor, onRequest: metrics.apiRequest, onWrongKey, bodies, clock, logger })];
}
