import { FlatlineError } from "../base/errors.ts";
import type { Clock } from "../base/time.ts";
import type { LivenessCounts } from "../contract/liveness-counts.ts";
import type { PlatformApi, PlatformSource } from "../contract/platform-api.ts";
import { evaluateLocally, type SpikeRule } from "./local-evaluation.ts";

export interface TablePlatformSourceOptions {
  /** Counts over the user's own table. */
  readonly counts: LivenessCounts;
  readonly clock: Pick<Clock, "nowMs">;
  /** Template with `{slug}` (CONTRACT 4, appUrl). */
  readonly appUrl: string | null;
  readonly ruleOf: (slug: string) => SpikeRule;
}

/**
 * Creates API v2 over a table of liveness events: only the healthcheck. The table has no reports, so other operations are
 * operator errors.
 */
export function createTablePlatformSource(options: TablePlatformSourceOptions): PlatformSource {
  const { counts, clock, appUrl, ruleOf } = options;
  const api: PlatformApi = {
    deadAssetSpike: ({ slug, ...thresholds }, callOptions) =>
      evaluateLocally({ ...ruleOf(slug), slug, thresholds, appUrl, nowMs: clock.nowMs() }, counts, callOptions),
    listReports: () => Promise.reject(noReports()),
    reviewProposal: () => Promise.reject(noReports()),
  };
  return { forOrganization: () => api };
}

function noReports(): FlatlineError {
  return new FlatlineError(
    "usage",
    "reports and proposals need source.type remote or embedded: the table that this source reads holds liveness events only",
  );
}
