import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { FlatlineError, type ErrorCode } from "../../src/base/errors.ts";
import { healthcheckResultSchema } from "../../src/contract/healthcheck.ts";
import type { PlatformApi, SpikeRequest } from "../../src/contract/platform-api.ts";
import { defaultThresholds } from "../../src/spike/thresholds.ts";

/** Deaths of an organization in one minute: what the suite wants an implementation to know before it asks. */
export interface ParityDeaths {
  readonly slug: string;
  readonly atMs: number;
  readonly assetType: string;
  readonly count: number;
}

/** One implementation of the port, its evaluations standing at `parityNowMs`, filled with `parityDeaths`. */
export interface PlatformApiUnderTest {
  readonly api: Pick<PlatformApi, "deadAssetSpike">;
  close(): Promise<void>;
}

const hourMs = 3_600_000;
/** The instant at which the suite evaluates. */
export const parityNowMs = Date.UTC(2026, 0, 31, 12);

const windowStartMs = parityNowMs - 24 * hourMs;

/**
 * `quiet`: 7 in the baseline, 1 in the window. `warned`: 70 in the baseline, so 10 expected, and 21. `failed`: the same
 * and 41. `edges`: one death exactly at each boundary of window and baseline, and one just outside of each.
 */
export const parityDeaths: readonly ParityDeaths[] = [
  ...around("quiet", 1, 1),
  ...around("warned", 10, 21),
  ...around("failed", 10, 41),
  { slug: "edges", atMs: parityNowMs + 1, assetType: "URL", count: 1 },
  { slug: "edges", atMs: parityNowMs, assetType: "URL", count: 1 },
  { slug: "edges", atMs: windowStartMs + 1, assetType: "URL", count: 1 },
  { slug: "edges", atMs: windowStartMs, assetType: "URL", count: 1 },
  { slug: "edges", atMs: windowStartMs - 7 * 24 * hourMs + 1, assetType: "URL", count: 1 },
  { slug: "edges", atMs: windowStartMs - 7 * 24 * hourMs, assetType: "URL", count: 1 },
];

function around(slug: string, perDay: number, inWindow: number): ParityDeaths[] {
  const days = [1, 2, 3, 4, 5, 6, 7].map((day) => ({
    slug,
    atMs: windowStartMs - day * 24 * hourMs + hourMs,
    assetType: "URL",
    count: perDay,
  }));
  return [...days, { slug, atMs: windowStartMs + hourMs, assetType: "URL", count: inWindow }];
}

interface SpikeCase {
  readonly rule: string;
  readonly request: Partial<SpikeRequest> & { readonly slug: string };
  readonly severity: string;
  readonly observed: Readonly<Record<string, unknown>>;
}

const spikeCases: readonly SpikeCase[] = [
  {
    rule: "below minSpikeCount is ok",
    request: { slug: "quiet" },
    severity: "ok",
    observed: { currentCount: 1, baselineCount: 7, expectedCount: 1, ratio: 1 },
  },
  {
    rule: "above warnMultiplier is warn",
    request: { slug: "warned" },
    severity: "warn",
    observed: { currentCount: 21, baselineCount: 70, expectedCount: 10, ratio: 2.1 },
  },
  {
    rule: "above failMultiplier is fail",
    request: { slug: "failed" },
    severity: "fail",
    observed: { currentCount: 41 },
  },
  {
    rule: "exactly at the multiplier is not above it",
    request: { slug: "failed", failMultiplier: 4.1 },
    severity: "warn",
    observed: {},
  },
  {
    rule: "a lower multiplier is warn or fail by its name",
    request: { slug: "warned", failMultiplier: 1.5 },
    severity: "fail",
    observed: {},
  },
  {
    rule: "a higher minSpikeCount is ok",
    request: { slug: "failed", minSpikeCount: 42 },
    severity: "ok",
    observed: {},
  },
  {
    rule: "the end of an interval belongs to it, its start does not",
    request: { slug: "edges" },
    severity: "ok",
    observed: { currentCount: 2, baselineCount: 2 },
  },
];

const badRequests: readonly { readonly rule: string; readonly request: SpikeRequest; readonly code: ErrorCode }[] = [
  { rule: "half an hour", request: { slug: "quiet", ...defaultThresholds, windowHours: 0.5 }, code: "api_bad_request" },
  { rule: "no baseline", request: { slug: "quiet", ...defaultThresholds, baselineDays: 0 }, code: "api_bad_request" },
  {
    rule: "a negative multiplier",
    request: { slug: "quiet", ...defaultThresholds, failMultiplier: -1 },
    code: "api_bad_request",
  },
  {
    rule: "an organization that does not exist",
    request: { slug: "nobody", ...defaultThresholds },
    code: "api_forbidden",
  },
];

/**
 * The suite that every implementation of the port passes with the same answers: over the store, and client → HTTP →
 * routes → store. `makeApi` fills it with `parityDeaths` and lets it reach their four organizations.
 */
export function describePlatformApi(name: string, makeApi: () => Promise<PlatformApiUnderTest>): void {
  describe(`${name}: the healthcheck`, () => {
    let underTest: PlatformApiUnderTest;

    beforeAll(async () => {
      underTest = await makeApi();
    });

    afterAll(async () => {
      await underTest.close();
    });

    it.each(spikeCases)("$rule", async ({ request, severity, observed }) => {
      const result = await underTest.api.deadAssetSpike({ ...defaultThresholds, ...request });

      expect(healthcheckResultSchema.parse(result)).toMatchObject({
        id: "dead-asset-spike",
        title: "Spike in recently dead assets",
        category: "assets",
        generatedAt: new Date(parityNowMs).toISOString(),
        scope: { slug: request.slug },
        ok: severity === "ok",
        severity,
        observed,
      });
    });

    it("tells the thresholds it used, and what they come to", async () => {
      const result = await underTest.api.deadAssetSpike({ slug: "warned", ...defaultThresholds });

      expect(result.threshold).toEqual({ ...defaultThresholds, warnAbove: 20, failAbove: 40 });
    });

    it("has findings and a suggestion only when it is not ok", async () => {
      const quiet = await underTest.api.deadAssetSpike({ slug: "quiet", ...defaultThresholds });
      const failed = await underTest.api.deadAssetSpike({ slug: "failed", ...defaultThresholds });

      expect(quiet).toMatchObject({ findings: [], suggestedAction: null });
      expect(failed.findings[0]).toMatchObject({ kind: "dead-asset-spike", ref: "failed", severity: "fail" });
      expect(failed.findings[1]).toMatchObject({ kind: "dead-asset-spike.asset-type", ref: "URL", severity: "fail" });
      expect(failed.suggestedAction).toEqual(expect.any(String));
    });

    it.each(badRequests)("refuses $rule", async ({ request, code }) => {
      await expect(underTest.api.deadAssetSpike(request)).rejects.toSatisfy(
        (error) => error instanceof FlatlineError && error.code === code,
      );
    });
  });
}
