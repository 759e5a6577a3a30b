import { beforeEach, describe, expect, it } from "vitest";

import { storeEngines } from "../../../test/support/store/engines.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import type { SilenceStore, StoredSilence } from "./silences.ts";

const nowMs = Date.UTC(2026, 5, 1);

let silences: SilenceStore;

function silence(id: string, startsInMs: number, endsInMs: number, over: Partial<StoredSilence> = {}): StoredSilence {
  const times = { startsAtMs: nowMs + startsInMs, endsAtMs: nowMs + endsInMs, createdAtMs: nowMs };
  return { id, slug: "acme-*", check: null, comment: "migration", createdBy: null, note: null, ...times, ...over };
}

const idsAfter = async (afterMs: number): Promise<string[]> =>
  (await silences.endingAfter(nowMs + afterMs)).map(({ id }) => id);

describe.each(storeEngines)("on $engine,", ({ useStore }) => {
  const opened = useStore(() => createVirtualClock({ startMs: nowMs }));
  beforeEach(() => {
    silences = opened.store.silences;
  });

  describe("silences", () => {
    it("are answered as they were added", async () => {
      const one = silence("one", 0, 60, { check: "review-queue", createdBy: "kim", note: null, comment: "" });
      await silences.add(one);

      expect(await silences.byId("one")).toEqual(one);
      expect(await silences.byId("two")).toBeNull();
      expect(await silences.endingAfter(nowMs)).toEqual([one]);
    });

    it("count until they end, begun or not, in the order of their start", async () => {
      await silences.add(silence("future", 50, 90));
      await silences.add(silence("over", -90, 0));
      await silences.add(silence("present", -5, 1));

      expect(await idsAfter(0)).toEqual(["present", "future"]);
      expect(await idsAfter(1)).toEqual(["future"]);
      expect(await idsAfter(-1)).toEqual(["over", "present", "future"]);
    });

    it("are ended once, and are still known then", async () => {
      await silences.add(silence("one", -5, 60));

      expect(await silences.expire("one", nowMs)).toBe(true);
      expect(await silences.expire("one", nowMs)).toBe(false);
      expect(await silences.expire("two", nowMs)).toBe(false);

      expect(await silences.byId("one")).toMatchObject({ endsAtMs: nowMs });
      expect(await idsAfter(0)).toEqual([]);
    });

    it("get another end or comment while they have not ended", async () => {
      await silences.add(silence("one", -5, 60));
      await silences.add(silence("over", -90, 0));

      expect(await silences.change("one", { endsAtMs: nowMs + 90 }, nowMs)).toBe(true);
      expect(await silences.change("one", { comment: "slow one" }, nowMs)).toBe(true);
      expect(await silences.change("over", { endsAtMs: nowMs + 90 }, nowMs)).toBe(false);
      expect(await silences.change("two", { endsAtMs: nowMs + 90 }, nowMs)).toBe(false);

      expect(await silences.byId("one")).toEqual(silence("one", -5, 90, { comment: "slow one" }));
    });

    it("are deleted when they ended long ago", async () => {
      await silences.add(silence("old", -9, -1));
      await silences.add(silence("new", -9, 0));

      await silences.prune(nowMs - 1);

      expect(await idsAfter(-100)).toEqual(["new"]);
    });
  });
});
