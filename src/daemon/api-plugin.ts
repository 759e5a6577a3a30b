import type { FastifyPluginAsync } from "fastify";
import type { ByteBudget } from "../base/request-body.ts";
import { findKey } from "../service/api-keys.ts";
import { apiV2Routes } from "../service/api/routes.ts";
import { createLocalPlatformApi } from "../service/local-platform-api.ts";
import type { NoteFailure } from "../web/access/failures.ts";
import type { Ground } from "./ground.ts";
import type { Runtime } from "./runtime.ts";

export interface ApiPluginDeps extends Ground {
  readonly runtime: Runtime;
  /** Memory for the bodies of requests. */
  readonly bodies: ByteBudget;
  readonly noteFailure: NoteFailure;
}

/** Returns the routes of the embedded service (CONTRACT 8). */
export function createApiPlugin(deps: ApiPluginDeps): FastifyPluginAsync {
  return apiV2Routes({
    ...deps,
    authenticate: (apiKey) => findKey(deps.store, apiKey),
    // The API is made for each request: a reload may have changed its configuration.
    apiFor: (identity) => {
      const { config, slugs, ruleOf } = deps.runtime.current();
      return createLocalPlatformApi({
        store: deps.store,
        clock: deps.clock,
        appUrl: config.appUrl,
        identity,
        // The API always counts deaths.
        ruleOf: (slug) => ({ ...ruleOf(slug), count: "deaths" }),
        isConfigured: (slug) => slugs.has(slug),
      });
    },
    onRequest: deps.metrics.apiRequest,
    onWrongKey: (address) => deps.noteFailure("api_v2", address),
  });
}
