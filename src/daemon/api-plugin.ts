import type { FastifyPluginAsync } from "fastify";
import type { Logger } from "../base/logger.ts";
import { eventLoopTurn, type Clock } from "../base/time.ts";
import type { PlatformApi } from "../contract/platform-api.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { apiV2Routes } from "../service/api/routes.ts";
import { createDirectHealthcheck, type DirectHandler } from "../service/api/direct-healthcheck.ts";
import { gatherDeaths } from "../service/gathered-deaths.ts";
import type { KeyIdentity } from "../service/key-identity.ts";
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
}

/** The embedded service: its routes, and what is answered before them; nothing with a remote source (CONTRACT 8). */
export function createApiService(deps: ApiPluginDeps): {
  readonly plugins: readonly FastifyPluginAsync[];
  readonly direct: readonly DirectHandler[];
} {
  const { store, runtime, clock, logger, metrics } = deps;
  if (runtime.current().config.source.type !== "embedded") return { plugins: [], direct: [] };
  const counts = gatherDeaths(store.events, eventLoopTurn);
  const keys = createKeyRing({ store, clock });
  // Made for each request: a reload may have changed what it stands on.
  const apiFor = (identity: KeyIdentity): PlatformApi => {
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
  };
  const onRequest = (operation: string, code: string): void => metrics.apiRequest(operation, code);
  const plugin = apiV2Routes({ authenticate: keys.find, apiFor, onRequest, clock, logger });
  const healthcheck = createDirectHealthcheck({
    rememberedKey: keys.remembered,
    apiFor,
    settingsOf: (slug) => {
      const { config, slugs, baselineOf } = runtime.current();
      return slugs.has(slug) ? { appUrl: config.appUrl, baseline: baselineOf(slug) } : null;
    },
    counts: store.events,
    onRequest,
    clock,
    logger,
  });
  return { plugins: [plugin], direct: [healthcheck] };
}
