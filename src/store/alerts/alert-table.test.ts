import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { storeEngines, type OpenedStore } from "../../../test/support/store-engines.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import type { AlertHistoryEntry, AlertState, AlertStore } from "./alerts.ts";

const nowMs = Date.UTC(2026, 5, 1);

let opened: OpenedStore;
let alerts: AlertStore;

function alert(id: string, over: Partial<AlertState> = {}): AlertState {
  return {
    id,
    check: "dead-asset-spike",
    slug: id,
    kind: "verdict",
    state: "pending",
    severity: "warn",
    startsAtMs: nowMs,
    firingAtMs: null,
    okSinceMs: null,
    unknownRuns: 0,
    peak: { severity: "warn", currentCount: 30, atMs: nowMs },
    acknowledgement: null,
    reason: "pending",
    ...over,
  };
}

function entry(atMs: number, over: Partial<AlertHistoryEntry> = {}): AlertHistoryEntry {
  const subject = { alertId: "a", check: "dead-asset-spike", slug: "acme", kind: "verdict" } as const;
  return { ...subject, atMs, event: "firing", severity: "fail", reason: "held_for", ...over };
}

describe.each(storeEngines)("on $engine,", ({ openTemporary }) => {
  beforeEach(async () => {
    opened = await openTemporary(createVirtualClock({ startMs: nowMs }));
    alerts = opened.store.alerts;
  });
  afterEach(() => opened.close());

  describe("live alerts", () => {
    it("are answered as they were saved last", async () => {
      const firing = alert("a", {
        state: "firing",
        firingAtMs: nowMs + 5,
        peak: { severity: "fail", currentCount: null, atMs: nowMs + 5 },
        acknowledgement: { atMs: nowMs + 9, by: "kim", comment: null, severity: "fail" },
      });
      await alerts.save(alert("a"));
      await alerts.save(firing);

      expect(await alerts.byId("a")).toEqual(firing);
      expect(await alerts.live("dead-asset-spike", "a")).toEqual([firing]);
    });

    it("of one organization may be one a kind, and no more", async () => {
      const [verdict, unknown] = [alert("a", { slug: "acme" }), alert("b", { slug: "acme", kind: "unknown" })];
      await alerts.save(unknown);
      await alerts.save(verdict);
      await alerts.save(alert("c", { slug: "acme", check: "review-queue" }));

      expect(await alerts.live("dead-asset-spike", "acme")).toEqual([unknown, verdict]);
      expect((await alerts.allLive()).map(({ id }) => id)).toEqual(["b", "a", "c"]);
      await expect(alerts.save(alert("d", { slug: "acme" }))).rejects.toThrow(/unique/i);
    });

    it("are gone when they are removed", async () => {
      await alerts.save(alert("a"));

      await alerts.remove("a");

      expect(await alerts.byId("a")).toBeNull();
      expect(await alerts.allLive()).toEqual([]);
    });
  });

  describe("the history of alerts", () => {
    it("is that of one check and organization from an instant on, the last entries of it, oldest first", async () => {
      const entries = [entry(1), entry(2), entry(3), entry(3, { event: "resolved" })];
      for (const one of [...entries, entry(4, { slug: "globex" }), entry(5, { check: "review-queue" })])
        await alerts.appendHistory(one);

      const query = { check: "dead-asset-spike", slug: "acme" } as const;
      expect(await alerts.history({ ...query, fromMs: 2, limit: 9 })).toEqual(entries.slice(1));
      expect(await alerts.history({ ...query, fromMs: 0, limit: 2 })).toEqual(entries.slice(2));
    });

    it("loses what is old, in slices", async () => {
      for (let atMs = 1; atMs <= 5; atMs++) await alerts.appendHistory(entry(atMs));
      const limits = { beforeMs: 3, maxRows: 2 };

      expect(await alerts.pruneHistory(limits)).toEqual({ hasMore: true });
      expect(await alerts.pruneHistory(limits)).toEqual({ hasMore: false });

      const left = await alerts.history({ check: "dead-asset-spike", slug: "acme", fromMs: 0, limit: 9 });
      expect(left.map(({ atMs }) => atMs)).toEqual([4, 5]);
    });
  });
});
