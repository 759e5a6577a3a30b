import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { storeEngines, type OpenedStore } from "../../test/support/store/engines.ts";
import { death } from "../../test/support/store/event-store.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { servedHealthcheckSchema } from "../contract/healthcheck-schemas.ts";
import { defaultThresholds } from "../spike/spike.ts";
import type { Store } from "../store/store.ts";
import { createLocalPlatformApi, createLocalPlatformSource } from "./local-platform-api.ts";

const hourMs = 3_600_000;
const nowMs = Date.UTC(2026, 0, 15, 12);
const clock = createVirtualClock({ startMs: nowMs });

let opened: OpenedStore;
let store: Store;

describe.each(storeEngines)("on $engine,", ({ openTemporary }) => {
  beforeAll(async () => {
    opened = await openTemporary(clock);
    store = opened.store;
    const died = (hours: number, count: number, assetType: string, asset: string | null) =>
      death(nowMs - hours * hourMs, "flaps", { assetType, asset, count });
    await store.events.add([
      // Two assets that die again and again, one of them under two types, and three deaths without a name.
      ...[0, 1, 2, 23, 24, 30, 31, 100].flatMap((hours) => [
        died(hours, 5, "URL", "a"),
        died(hours, 1, "PAGE", "a"),
        died(hours, 1, "URL", "b"),
      ]),
      died(1, 3, "URL", null),
    ]);
  });

  afterAll(() => opened.close());

  describe("the healthcheck over the store", () => {
    it("counts each asset once in the window and once a day where the organization is configured so", async () => {
      const api = createLocalPlatformApi({
        store,
        clock,
        appUrl: "https://app.example.com/o/{slug}",
        identity: { role: "customer", organizations: ["flaps"], keyId: null },
        isConfigured: () => true,
        ruleOf: () => ({ baseline: "median", count: "assets" }),
      });

      const ask = { slug: "flaps", ...defaultThresholds, baselineDays: 4, minSpikeCount: 6 };
      const result = await api.deadAssetSpike(ask);
      const tooLong = api.deadAssetSpike({ ...ask, baselineDays: Number.MAX_SAFE_INTEGER });

      expect(servedHealthcheckSchema.parse(result)).toEqual(result);
      expect(result.observed).toEqual({
        currentCount: 6,
        baselineCount: 6,
        expectedCount: 0,
        ratio: null,
        counting: "assets",
        // The fourth day begins before the first event.
        baselineDaysKnown: 3,
        day1: 3,
        day2: 0,
        day3: 0,
      });
      expect(result.appUrl).toBe("https://app.example.com/o/flaps");
      expect(result.findings.map(({ message }) => message)).toEqual([
        "6 dead assets in 24 h, none expected (median of the 3 days that are known of the 4 before: 3, 0, 0)",
        "5 dead assets of type URL in 24 h, none expected (5.0 more than usual)",
        "1 dead asset of type PAGE in 24 h, none expected (1.0 more than usual)",
      ]);
      const issues = [expect.stringContaining("at most 3650")];
      await expect(tooLong).rejects.toMatchObject({ code: "api_bad_request", issues });
    });

    it.each([
      ["a deadline", new DOMException("late", "TimeoutError"), "api_timeout"],
      ["its caller", new Error("stop"), "api_network"],
    ])("ends early at %s, in every operation", async (_who, reason, code) => {
      const signal = AbortSignal.abort(reason);
      const options = { store, clock, appUrl: null, organizations: ["acme"] };
      const api = createLocalPlatformSource(options).forOrganization("acme");

      const asked = [
        api.deadAssetSpike({ slug: "acme", ...defaultThresholds }, { signal }),
        api.listReports({}, { signal }),
        api.reviewProposal({ proposalId: 1, assetId: 1, decision: "REJECT", rejectReason: "decayed" }, { signal }),
      ];

      await Promise.all(asked.map((operation) => expect(operation).rejects.toMatchObject({ code })));
    });
  });

  describe("createLocalPlatformSource", () => {
    it("speaks for each organization as its own customer key", async () => {
      const source = createLocalPlatformSource({ store, clock, appUrl: null, organizations: ["acme", "quiet"] });
      const api = source.forOrganization("quiet");

      expect(await api.listReports({})).toEqual({ reports: [] });
      expect(await api.deadAssetSpike({ slug: "quiet", ...defaultThresholds })).toMatchObject({ severity: "ok" });
      await expect(api.listReports({ slug: "acme" })).rejects.toMatchObject({ code: "api_unauthorized" });
      await expect(
        api.reviewProposal({ proposalId: 1, assetId: 1, decision: "REJECT", rejectReason: "decayed" }),
      ).rejects.toMatchObject({ code: "api_not_found" });
    });
  });
});
