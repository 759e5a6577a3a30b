import { describe, expect, it } from "vitest";

import { healthcheckResultSchema } from "../contract/healthcheck.ts";
import { countEvents, defaultThresholds, type CountedEvent } from "../spike/spike.ts";
import { baselineCoverage, createLocalPlatformApi, type SpikeEvaluator } from "./local-platform-api.ts";

const hourMs = 3_600_000;
const nowMs = Date.UTC(2026, 0, 15, 12);

/** Counts from raw events, by the reference that the rollups are tested against. */
function eventsDouble(bySlug: Record<string, readonly CountedEvent[]>) {
  return {
    events: {
      counts: async ({
        slug,
        ...window
      }: {
        slug: string;
        baselineStartMs: number;
        windowStartMs: number;
        endMs: number;
      }) => countEvents(bySlug[slug] ?? [], window).assetTypes,
      firstEventAtMs: async (slug: string) => bySlug[slug]?.[0]?.atMs ?? null,
    },
  };
}

const store = eventsDouble({
  acme: [
    { atMs: nowMs - 90 * hourMs, count: 60, assetType: "URL" },
    { atMs: nowMs - 80 * hourMs, count: 10 },
    { atMs: nowMs - 1 * hourMs, count: 90, assetType: "URL" },
    { atMs: nowMs, count: 10, assetType: "DOMAIN" },
    { atMs: nowMs + 1, count: 1000, assetType: "DOMAIN" },
  ],
});

function createApi(organizations = ["acme", "quiet"]): SpikeEvaluator {
  return createLocalPlatformApi({
    store,
    clock: { nowMs: () => nowMs },
    appUrl: "https://app.example.com/o/{slug}",
    organizations,
  });
}

describe("createLocalPlatformApi", () => {
  it("evaluates what is stored up to now, with the types that carry the excess", async () => {
    const result = await createApi().deadAssetSpike({ slug: "acme", ...defaultThresholds });

    expect(healthcheckResultSchema.parse(result)).toEqual(result);
    expect(result).toMatchObject({
      severity: "fail",
      generatedAt: "2026-01-15T12:00:00.000Z",
      observed: { currentCount: 100, baselineCount: 70, expectedCount: 10, ratio: 10 },
      appUrl: "https://app.example.com/o/acme",
    });
    expect(result.findings.map(({ ref }) => ref)).toEqual(["acme", "URL", "DOMAIN"]);
  });

  it("is ok about an organization without events", async () => {
    const result = await createApi().deadAssetSpike({ slug: "quiet", ...defaultThresholds });

    expect(result).toMatchObject({ severity: "ok", observed: { currentCount: 0, ratio: null } });
  });

  it("refuses a slug out of reach", async () => {
    const asked = createApi(["quiet"]).deadAssetSpike({ slug: "acme", ...defaultThresholds });

    await expect(asked).rejects.toMatchObject({ code: "api_forbidden" });
  });

  it("refuses thresholds that mean nothing", async () => {
    const asked = createApi().deadAssetSpike({ slug: "acme", ...defaultThresholds, windowHours: 0 });

    await expect(asked).rejects.toMatchObject({
      code: "api_bad_request",
      issues: ["windowHours must be an integer of at least 1, got 0"],
    });
  });

  it.each([
    ["a deadline", new DOMException("late", "TimeoutError"), "api_timeout"],
    ["its caller", new Error("stop"), "api_network"],
  ])("ends early at %s", async (_who, reason, code) => {
    const signal = AbortSignal.abort(reason);

    const asked = createApi().deadAssetSpike({ slug: "acme", ...defaultThresholds }, { signal });

    await expect(asked).rejects.toMatchObject({ code });
  });
});

describe("baselineCoverage", () => {
  it("is the share of the baseline after the first event", async () => {
    const coverage = await baselineCoverage(store, "acme", defaultThresholds, nowMs);

    expect(coverage).toBeCloseTo((90 - 24) / (7 * 24), 12);
  });

  it("is 0 without events", async () => {
    expect(await baselineCoverage(store, "quiet", defaultThresholds, nowMs)).toBe(0);
  });
});
