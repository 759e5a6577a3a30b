import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { minuteMs, secondMs } from "../../src/base/time.ts";
import { storeEngines, type StoreEngineCase } from "../support/store/engines.ts";
import { createAlertingWorld, type AlertingWorld, type WorldOptions } from "../support/alerting-world.ts";

let world: AlertingWorld;
let engine: StoreEngineCase["engine"];

const slugsOf = (count: number, prefix = "org"): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

async function open(options: WorldOptions = {}): Promise<void> {
  world = await createAlertingWorld({
    engine,
    slugs: slugsOf(4),
    ...options,
    settings: { fleet: { minOrganizations: 3, ratio: 0.5 }, ...options.settings },
  });
  for (const slug of options.slugs ?? slugsOf(4)) await world.run(slug, "ok");
}

async function spike(slugs: readonly string[]): Promise<void> {
  for (const slug of slugs) await world.run(slug, "fail");
}

describe.each(storeEngines)("on $engine,", ({ engine: name }) => {
  beforeEach(() => {
    engine = name;
  });
  afterEach(() => world.close());

  describe("the fleet verdict", () => {
    it.each<[string, number, number, { minOrganizations: number; ratio: number } | null, boolean]>([
      ["begins at both bounds", 3, 6, { minOrganizations: 3, ratio: 0.5 }, true],
      ["needs minOrganizations", 2, 4, { minOrganizations: 3, ratio: 0.5 }, false],
      ["needs the ratio", 3, 7, { minOrganizations: 3, ratio: 0.5 }, false],
      ["can be switched off", 4, 4, null, false],
    ])("%s", async (_rule, spiking, organizations, fleet, expected) => {
      const slugs = slugsOf(organizations);
      await open({ slugs, settings: { fleet } });
      await spike(slugs.slice(0, spiking));
      await world.advance(minuteMs);

      expect(world.notifications()).toHaveLength(1);
      expect(world.notifications()[0]?.fleet !== null).toBe(expected);
      expect(world.sent()[0]).toHaveLength(spiking);
    });

    it("counts organizations with a result only, and says which asset types carry it over all of them", async () => {
      const slugs = slugsOf(10);
      await open({ slugs });
      for (const slug of slugs.slice(4)) await world.run(slug, "unknown");
      await spike(slugs.slice(0, 3));
      await world.advance(minuteMs);

      expect(world.notifications()[0]?.fleet).toMatchObject({
        organizations: 4,
        spiking: 3,
        assetTypes: [
          { assetType: "URL", count: 90, share: 0.75 },
          { assetType: "EMAIL", count: 30, share: 0.25 },
        ],
      });
      expect(world.notifications()[0]?.summary).toContain("suspect the liveness checker");
    });

    it("keeps one id over joiners, silent members and its one resolved with all its alerts", async () => {
      const slugs = slugsOf(6);
      await open({ slugs });
      await spike(slugs.slice(0, 3));
      await world.advance(10 * secondMs);
      await spike(slugs.slice(3, 5));
      await world.advance(49 * secondMs);
      expect(world.sent()).toHaveLength(1);
      await world.advance(5 * minuteMs);
      expect(world.sent()[1]).toEqual(["firing org-3 fail", "firing org-4 fail"]);
      for (const slug of slugs.slice(0, 4)) await world.run(slug, "ok");
      await world.advance(5 * minuteMs);
      expect(world.sent()).toHaveLength(2);
      await world.run("org-4", "ok");
      await world.advance(minuteMs);

      expect(world.sent()[2]?.toSorted()).toEqual(slugs.slice(0, 5).map((slug) => `resolved ${slug} fail`));
      expect(world.notifications()[2]?.status).toBe("resolved");
      expect(new Set(world.notifications().map(({ fleet }) => fleet?.id)).size).toBe(1);
      expect(await world.store.notices.liveFleet("dead-asset-spike")).toBeNull();
      expect((await world.store.notices.fleets(5))[0]).toMatchObject({ peakSpiking: 5, organizations: 6 });
      expect(await world.store.notices.sent()).toEqual([]);
    });

    it("begins when fewer organizations give a result, with alerts that were told one by one", async () => {
      const slugs = slugsOf(8);
      await open({ slugs });
      await spike(slugs.slice(0, 3));
      await world.advance(5 * minuteMs);
      expect(world.notifications().map(({ fleet }) => fleet)).toEqual([null]);
      for (const slug of slugs.slice(6)) await world.run(slug, "unknown");
      await world.advance(5 * minuteMs);

      expect(world.sent()[1]).toEqual(slugs.slice(0, 3).map((slug) => `reminder ${slug} fail`));
      expect(world.notifications()[1]).toMatchObject({ fleet: { spiking: 3, organizations: 6 } });
      expect(world.sent()).toHaveLength(2);
    });

    it("begins with an alert of which nobody is told", async () => {
      await open();
      await spike(slugsOf(2));
      await world.advance(2 * minuteMs);
      await world.silence("org-2", 100 * minuteMs);
      await spike(["org-2"]);
      await world.advance(minuteMs);

      expect(world.sent()[1]).toEqual(["reminder org-0 fail", "reminder org-1 fail"]);
      expect(world.notifications()[1]).toMatchObject({ fleet: { spiking: 3 } });
    });

    it("is there from what fires on, and sent when its group is due, also with a short groupWait", async () => {
      await open({ settings: { groupWaitMs: secondMs } });
      for (const slug of slugsOf(3)) {
        await world.run(slug, "fail");
        await world.advance(2 * secondMs);
      }
      const forming = await world.store.notices.liveFleet("dead-asset-spike");
      expect(world.notifications().map(({ fleet }) => fleet)).toEqual([null]);
      await world.advance(minuteMs);

      expect(forming).toMatchObject({ startsAtMs: world.clock.nowMs() - minuteMs - 2 * secondMs, peakSpiking: 3 });
      expect(world.sent()).toEqual([
        ["firing org-0 fail"],
        ["firing org-1 fail", "firing org-2 fail", "reminder org-0 fail"],
      ]);
      expect(world.notifications()[1]?.fleet?.id).toBe(forming?.id);
    });

    it("ends unsent when less fires before it is due, and its members are told one by one", async () => {
      await open();
      await spike(slugsOf(3));
      await world.advance(secondMs);
      expect(await world.store.notices.liveFleet("dead-asset-spike")).not.toBeNull();
      await world.run("org-0", "ok");
      await world.advance(minuteMs);

      expect(await world.store.notices.liveFleet("dead-asset-spike")).toBeNull();
      expect(world.notifications().map(({ fleet }) => fleet)).toEqual([null]);
      expect(world.sent()[0]?.toSorted()).toEqual([
        "firing org-0 fail",
        "firing org-1 fail",
        "firing org-2 fail",
        "resolved org-0 fail",
      ]);
    });

    it("goes on below its bounds, and begins anew with another id after its end", async () => {
      await open();
      await spike(slugsOf(4));
      await world.advance(minuteMs);
      for (const slug of slugsOf(3)) await world.run(slug, "ok");
      await world.advance(minuteMs);
      await spike(["org-0"]);
      await world.advance(2 * minuteMs);
      for (const slug of slugsOf(4)) await world.run(slug, "ok");
      await world.advance(minuteMs);
      await spike(slugsOf(4));
      await world.advance(2 * minuteMs);

      const ids = world.notifications().map(({ fleet }) => fleet?.id);
      expect(ids).toHaveLength(4);
      expect(new Set(ids.slice(0, 3)).size).toBe(1);
      expect(ids[3]).not.toBe(ids[0]);
    });

    it("who fires again within groupWait of the last end keeps it alive", async () => {
      await open();
      await spike(slugsOf(3));
      await world.advance(minuteMs);
      for (const slug of slugsOf(3)) await world.run(slug, "ok");
      await world.advance(5 * secondMs);
      await spike(["org-3"]);
      await world.advance(5 * minuteMs);

      expect(world.sent()).toHaveLength(2);
      expect(world.notifications()[1]).toMatchObject({
        status: "firing",
        fleet: { id: world.notifications()[0]?.fleet?.id },
      });
    });

    it("shows an alert that was told before as a reminder: never two firings for one episode", async () => {
      await open();
      await spike(["org-0"]);
      await world.advance(minuteMs);
      await spike(["org-1", "org-2"]);
      await world.advance(minuteMs);

      expect(world.sent()[1]).toEqual(["firing org-1 fail", "firing org-2 fail", "reminder org-0 fail"]);
    });

    it("leaves out who is silenced, in the list but not in the totals, and tells them at their end what still fires", async () => {
      await open();
      const id = await world.silence("org-0", 100 * minuteMs);
      await spike(slugsOf(3));
      await world.advance(minuteMs);
      expect(world.sent()[0]).toEqual(["firing org-1 fail", "firing org-2 fail"]);
      expect(world.notifications()[0]?.fleet?.spiking).toBe(3);
      await world.store.silences.expire(id, world.clock.nowMs());
      await world.advance(2 * minuteMs);

      expect(world.sent()[1]).toEqual(["firing org-0 fail"]);
      expect(world.notifications()[1]?.fleet?.id).toBe(world.notifications()[0]?.fleet?.id);
    });

    it("is no matter of drills, of the review queue, or of checks that give no result", async () => {
      await open({ targets: { "org-2": { isDrill: true } }, policy: { unknownAfter: 1 } });
      await spike(["org-0", "org-1", "org-2"]);
      await world.run("org-3", "fail", { check: "review-queue" });
      await world.run("org-3", "unknown");
      await world.advance(minuteMs);

      expect(world.notifications().every(({ fleet }) => fleet === null)).toBe(true);
    });

    it("escalations of members share the pace of the joiners", async () => {
      await open();
      for (const slug of slugsOf(3)) await world.run(slug, "warn");
      await world.advance(10 * secondMs);
      for (const slug of slugsOf(3)) {
        await world.run(slug, "fail");
        await world.advance(5 * secondMs);
      }
      await world.advance(2 * minuteMs);

      expect(world.sent()).toHaveLength(2);
      expect(world.sent()[1]).toEqual(slugsOf(3).map((slug) => `escalated ${slug} fail`));
      expect(world.notifications()[1]?.fleet).not.toBeNull();
    });

    it("switched off by a reload, lets its members end one by one", async () => {
      await open();
      await spike(slugsOf(3));
      await world.advance(minuteMs);
      await world.reload({ settings: { fleet: null } });
      await world.run("org-0", "ok");
      await world.advance(minuteMs);

      expect(world.sent()[1]).toEqual(["resolved org-0 fail"]);
      expect(world.notifications()[1]?.fleet).toBeNull();
    });

    it("is told to who knew all its members already, so that their ends are not a storm", async () => {
      const slugs = slugsOf(6);
      await open({ slugs, receivers: [{ name: "ops" }, { name: "first", match: { slug: "org-0" } }] });
      await spike(["org-0"]);
      await world.advance(2 * minuteMs);
      await spike(slugs.slice(1));
      await world.advance(2 * minuteMs);

      expect(world.sent("first")).toEqual([["firing org-0 fail"], ["reminder org-0 fail"]]);
      expect(world.notifications("first")[1]).toMatchObject({ fleet: { spiking: 6 } });
    });

    it("survives a restart at any time", async () => {
      await open();
      await spike(slugsOf(3));
      await world.advance(minuteMs);
      await world.restart();
      await spike(["org-3"]);
      await world.advance(2 * minuteMs);
      await world.restart();
      for (const slug of slugsOf(4)) await world.run(slug, "ok");
      await world.restart();
      await world.advance(2 * minuteMs);

      expect(world.sent().map((entries) => entries.length)).toEqual([3, 1, 4]);
      expect(new Set(world.notifications().map(({ fleet }) => fleet?.id)).size).toBe(1);
    });
  });

  describe("two hundred organizations that spike within five minutes", () => {
    it("in any order, are at most one notification a groupInterval for each receiver, and none sees another's names", async () => {
      const left = slugsOf(105, "left");
      const right = slugsOf(105, "right");
      const [order] = fc.sample(fc.shuffledSubarray([...left.slice(5), ...right.slice(5)], { minLength: 200 }), {
        numRuns: 1,
        seed: 42,
      });
      await open({
        slugs: [...left, ...right],
        receivers: [
          { name: "left", match: { slug: "left-*" } },
          { name: "right", match: { slug: "right-*" } },
        ],
      });

      for (const slug of order ?? []) {
        await world.run(slug, "fail");
        await world.advance(1_500);
      }
      await world.advance(3 * minuteMs);
      const before = { left: world.notifications("left").length, right: world.notifications("right").length };
      await spike([...left.slice(0, 5), ...right.slice(0, 5)]);
      await world.advance(3 * minuteMs);
      for (const name of ["left", "right"] as const) expect(world.notifications(name)).toHaveLength(before[name] + 1);
      for (const slug of [...left, ...right]) await world.run(slug, "ok");
      await world.advance(3 * minuteMs);

      for (const name of ["left", "right"] as const) {
        const all = world.notifications(name);
        const firing = all.filter(({ status }) => status === "firing");
        for (const [index, { generatedAtMs }] of firing.entries()) {
          const previous = firing[index - 1];
          if (previous !== undefined) expect(generatedAtMs - previous.generatedAtMs).toBeGreaterThanOrEqual(minuteMs);
        }
        const fleetFrom = all.findIndex(({ fleet }) => fleet !== null);
        expect(fleetFrom).toBeGreaterThanOrEqual(0);
        expect(all.slice(fleetFrom).every(({ fleet }) => fleet !== null)).toBe(true);
        expect(JSON.stringify(all)).not.toContain(name === "left" ? "right-" : "left-");
        expect(all.at(-1)?.status).toBe("resolved");
        expect(new Set(all.at(-1)?.alerts.map(({ slug }) => slug)).size).toBe(105);
        const fired = all.flatMap(({ alerts }) =>
          alerts.filter(({ event }) => event === "firing").map(({ slug }) => slug),
        );
        expect(fired.toSorted()).toEqual((name === "left" ? left : right).toSorted());
      }
    }, 60_000);
  });
});
