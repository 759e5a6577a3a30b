import { describe, expect, it } from "vitest";

import { storeEngines } from "../../../test/support/store/engines.ts";
import { createSystemClock } from "../../base/time.ts";
import type { DeliveryAttempt } from "./deliveries.ts";

function attempt(atMs: number, given: Partial<DeliveryAttempt> = {}): DeliveryAttempt {
  return {
    notificationId: "n",
    receiver: "ops",
    recipient: null,
    atMs,
    tookMs: 7,
    outcome: "accepted",
    detail: "204",
    incident: 41,
    organizations: 1,
    ...given,
  };
}

const times = (attempts: readonly DeliveryAttempt[]): number[] => attempts.map(({ atMs }) => atMs);

describe.each(storeEngines)("on $engine,", ({ useStore }) => {
  const opened = useStore(createSystemClock);

  describe("deliveries", () => {
    it("say what a receiver accepted last, and what not", async () => {
      await opened.store.deliveries.add([
        attempt(1),
        attempt(2, { outcome: "refused" }),
        attempt(3, { outcome: "retry" }),
        attempt(4, { receiver: "pager" }),
      ]);

      expect((await opened.store.deliveries.last("ops", true))?.atMs).toBe(1);
      expect((await opened.store.deliveries.last("ops", false))?.atMs).toBe(3);
      expect(await opened.store.deliveries.last("pager", false)).toBeNull();
    });

    it("are listed newest first", async () => {
      await opened.store.deliveries.add([
        attempt(1),
        attempt(2, { outcome: "retry", detail: "503" }),
        attempt(3, { receiver: "pager", incident: null }),
        attempt(4),
      ]);

      expect(times(await opened.store.deliveries.latest(3))).toEqual([4, 3, 2]);
    });

    it("of one notification in one millisecond are one", async () => {
      await opened.store.deliveries.add([attempt(1)]);
      await opened.store.deliveries.add([attempt(1, { detail: "again" }), attempt(2)]);

      expect(times(await opened.store.deliveries.latest(9))).toEqual([2, 1]);
      expect((await opened.store.deliveries.last("ops", true))?.detail).toBe("204");
    });

    it("say when a message about an alert was first accepted, whichever was stored first", async () => {
      const of = (atMs: number, alertIds: string[], given: Partial<DeliveryAttempt> = {}) => ({
        ...attempt(atMs, given),
        alertIds,
      });
      await opened.store.deliveries.add([of(1, ["a"], { outcome: "retry" }), of(5, ["a", "b"]), of(6, ["b"])]);
      await opened.store.deliveries.add([of(4, ["a"]), of(7, ["c"], { outcome: "refused" })]);

      expect(await opened.store.deliveries.firstAccepted(["a", "b", "c"])).toEqual(
        new Map([
          ["a", 4],
          ["b", 5],
        ]),
      );
      const firstOf = (startedAtMs: number) => opened.store.deliveries.firstOf({ number: 41, startedAtMs });
      expect([await firstOf(0), await firstOf(5), await firstOf(7)]).toEqual([4, 5, null]);
      await opened.store.deliveries.prune({ beforeMs: 4, maxRows: 9 });
      expect(await opened.store.deliveries.firstAccepted(["a", "b"])).toEqual(new Map([["b", 5]]));
    });

    it("are pruned in slices, none too many", async () => {
      await opened.store.deliveries.add([1, 2, 3, 4, 5, 6].map((atMs) => attempt(atMs)));

      expect(await opened.store.deliveries.prune({ beforeMs: 5, maxRows: 2 })).toEqual({ hasMore: true });
      expect(await opened.store.deliveries.prune({ beforeMs: 5, maxRows: 2 })).toEqual({ hasMore: false });

      expect(times(await opened.store.deliveries.latest(9))).toEqual([6]);
    });
  });
});
