import type { HealthcheckResult } from "../../../src/contract/healthcheck.ts";
import type { SpikeRequest } from "../../../src/contract/platform-api.ts";
import { defaultThresholds } from "../../../src/spike/thresholds.ts";

/** The request for `slug` with the API's default thresholds. */
export function sampleSpikeRequest(slug = "acme"): SpikeRequest {
  return { slug, ...defaultThresholds };
}

/** A healthcheck result of the API's shape, ok unless told otherwise. */
export function sampleHealthcheck(more: Readonly<Record<string, unknown>> = {}): HealthcheckResult {
  return {
    id: "dead-asset-spike",
    title: "Spike in recently dead assets",
    category: "assets",
    generatedAt: "2026-01-01T00:00:00.000Z",
    scope: { slug: "acme" },
    ok: true,
    severity: "ok",
    observed: { currentCount: 3, baselineCount: 21, expectedCount: 3, ratio: 1 },
    threshold: { ...defaultThresholds, warnAbove: 6, failAbove: 12 },
    findings: [],
    suggestedAction: null,
    appUrl: null,
    ...more,
  };
}
