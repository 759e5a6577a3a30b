import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { minuteMs } from "../../src/base/time.ts";
import type { Run } from "../../src/store/runs/check-state.ts";
import type { Incident } from "../../src/store/alerts/incidents.ts";
import { resultReport } from "../support/reports.ts";
import { storeEngines, type StoreEngineCase } from "../support/store/engines.ts";
import { createAlertingWorld, type AlertingWorld, type WorldOptions } from "../support/alerting-world.ts";
import { summaryOf } from "../../src/words/alert.ts";

let world: AlertingWorld;
let engine: StoreEngineCase["engine"];

const slugsOf = (count: number, prefix = "org"): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

async function open(options: WorldOptions = {}): Promise<void> {
  world = await createAlertingWorld({
    engine,
    slugs: slugsOf(4),
    ...options,
    settings: { fleet: { minOrganizations: 3 }, ...options.settings },
  });
  for (const slug of options.slugs ?? slugsOf(4)) await world.run(slug, "ok");
}

/** The verdict that lasts, with its incident. */
async function lasting(): Promise<Incident | null> {
  return (await world.store.incidents.open()).find(({ verdict }) => verdict !== null) ?? null;
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
    it.each<[string, number, number, { minOrganizations: number } | null, boolean]>([
      ["begins where so many together are no chance", 3, 6, { minOrganizations: 3 }, true],
      ["needs minOrganizations", 2, 4, { minOrganizations: 3 }, false],
      ["does not begin where they may be", 3, 20, { minOrganizations: 3 }, false],
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

    it.each<[string, number, (nowMs: number) => Partial<Run>, boolean]>([
      [
        "begins with runs that were asked for",
        minuteMs,
        (nowMs) => ({ isAsked: true, dueAtMs: nowMs + 5 * minuteMs }),
        true,
      ],
      [
        "does not begin with what a gap hid, however overdue its run is",
        16 * minuteMs,
        (nowMs) => ({ dueAtMs: nowMs - 11 * minuteMs }),
        false,
      ],
    ])("%s", async (_rule, pauseMs, runAt, expected) => {
      await open();
      await world.advance(pauseMs);
      for (const slug of slugsOf(4)) {
        const startedAtMs = world.clock.nowMs();
        await world.record(resultReport({ slug, severity: "fail", startedAtMs }), runAt(startedAtMs));
      }

      expect((await lasting()) !== null).toBe(expected);
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
      expect(world.notifications().map(summaryOf)[0]).toContain(
        "3 of 10 organizations began to spike within 1 minute, from one cause.",
      );
    });

    it("leaves out who is silenced, in the list and in the totals, and tells of them as of joiners", async () => {
      await open();
      const id = await world.silence("org-0", 100 * minuteMs);
      await world.silence("org-3", 100 * minuteMs);
      await spike(slugsOf(3));
      await world.advance(minuteMs);
      expect(world.sent()[0]).toEqual(["firing org-1 fail", "firing org-2 fail"]);
      expect(world.notifications()[0]?.fleet?.spiking).toBe(2);
      await world.store.silences.expire(id, world.clock.nowMs());
      await world.advance(2 * minuteMs);
      expect(world.sent()).toHaveLength(1);
      await spike(["org-3"]);
      for (const silence of await world.store.silences.endingAfter(world.clock.nowMs()))
        await world.store.silences.expire(silence.id, world.clock.nowMs());
      await world.advance(2 * minuteMs);

      expect(world.sent()[1]).toEqual(["firing org-0 fail", "firing org-3 fail"]);
      expect(world.notifications()[1]?.fleet?.id).toBe(world.notifications()[0]?.fleet?.id);
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
  });
});
