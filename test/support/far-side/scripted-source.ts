import { FlatlineError } from "../../../src/base/errors.ts";
import type { HealthcheckResult } from "../../../src/contract/healthcheck.ts";
import type { PlatformApi, PlatformSource, SpikeRequest } from "../../../src/contract/platform-api.ts";
import type { ReportsPage, ReportsQuery } from "../../../src/contract/reports.ts";
import { sampleHealthcheck } from "./api-samples.ts";

/** A healthcheck result as a service gives it; `over` replaces fields. */
export function spikeResult(slug: string, over: Partial<HealthcheckResult> = {}): HealthcheckResult {
  const { severity = "ok" } = over;
  const observed = { currentCount: 3, baselineCount: 70, expectedCount: 10, ratio: 0.3 };
  return sampleHealthcheck({ scope: { slug }, ok: severity === "ok", severity, observed, threshold: {}, ...over });
}

/** A source that answers what the test says; an operation that the test did not expect is an error. */
export function createScriptedSource(script: {
  readonly spike?: (request: SpikeRequest, signal: AbortSignal | undefined) => Promise<HealthcheckResult>;
  readonly reports?: (query: ReportsQuery, signal: AbortSignal | undefined) => Promise<ReportsPage>;
}): PlatformSource {
  const unexpected = (operation: string) => async (): Promise<never> => {
    throw new FlatlineError("internal", `the test did not expect ${operation}`);
  };
  return {
    forOrganization: (): PlatformApi => ({
      deadAssetSpike: (request, options) => (script.spike ?? unexpected("deadAssetSpike"))(request, options?.signal),
      listReports: (query, options) => (script.reports ?? unexpected("listReports"))(query, options?.signal),
      reviewProposal: unexpected("reviewProposal"),
    }),
  };
}
