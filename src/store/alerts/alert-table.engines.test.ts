import { beforeEach, describe, expect, it } from "vitest";

import { storeEngines } from "../../../test/support/store/engines.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import type { Alert, AlertStore } from "./alerts.ts";
import { firingAlert } from "../../../test/support/firing-alert.ts";

const nowMs = Date.UTC(2026, 5, 1);

let alerts: AlertStore;

function alert(id: string, over: Partial<Alert> = {}): Alert {
  const peak = { severity: "warn", currentCount: 30, atMs: nowMs } as const;
  const pending = { state: "pending", severity: "warn", firingAtMs: null, peak, reason: "pending" } as const;
  return firingAlert(id, nowMs, { slug: id, ...pending, ...over });
}

describe.each(storeEngines)("on $engine,", ({ useStore }) => {
  const opened = useStore(() => createVirtualClock({ startMs: nowMs }));
  beforeEach(() => {
    alerts = opened.store.alerts;
  });

  describe("live alerts", () => {
    it("of one organization may be one a kind, and no more", async () => {
      const [verdict, unknown] = [alert("a", { slug: "acme" }), alert("b", { slug: "acme", kind: "unknown" })];
      await alerts.save(unknown);
      await alerts.save(verdict);
      await alerts.save(alert("c", { slug: "acme", check: "review-queue" }));

      const found = await alerts.liveOf([{ check: "dead-asset-spike", slug: "acme" }]);
      expect(new Set(found)).toEqual(new Set([unknown, verdict]));
      expect((await alerts.allLive()).map(({ id }) => id)).toEqual(["b", "a", "c"]);
      await expect(alerts.save(alert("d", { slug: "acme" }))).rejects.toThrow(/unique/i);
    });
  });

  describe("alerts that are over", () => {
    const end = (atMs: number) => ({ atMs, isByRun: true });

    it("are found as they ended, and no longer live", async () => {
      const firing = alert("a", { slug: "acme", state: "firing", windowHours: 12 });
      await alerts.save(firing);
      const ended = { ...firing, reason: "back_to_ok" };

      await alerts.save({ ...ended, end: end(nowMs + 7) });

      expect(await alerts.allLive()).toEqual([]);
      expect(await alerts.find("a")).toEqual({ ...ended, end: end(nowMs + 7) });
      const query = { check: "dead-asset-spike", slug: "acme", limit: 9 } as const;
      expect(await alerts.ended({ ...query, fromMs: nowMs })).toEqual([{ ...ended, end: end(nowMs + 7) }]);
      expect(await alerts.ended({ ...query, fromMs: nowMs + 8 })).toEqual([]);
      expect(await alerts.find("b")).toBeNull();
    });

    it("can be judged as live ones can, and are not brought back by it", async () => {
      const firing = alert("a", { state: "firing" });
      await alerts.save(firing);
      const judgement = { verdict: "real", comment: null, by: "kim", note: null, atMs: nowMs } as const;
      await alerts.judge(["a", "b"], judgement);
      expect(await alerts.find("a")).toEqual({ ...firing, judgement });
      await alerts.save({ ...firing, judgement, end: end(nowMs) });

      await alerts.judge(["a"], null);
      await alerts.change({ ...firing, reason: "other" });

      expect(await alerts.find("a")).toEqual({ ...firing, reason: "other", end: end(nowMs) });
      expect(await alerts.allLive()).toEqual([]);
    });

    it("are pruned when old, but for failures of the gate and checkers that a baseline still sees", async () => {
      const said = { slug: "acme", state: "firing" } as const;
      for (const [id, atMs] of Object.entries({ old: 1, judged: 2, older: 1, holding: 1, young: 9 }))
        await alerts.save({ ...alert(id, said), end: end(atMs) });
      const judgement = { verdict: "checker", comment: null, by: "kim", note: null, atMs: nowMs } as const;
      await alerts.judge(["judged"], judgement);
      await alerts.judge(["older"], { ...judgement, verdict: "real" });
      const limits = { beforeMs: 5, checkersBeforeMs: 1, holding: ["holding"] };

      expect(await alerts.pruneEnded({ ...limits, maxRows: 1 })).toEqual({ hasMore: true });
      await alerts.pruneEnded({ ...limits, maxRows: 9 });

      const left = await Promise.all(["old", "judged", "older", "holding", "young"].map((id) => alerts.find(id)));
      expect(left.map((found) => found !== null)).toEqual([false, true, false, true, true]);
    });

    it("are members and failures of the gate as before where the live ones are read already", async () => {
      const { gate, incidents } = opened.store;
      const of = { state: "firing", incident: { id: "i", number: 7 } } as const;
      const failure = { atMs: nowMs, releasedAtMs: null };
      await alerts.save(alert("live", { ...of, failure }));
      await alerts.save(alert("pending"));
      for (const id of ["ended", "released"]) await alerts.save({ ...alert(id, { ...of, failure }), end: end(1) });
      await alerts.release(["released"], nowMs);
      const live = await alerts.allLive();

      const idsOf = async (among: readonly Alert[]): Promise<string[]> =>
        (await gate.unreleased(among)).map(({ id }) => id).toSorted();
      expect(await idsOf(live)).toEqual(["ended", "live"]);
      expect(await idsOf(live.filter(({ id }) => id === "pending"))).toEqual(["ended"]);
      expect(await idsOf([])).toEqual(["ended"]);
      expect((await gate.unreleased(live)).filter((alert) => alert.id === "live")).toEqual(await gate.failures("live"));
      expect(await incidents.members([7], live)).toEqual(await incidents.members([7]));
      expect((await incidents.members([7])).get(7)).toHaveLength(3);
      // An alert that ended since it was read is one member, as it was read.
      await alerts.save({ ...alert("live", of), end: end(2) });
      expect((await incidents.members([7], live)).get(7)?.map((one) => one.end === null)).toEqual([false, true, false]);
    });
  });

  describe("what was said and done", () => {
    const said = { by: "kim", note: null, atMs: nowMs } as const;
    const incident = { id: "i", number: 7 };

    it("is with each alert that it concerns, in order, and goes with it", async () => {
      const { log } = opened.store;
      for (const id of ["a", "b", "c"])
        await alerts.save({
          ...alert(id, { slug: "acme", state: "firing", incident }),
          end: { atMs: 1, isByRun: true },
        });
      await log.judged(["a", "b"], { ...said, verdict: "checker", comment: "captcha" });
      await log.judged(["a"], { ...said, verdict: null, comment: null, note: "lee" });
      await log.released(["a"], { how: "judged", by: null, comment: null, atMs: 3 });
      await log.released(["b"], { how: "released", by: "kim", comment: "seen", atMs: 5 });
      const comment = { ...said, incident: 7, slug: null, act: null } as const;
      await log.comment({ ...comment, text: "of all", alertIds: null });
      await log.comment({ ...comment, text: "of two", alertIds: ["a", "b"], act: "judgement" });
      await log.comment({ ...comment, text: "of one", alertIds: ["c"], slug: "acme" });

      expect(await log.judgementsOf("a")).toEqual([
        { ...said, verdict: "checker", comment: "captcha" },
        { ...said, verdict: null, comment: null, note: "lee" },
      ]);
      expect(await log.releases("acme", 1)).toEqual([
        { how: "released", alertId: "b", by: "kim", comment: "seen", atMs: 5 },
      ]);
      expect(await log.releases("globex", 9)).toEqual([]);
      const textsOf = async (id: string): Promise<string[]> =>
        (await log.commentsOf({ id, incident })).map(({ text }) => text);
      expect(await textsOf("a")).toEqual(["of all", "of two"]);
      expect(await textsOf("c")).toEqual(["of all", "of one"]);
      expect(await log.commentsOfIncident(7)).toMatchObject([
        { alertIds: null },
        { alertIds: ["a", "b"], act: "judgement", slug: null },
        { alertIds: ["c"], slug: "acme" },
      ]);
      expect(await log.countComments(7)).toBe(3);
      await alerts.pruneEnded({ beforeMs: 5, checkersBeforeMs: 5, holding: ["b"], maxRows: 9 });
      expect(await log.judgementsOf("a")).toEqual([]);
      expect(await log.releases("acme", 9)).toHaveLength(1);
      expect(await log.countComments(7)).toBe(2);
    });

    it("name the alerts that are judged now, live and ended", async () => {
      const said = { verdict: "checker", comment: null, by: "kim", note: null, atMs: 1 } as const;
      for (const [id, slug] of Object.entries({ a: "acme", c: "globex", d: "hooli", e: "initech" }))
        await alerts.save(alert(id, { slug, state: "firing" }));
      const ended = { atMs: nowMs, isByRun: false };
      await alerts.save({ ...alert("b", { slug: "acme", state: "firing" }), end: ended });
      await alerts.judge(["a", "b", "c", "d"], said);
      await alerts.judge(["d"], { ...said, verdict: "real" });
      const idsOf = (kept: readonly Alert[]): string[] => kept.map(({ id }) => id).toSorted();

      expect(idsOf(await alerts.judged({ verdict: "checker" }))).toEqual(["a", "b", "c"]);
      expect(idsOf(await alerts.judged({ verdict: "checker", slug: "acme" }))).toEqual(["a", "b"]);
      expect(idsOf(await alerts.judged())).toEqual(["a", "b", "c", "d"]);
      expect((await alerts.judged()).find(({ id }) => id === "b")?.end).toEqual(ended);
      await alerts.judge(["a"], null);
      expect(idsOf(await alerts.judged({ verdict: "checker", slug: "acme" }))).toEqual(["b"]);
    });
  });
});
