import type { FastifyPluginAsync } from "fastify";
import type { Logger } from "../base/logger.ts";
import { eventLoopTurn, type Clock } from "../base/time.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { apiV2Routes } from "../service/api-routes.ts";
import { gatherDeaths } from "../service/gathered-deaths.ts";
import { createKeyRing } from "../service/key-ring.ts";
import { createLocalPlatformApi } from "../service/local-platform-api.ts";
import type { Store } from "../store/store.ts";
import type { Runtime } from "./runtime.ts";

export interface ApiPluginDeps {
  readonly store: Store;
  readonly runtime: Pick<Runtime, "current">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "apiRequest">;
  /** Of flatline. */
  readonly version: string;
}

/** The embedded service's routes: one plugin with the embedded source, none with a remote one (CONTRACT 8). */
export function apiPlugins({ store, runtime, clock, logger, metrics, version }: ApiPluginDeps): FastifyPluginAsync[] {
  if (runtime.current().config.source.type !== "embedded") return [];
  const counts = gatherDeaths(store.events, eventLoopTurn);
  const plugin = apiV2Routes({
    authenticate: createKeyRing({ store, clock }),
    // Made for each request: a reload may have changed what it stands on.
    apiFor: (identity) => {
      const { config, slugs, baselineOf } = runtime.current();
      return createLocalPlatformApi({
        store,
        counts,
        clock,
        appUrl: config.appUrl,
        identity,
        baselineOf,
        isConfigured: (slug) => slugs.has(slug),
      });
    },
    onRequest: (operation, code) => metrics.apiRequest(operation, code),
    clock,
    logger,
    version,
  });
  return [plugin];
}
