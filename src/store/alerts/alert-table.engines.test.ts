import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { storeEngines, type OpenedStore } from "../../../test/support/store/engines.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import type { AlertState, AlertStore } from "./alerts.ts";
import { firingAlert } from "../../../test/support/firing-alert.ts";

const nowMs = Date.UTC(2026, 5, 1);

let opened: OpenedStore;
let alerts: AlertStore;

function alert(id: string, over: Partial<AlertState> = {}): AlertState {
  const peak = { severity: "warn", currentCount: 30, atMs: nowMs } as const;
  const pending = { state: "pending", severity: "warn", firingAtMs: null, peak, reason: "pending" } as const;
  return firingAlert(id, nowMs, { slug: id, ...pending, ...over });
}

describe.each(storeEngines)("on $engine,", ({ openTemporary }) => {
  beforeEach(async () => {
    opened = await openTemporary(createVirtualClock({ startMs: nowMs }));
    alerts = opened.store.alerts;
  });
  afterEach(() => opened.close());

  describe("live alerts", () => {
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

  describe("alerts that are over", () => {
    const end = (atMs: number) => ({ atMs, isByRun: true });
    const said = {
      check: "dead-asset-spike",
      slug: "acme",
      atMs: nowMs,
      comment: null,
      by: "kim",
      note: null,
    } as const;

    it("are found as they ended, and no longer live", async () => {
      const firing = alert("a", { slug: "acme", state: "firing", windowHours: 12 });
      await alerts.save(firing);
      const ended = { ...firing, reason: "back_to_ok" };

      await alerts.end(ended, end(nowMs + 7));

      expect(await alerts.allLive()).toEqual([]);
      expect(await alerts.find("a")).toEqual({ alert: ended, end: end(nowMs + 7) });
      const query = { check: "dead-asset-spike", slug: "acme", limit: 9 } as const;
      expect(await alerts.ended({ ...query, fromMs: nowMs })).toEqual([{ alert: ended, end: end(nowMs + 7) }]);
      expect(await alerts.ended({ ...query, fromMs: nowMs + 8 })).toEqual([]);
      expect(await alerts.find("b")).toBeNull();
    });

    it("can be changed as live ones can, and are not brought back by it", async () => {
      const firing = alert("a", { state: "firing" });
      await alerts.save(firing);
      const judgement = { verdict: "real", comment: null, by: "kim", note: null, atMs: nowMs } as const;
      await alerts.change({ ...firing, judgement });
      expect(await alerts.find("a")).toEqual({ alert: { ...firing, judgement }, end: null });
      await alerts.end(firing, end(nowMs));

      await alerts.change({ ...firing, judgement });

      expect(await alerts.find("a")).toEqual({ alert: { ...firing, judgement }, end: end(nowMs) });
      expect(await alerts.allLive()).toEqual([]);
    });

    it("are pruned when they are old, but for failures of the gate and checkers that a baseline still sees", async () => {
      for (const [id, atMs] of Object.entries({ old: 1, judged: 2, older: 1, young: 9 }))
        await alerts.end(alert(id, { slug: "acme", state: "firing" }), end(atMs));
      await opened.store.judgements.append({ ...said, alertId: "judged", verdict: "checker" });
      await opened.store.judgements.append({ ...said, alertId: "older", verdict: "checker" });
      await opened.store.judgements.append({ ...said, alertId: "older", verdict: "real" });

      expect(await alerts.pruneEnded({ beforeMs: 5, checkersBeforeMs: 1, maxRows: 1 })).toEqual({ hasMore: true });
      await alerts.pruneEnded({ beforeMs: 5, checkersBeforeMs: 1, maxRows: 9 });

      const left = await Promise.all(["old", "judged", "older", "young"].map((id) => alerts.find(id)));
      expect(left.map((found) => found !== null)).toEqual([false, true, false, true]);
      expect(await opened.store.judgements.of("older")).toEqual([]);
    });

    it("are members and failures of the gate as before where the live ones are read already", async () => {
      const { gate, incidents } = opened.store;
      const of = { state: "firing", incident: { id: "i", number: 7 } } as const;
      await alerts.save(alert("live", of));
      await alerts.save(alert("pending"));
      for (const id of ["ended", "released"]) await alerts.end(alert(id, of), end(1));
      for (const id of ["live", "ended", "released"])
        await gate.fail({ id, check: "dead-asset-spike", slug: id }, nowMs);
      await gate.release("released", nowMs);
      const live = await alerts.allLive();

      const idsOf = async (among: readonly AlertState[]): Promise<string[]> =>
        (await gate.unreleased(among)).map(({ alert: { id } }) => id).toSorted();
      expect(await idsOf(live)).toEqual(["ended", "live"]);
      expect(await idsOf(live.filter(({ id }) => id === "pending"))).toEqual(["ended"]);
      expect(await idsOf([])).toEqual(["ended"]);
      expect((await gate.unreleased(live)).filter(({ alert }) => alert.id === "live")).toEqual(
        await gate.failures("live"),
      );
      expect([...(await gate.unreleasedTimes()).keys()].toSorted()).toEqual(["ended", "live"]);
      expect(await incidents.members([7], live)).toEqual(await incidents.members([7]));
      expect((await incidents.members([7])).get(7)).toHaveLength(3);
      // What has ended since it was read is one member, as it was read.
      await alerts.end(alert("live", of), end(2));
      expect((await incidents.members([7], live)).get(7)?.map((one) => one.end === null)).toEqual([false, true, false]);
    });

    it("take their comments with them, as pending ones do that are over", async () => {
      const { comments } = opened.store;
      const comment = { slug: "acme", atMs: 1, by: "kim", note: null, text: "odd", act: null } as const;
      await alerts.end(alert("old", { slug: "acme", state: "firing" }), end(1));
      await alerts.end(alert("young", { slug: "acme", state: "firing" }), end(9));
      await alerts.save(alert("pending"));
      for (const alertId of ["old", "young", "young", "pending"]) await comments.append({ ...comment, alertId });

      await alerts.pruneEnded({ beforeMs: 5, checkersBeforeMs: 1, maxRows: 9 });
      await alerts.remove("pending");

      const counts = await Promise.all(["old", "young", "pending"].map((alertId) => comments.count({ alertId })));
      expect(counts).toEqual([0, 2, 0]);
      expect(await comments.of({ id: "young" })).toEqual(
        Array.from({ length: 2 }, () => ({ ...comment, alertId: "young" })),
      );
    });
  });

  describe("judgements", () => {
    const said = {
      alertId: "a",
      check: "dead-asset-spike",
      slug: "acme",
      comment: null,
      by: "kim",
      note: null,
    } as const;

    it("are all kept, in order, withdrawals among them", async () => {
      const entries = [
        { ...said, atMs: 1, verdict: "real" },
        { ...said, atMs: 1, verdict: "checker", comment: "captcha" },
        { ...said, atMs: 3, verdict: null, note: "lee" },
      ] as const;
      for (const one of entries) await opened.store.judgements.append(one);

      expect(await opened.store.judgements.of("a")).toEqual(entries);
      expect(await opened.store.judgements.of("b")).toEqual([]);
    });

    it("name the alerts that are judged `checker` now, live and ended", async () => {
      const { judgements } = opened.store;
      await alerts.save(alert("a", { slug: "acme", state: "firing" }));
      const over = alert("b", { slug: "acme", state: "firing" });
      const end = { atMs: nowMs, isByRun: false } as const;
      await alerts.end(over, end);
      await alerts.save(alert("c", { slug: "globex", state: "firing" }));
      for (const alertId of ["a", "b"]) await judgements.append({ ...said, alertId, atMs: 1, verdict: "checker" });
      await judgements.append({ ...said, slug: "globex", alertId: "c", atMs: 1, verdict: "checker" });

      const ofAcme = await judgements.judgedChecker("acme");
      expect(ofAcme.toSorted((left, right) => (left.alert.id < right.alert.id ? -1 : 1))).toEqual([
        { alert: alert("a", { slug: "acme", state: "firing" }), end: null },
        { alert: over, end },
      ]);
      expect(await judgements.judgedChecker()).toHaveLength(3);

      await judgements.append({ ...said, alertId: "a", atMs: 2, verdict: null });
      expect((await judgements.judgedChecker("acme")).map(({ alert: { id } }) => id)).toEqual(["b"]);
    });

    it("name all alerts that are judged now, by what was said last", async () => {
      const { judgements } = opened.store;
      for (const id of ["a", "b", "c", "d"]) await alerts.save(alert(id, { state: "firing" }));
      await alerts.end(alert("b", { state: "firing" }), {
        atMs: nowMs,
        isByRun: true,
      });
      await judgements.append({ ...said, alertId: "a", atMs: 1, verdict: "checker" });
      await judgements.append({ ...said, alertId: "b", atMs: 1, verdict: "checker" });
      await judgements.append({ ...said, alertId: "b", atMs: 2, verdict: "expected" });
      await judgements.append({ ...said, alertId: "c", atMs: 1, verdict: "real" });
      await judgements.append({ ...said, alertId: "c", atMs: 2, verdict: null });

      const judged = await judgements.judged();

      expect(
        new Set(judged.map(({ alert: { id }, end: over }) => `${id} ${over === null ? "live" : "ended"}`)),
      ).toEqual(new Set(["a live", "b ended"]));
    });
  });
});
