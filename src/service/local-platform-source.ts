import type { Actor } from "../contract/actor.ts";
import type { Clock } from "../base/time.ts";
import type { PlatformApi, PlatformSource } from "../contract/platform-api.ts";
import type { Store } from "../store/store.ts";
import { createLocalPlatformApi } from "./local-platform-api.ts";

export interface LocalPlatformSourceOptions {
  readonly store: Store;
  readonly clock: Pick<Clock, "nowMs" | "sleep">;
  /** Template with `{slug}` (CONTRACT 4, appUrl). */
  readonly appUrl: string | null;
  /** The configured organizations: they exist before their first event or report is stored. */
  readonly organizations: readonly string[];
  /** The author of reviews, for the audit [flatline itself]. */
  readonly author?: Actor;
}

/** Creates API v2 in process, for the daemon and the commands, with a customer's key for each slug. */
export function createLocalPlatformSource(options: LocalPlatformSourceOptions): PlatformSource {
  const { store, clock, appUrl, author } = options;
  const configured = new Set(options.organizations);
  const apis = new Map<string, PlatformApi>();
  return {
    forOrganization: (slug) => {
      const known = apis.get(slug);
      if (known !== undefined) return known;
      const api = createLocalPlatformApi({
        store,
        clock,
        appUrl,
        identity: { role: "customer", organizations: [slug], keyId: null, ...(author === undefined ? {} : { author }) },
        isConfigured: (name) => configured.has(name),
      });
      apis.set(slug, api);
      return api;
    },
  };
}
