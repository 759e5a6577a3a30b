import { describe, expect, it } from "vitest";

import { runCheck } from "../../src/monitor/run-check.ts";
import { createLocalPlatformSource } from "../../src/service/local-platform-source.ts";
import { storeEngines } from "../support/store/engines.ts";
import { createVirtualClock } from "../support/virtual-clock.ts";
import { parityNowMs, seedParity } from "./platform-api.ts";

describe.each(storeEngines)("on $engine,", ({ openTemporary }) => {
  describe("the review queue watcher over the store", () => {
    it("counts what waits for the customer, by the age of the oldest report, and sees what was reviewed", async () => {
      const clock = createVirtualClock({ startMs: parityNowMs });
      const opened = await openTemporary(clock);
      await seedParity(opened.store);
      const source = createLocalPlatformSource({ store: opened.store, clock, appUrl: null, organizations: ["acme"] });
      const observedKeys = { currentCount: "a", baselineCount: "b", expectedCount: "c", ratio: "d" };
      const target = {
        check: "review-queue",
        slug: "acme",
        schedule: { pattern: "*/10 * * * *", timezone: "UTC", jitterMs: 0 },
        thresholds: { warnAfterMs: 3_600_000, failAfterMs: 47 * 3_600_000 + 58 * 60_000 },
      } as const;
      const run = () => runCheck(target, { source, clock, observedKeys }, new AbortController().signal);

      const before = await run();
      await source
        .forOrganization("acme")
        .reviewProposal({ proposalId: 301, assetId: 501, decision: "REJECT", rejectReason: "irrelevant" });
      await source
        .forOrganization("acme")
        .reviewProposal({ proposalId: 302, assetId: 502, decision: "REJECT", rejectReason: "irrelevant" });
      const after = await run();
      await opened.close();

      expect(before).toMatchObject({
        kind: "result",
        severity: "fail",
        result: { observed: { queued: 6, oldestAgeSeconds: 48 * 3_600 - 60 } },
      });
      expect(after).toMatchObject({
        kind: "result",
        severity: "warn",
        result: { observed: { queued: 4, oldestAgeSeconds: 48 * 3_600 - 180 } },
      });
    });
  });
});
