import { describe, expect, it } from "vitest";

import { createScriptedSource, spikeResult } from "../../test/support/far-side/scripted-source.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import type { HealthcheckResult } from "../contract/healthcheck.ts";
import { runCheck } from "./run-check.ts";
import type { SpikeTarget } from "../checks/dead-asset-spike/dead-asset-spike.ts";
import { runTogether, type RunTogetherDeps } from "./run-together.ts";

const startMs = Date.parse("2026-05-06T12:00:00Z");
const day = 86_400_000;
const schedule = { pattern: "*/5 * * * *", timezone: "UTC", jitterMs: 0 };
const thresholds = { windowHours: 24, baselineDays: 7, warnMultiplier: 2, failMultiplier: 4, minSpikeCount: 10 };
const target = (slug: string): SpikeTarget => ({ check: "dead-asset-spike", slug, schedule, thresholds });
const observedKeys = {
  currentCount: "currentCount",
  baselineCount: "baselineCount",
  expectedCount: "expectedCount",
  ratio: "ratio",
};

/** A runner whose organizations had their first event so long before the start; null: never. */
function setUp(
  options: {
    readonly firstAgeMs?: number | null;
    readonly severity?: HealthcheckResult["severity"];
  } = {},
) {
  const { firstAgeMs = 30 * day, severity = "ok" } = options;
  const clock = createVirtualClock({ startMs });
  const deps: RunTogetherDeps = {
    clock,
    observedKeys,
    evaluate: async (targets) =>
      targets.map(({ slug }) => (slug === "refused" ? null : spikeResult(slug, { severity }))),
    firstEvents: async (slugs) => new Map(firstAgeMs === null ? [] : slugs.map((slug) => [slug, startMs - firstAgeMs])),
  };
  return { deps, round: (...slugs: string[]) => runTogether(slugs.map(target), deps) };
}

describe("a round of spike checks", () => {
  it("leaves to a run of its own what cannot be evaluated", async () => {
    const reports = await setUp().round("refused", "a");

    expect(reports.map((one) => one?.slug)).toEqual([undefined, "a"]);
  });

  it.each(["warn", "fail"] as const)("leaves to a run of its own what is %s", async (severity) => {
    expect(await setUp({ severity }).round("a")).toEqual([null]);
  });

  it("reports no_events for an organization of which no event was ever stored, as a run of its own would", async () => {
    const { deps } = setUp({ firstAgeMs: null });
    const source = createScriptedSource({ spike: async ({ slug }) => spikeResult(slug) });
    const unseen: SpikeTarget = { ...target("a"), whenNoEvents: "unknown" };

    const reports = await runTogether([unseen, { ...target("b"), whenNoEvents: "ok" }], deps);

    expect(reports[0]).toEqual(await runCheck(unseen, { ...deps, source }, new AbortController().signal));
    expect(reports).toMatchObject([{ severity: "unknown", error: { reason: "no_events" } }, { severity: "ok" }]);
  });
});
