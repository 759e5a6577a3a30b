import type { Clock } from "../base/time.ts";
import { FlatlineError } from "../base/errors.ts";
import type { PlatformApi, PlatformSource } from "../contract/platform-api.ts";
import type { Store } from "../store/store.ts";
import { createLocalPlatformApi } from "./local-platform-api.ts";

export interface LocalPlatformSourceOptions {
  readonly store: Store;
  readonly clock: Pick<Clock, "nowMs">;
  /** Template with `{slug}` (CONTRACT 4, appUrl). */
  readonly appUrl: string | null;
  /** The configured ones: they exist even before the first event or report of theirs is stored. */
  readonly organizations: readonly string[];
}

/** API v2 in process, for the daemon and the commands: for each slug as a customer's key of that organization. */
export function createLocalPlatformSource(options: LocalPlatformSourceOptions): PlatformSource {
  return {
    forOrganization: (slug): PlatformApi => ({
      ...createLocalPlatformApi({ ...options, organizations: options.organizations.filter((known) => known === slug) }),
      listReports: () => Promise.reject(new FlatlineError("api_not_found", "no report is stored")),
      reviewProposal: () => Promise.reject(new FlatlineError("api_not_found", "no proposal is stored")),
    }),
  };
}
