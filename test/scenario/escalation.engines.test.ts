import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { minuteMs, secondMs } from "../../src/base/time.ts";
import { createAlertingWorld, type AlertingWorld, type WorldOptions } from "../support/alerting-world.ts";
import { storeEngines, type StoreEngineCase } from "../support/store/engines.ts";

let world: AlertingWorld;
let engine: StoreEngineCase["engine"];

const routed = {
  receivers: [
    { name: "ops", afterMs: 0 },
    { name: "lead", afterMs: 30 * minuteMs },
  ],
};

async function open(options: WorldOptions = {}): Promise<void> {
  const slugs = options.slugs ?? ["acme"];
  world = await createAlertingWorld({
    engine,
    slugs,
    receivers: [{ name: "ops" }, { name: "lead" }],
    targets: Object.fromEntries(slugs.map((slug) => [slug, routed])),
    ...options,
  });
  for (const slug of slugs) await world.run(slug, "ok");
}

async function setJudged(isJudged: boolean): Promise<void> {
  const judgement = { verdict: "real", comment: null, by: "kim", note: null, atMs: world.clock.nowMs() } as const;
  for (const { judgement: _before, ...alert } of await world.store.alerts.allLive())
    await world.store.alerts.save(isJudged ? { ...alert, judgement } : alert);
}

const escalations = (): { readonly reason: string; readonly event: string; readonly severity: string }[] =>
  world
    .notifications("lead")
    .flatMap(({ alerts }) => alerts.map(({ reason, event, severity }) => ({ reason, event, severity })));

describe.each(storeEngines)("on $engine,", ({ engine: name }) => {
  beforeEach(() => {
    engine = name;
  });
  afterEach(() => world.close());

  describe("an alert that nobody takes on", () => {
    it("goes to the next receiver after its time, with reason escalation, and to the first one at once", async () => {
      await open();
      await world.run("acme", "fail");
      await world.advance(30 * minuteMs - secondMs);
      expect(world.sent("ops")).toEqual([["firing acme fail"]]);
      expect(world.sent("lead")).toEqual([]);
      await world.advance(secondMs + 10 * secondMs);

      expect(escalations()).toEqual([{ reason: "escalation", event: "firing", severity: "fail" }]);
    });

    it("goes as `unknown` where it is of kind unknown, counted from when it fired", async () => {
      await open({ policy: { unknownAfter: 2 } });
      await world.run("acme", "unknown");
      await world.advance(5 * minuteMs);
      await world.run("acme", "unknown");
      await world.advance(29 * minuteMs);
      expect(world.sent("lead")).toEqual([]);
      await world.advance(2 * minuteMs);

      expect(escalations()).toEqual([{ reason: "escalation", event: "unknown", severity: "unknown" }]);
    });

    it("is told as it is by then, and from then on as to any receiver", async () => {
      await open({ policy: { repeatIntervalMs: 60 * minuteMs } });
      await world.run("acme", "warn");
      await world.advance(10 * minuteMs);
      await world.run("acme", "fail");
      await world.advance(25 * minuteMs);
      expect(world.sent("lead")).toEqual([["firing acme fail"]]);
      await world.run("acme", "warn");
      await world.advance(minuteMs);
      await world.advance(60 * minuteMs);
      await world.run("acme", "ok");
      await world.advance(minuteMs);

      expect(world.sent("lead")).toEqual([
        ["firing acme fail"],
        ["deescalated acme warn"],
        ["reminder acme warn"],
        ["resolved acme warn"],
      ]);
    });

    it("is not told of what ended before", async () => {
      await open();
      await world.run("acme", "fail");
      await world.advance(20 * minuteMs);
      await world.run("acme", "ok");
      await world.advance(60 * minuteMs);

      expect(world.sent("ops")).toEqual([["firing acme fail"], ["resolved acme fail"]]);
      expect(world.sent("lead")).toEqual([]);
    });

    it("keeps its time and its id over restarts and crashes of every step", async () => {
      await open();
      await world.run("acme", "fail");
      await world.advance(20 * minuteMs);
      await world.restart();
      await world.advance(9 * minuteMs);
      world.crashAt("form");
      await world.advance(2 * minuteMs);
      world.crashAt("acknowledge");
      await world.restart();
      await world.advance(60 * minuteMs);

      expect(escalations()).toEqual([{ reason: "escalation", event: "firing", severity: "fail" }]);
      expect(new Set(world.receivers.get("lead")?.attempts.map(({ id }) => id)).size).toBe(1);
    });

    it("is one notification where two replicas look at the same instant", async () => {
      await open();
      await world.run("acme", "fail");
      await world.advance(minuteMs);
      await world.clock.advanceTo(world.clock.nowMs() + 40 * minuteMs);
      const [first, second] = await Promise.all([world.notifier.runOnce(), world.replica().runOnce()]);
      await world.settle();

      expect(first.formed + second.formed).toBe(1);
      expect(world.notifications("lead")).toHaveLength(1);
    });

    it("obeys the minSeverity of the receiver: told when the alert becomes as bad after its time", async () => {
      await open({ receivers: [{ name: "ops" }, { name: "lead", minSeverity: "fail" }] });
      await world.run("acme", "warn");
      await world.advance(60 * minuteMs);
      expect(world.sent("lead")).toEqual([]);
      await world.run("acme", "fail");
      await world.advance(minuteMs);

      expect(escalations()).toEqual([{ reason: "escalation", event: "firing", severity: "fail" }]);
    });

    it("obeys the match of the receiver", async () => {
      await open({ receivers: [{ name: "ops" }, { name: "lead", match: { slug: "other" } }] });
      await world.run("acme", "fail");
      await world.advance(60 * minuteMs);

      expect(world.sent("lead")).toEqual([]);
    });
  });

  describe("what holds an escalation back", () => {
    const holds: readonly (readonly [string, () => Promise<unknown>, () => Promise<unknown>])[] = [
      ["an acknowledgement", () => world.acknowledge("acme"), () => world.unacknowledge("acme")],
      ["a judgement", () => setJudged(true), () => setJudged(false)],
      ["a silence", () => world.silence("acme", 60 * minuteMs), () => world.advance(60 * minuteMs)],
    ];

    it.each(holds)("is %s; it goes out when that ends and the alert still fires", async (_what, hold, release) => {
      await open();
      await world.run("acme", "fail");
      await world.advance(20 * minuteMs);
      await hold();
      await world.advance(20 * minuteMs);
      expect(world.sent("lead")).toEqual([]);
      await release();
      await world.advance(minuteMs);

      expect(escalations()).toEqual([{ reason: "escalation", event: "firing", severity: "fail" }]);
    });

    it.each(holds)("is %s; nothing goes out when the alert ends under it", async (_what, hold, release) => {
      await open();
      await world.run("acme", "fail");
      await world.advance(20 * minuteMs);
      await hold();
      await world.advance(20 * minuteMs);
      await world.run("acme", "ok");
      await release();
      await world.advance(60 * minuteMs);

      expect(world.sent("lead")).toEqual([]);
    });

    it.each(holds)("is not %s that ended before its time", async (_what, hold, release) => {
      await open({ targets: { acme: { receivers: [{ name: "lead", afterMs: 180 * minuteMs }] } } });
      await world.run("acme", "fail");
      await hold();
      await world.advance(20 * minuteMs);
      await release();
      await world.advance(90 * minuteMs);
      expect(world.sent("lead")).toEqual([]);
      await world.advance(80 * minuteMs);

      expect(world.sent("lead")).toEqual([["firing acme fail"]]);
    });

    it("is not an acknowledgement of less than what the alert has become", async () => {
      await open();
      await world.run("acme", "warn");
      await world.acknowledge("acme");
      await world.advance(20 * minuteMs);
      await world.run("acme", "fail");
      await world.advance(11 * minuteMs);

      expect(escalations()).toEqual([{ reason: "escalation", event: "firing", severity: "fail" }]);
    });
  });

  describe("a fleet verdict", () => {
    const slugs = ["a", "b", "c", "d"];
    const fleet = { minOrganizations: 3 };

    it("escalates as one notification with all members that escalate, when the first of them is due", async () => {
      await open({ slugs, settings: { fleet }, targets: { a: routed, b: routed, c: routed } });
      await world.reload({
        targets: { a: routed, b: routed, c: routed, d: { receivers: [{ name: "ops", afterMs: 0 }] } },
      });
      for (const slug of ["a", "b", "d"]) await world.run(slug, "fail");
      await world.advance(5 * minuteMs);
      await world.run("c", "fail");
      await world.advance(26 * minuteMs);

      expect(world.sent("lead").map((told) => told.toSorted())).toEqual([
        ["firing a fail", "firing b fail", "firing c fail"],
      ]);
      expect(world.notifications("lead")[0]?.fleet?.id).toBe(world.notifications("ops")[0]?.fleet?.id);
      expect(world.notifications("lead")[0]?.fleet?.spiking).toBe(4);
    });

    it("leaves out members that somebody has taken on", async () => {
      await open({ slugs, settings: { fleet } });
      for (const slug of ["a", "b", "c"]) await world.run(slug, "fail");
      await world.advance(5 * minuteMs);
      await world.acknowledge("b");
      await world.advance(26 * minuteMs);

      expect(world.sent("lead").map((told) => told.toSorted())).toEqual([["firing a fail", "firing c fail"]]);
    });

    it("escalates to nobody when all its members are acknowledged", async () => {
      await open({ slugs, settings: { fleet } });
      for (const slug of ["a", "b", "c"]) await world.run(slug, "fail");
      await world.advance(5 * minuteMs);
      for (const slug of ["a", "b", "c"]) await world.acknowledge(slug);
      await world.advance(60 * minuteMs);

      expect(world.sent("lead")).toEqual([]);
    });
  });
});
