import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { hourMs, minuteMs } from "../../src/base/time.ts";
import { createAlertingWorld, type AlertingWorld, type WorldOptions } from "../support/alerting-world.ts";
import { storeEngines, type StoreEngineCase } from "../support/store/engines.ts";

let world: AlertingWorld;
let engine: StoreEngineCase["engine"];

const chat = { name: "chat", hasThreads: true, sendActs: true } as const;

async function open(options: WorldOptions = {}): Promise<void> {
  world = await createAlertingWorld({ engine, slugs: ["a", "b"], receivers: [{ name: "ops" }, chat], ...options });
}

async function run(excess: "ongoing" | "stopped", ...slugs: readonly string[]): Promise<void> {
  for (const slug of slugs) await world.run(slug, "fail", { count: 90, excess });
  await world.advance(minuteMs);
}

/** The slugs that each notification of a stop is of. */
const stops = (receiver = "chat"): readonly (readonly string[])[] =>
  world
    .notifications(receiver)
    .map(({ alerts }) => alerts.filter(({ reason }) => reason === "excess_stopped").map(({ slug }) => slug))
    .filter((slugs) => slugs.length > 0);

describe.each(storeEngines)("on $engine,", ({ engine: name }) => {
  beforeEach(() => {
    engine = name;
  });
  afterEach(() => world.close());

  describe("the end of the excess", () => {
    it("is sent once, whatever restarts, and when it begins and stops again", async () => {
      await open();
      await run("ongoing", "a");
      await world.run("a", "fail", { count: 90, excess: "stopped" });
      world.crashAt("form");
      await world.settle();
      world.crashAt("acknowledge");
      await world.advance(minuteMs);
      await world.restart();
      await run("ongoing", "a");
      await run("stopped", "a");
      await world.advance(hourMs);

      expect(stops()).toEqual([["a"]]);
    });
  });

  describe("a comment", () => {
    const quoting = { ...chat, name: "quoting", sendComments: true } as const;
    const said = (receiver: string): readonly (readonly string[])[] =>
      world
        .notifications(receiver)
        .map(({ alerts }) =>
          alerts.flatMap(({ event, slug, act }) => (event === "commented" ? [`${slug}: ${act?.comment}`] : [])),
        )
        .filter((comments) => comments.length > 0);

    it("of an incident is one reply in the threads that want comments, and nothing elsewhere", async () => {
      await open({ receivers: [{ name: "ops", sendActs: true }, chat, quoting] });
      await run("ongoing", "a", "b");
      world.crashAt("act");
      await world.actOn(1, { kind: "comment", comment: "rolled back" });
      await world.settle();

      expect(said("quoting")).toEqual([["a: rolled back", "b: rolled back"]]);
      expect([...said("chat"), ...said("ops")]).toEqual([]);
    });
  });

  describe("what an edit shows", () => {
    /** How the incident stands now, by the receiver's first notification of it. */
    const present = async (receiver = "chat") => {
      const [first] = world.notifications(receiver);
      if (first === undefined) throw new Error("nothing was sent");
      return world.present(first);
    };

    it("is the state at the attempt: the last run, who has it, whether it is over", async () => {
      await open();
      await run("ongoing", "a");
      await world.run("a", "fail", { count: 500 });
      await world.acknowledge("a");

      expect(await present()).toMatchObject({
        status: "firing",
        generatedAtMs: world.clock.nowMs(),
        incident: { acknowledgedBy: "kim", deaths: { count: 500 } },
        alerts: [{ event: "firing", status: "firing", counts: { currentCount: 500 } }],
      });

      await world.run("a", "ok");
      const endedAtMs = world.clock.nowMs();
      expect(await present()).toMatchObject({
        status: "resolved",
        incident: { firing: 0, endedAtMs },
        alerts: [{ event: "resolved", status: "resolved", endsAtMs: endedAtMs, result: null }],
      });
    });

    it("has, for a template, all that fires of what the receiver is notified of", async () => {
      await open({ slugs: ["a", "b", "c"], receivers: [{ name: "ops" }, { name: "eu", match: { slug: "b" } }] });
      await run("ongoing", "a");
      await run("ongoing", "b", "c");
      const firing = async (receiver = "ops") => {
        const [first] = world.notifications(receiver);
        return first === undefined ? [] : (await world.firing(first)).map(({ slug }) => slug);
      };

      expect(world.notifications("ops").map(({ alerts }) => alerts.map(({ slug }) => slug))).toEqual([
        ["a"],
        ["b", "c"],
      ]);
      expect(await firing()).toEqual(["a", "b", "c"]);
      expect(await firing("eu")).toEqual(["b"]);
      await world.run("b", "ok");
      expect(await firing()).toEqual(["a", "c"]);
      await world.run("a", "ok");
      await world.run("c", "ok");
      expect(await firing()).toEqual([]);
    });

    it("is of the receiver's part, with those that have joined since", async () => {
      const receivers = [{ name: "ops", afterMs: 0 }];
      await open({ slugs: ["a", "b", "c"], targets: { c: { receivers } } });
      await run("ongoing", "a");
      for (const slug of ["b", "c"]) await world.run(slug, "fail", { count: 900 });

      const { incident, severity } = await present();
      expect(incident).toMatchObject({ organizations: 3, worst: [{ slug: "b" }, { slug: "a" }] });
      expect(severity).toBe("fail");
    });

    it("names a fleet verdict that has begun since, also after an act", async () => {
      const slugs = ["a", "b", "c"];
      await open({ slugs, settings: { fleet: { minOrganizations: 3 } } });
      for (const slug of slugs) await world.run(slug, "ok");
      await run("ongoing", "a");
      expect((await present()).fleet).toBeNull();
      await run("ongoing", "b", "c");
      await world.acknowledge("a");
      await world.settle();

      const [acknowledged] = world.notifications("chat").slice(-1);
      if (acknowledged === undefined) throw new Error("nothing was sent");
      expect(acknowledged.alerts.map(({ event }) => event)).toEqual(["acknowledged"]);
      expect((await world.present(acknowledged)).fleet).toMatchObject({ together: 3, spiking: 3 });
    });

    it("says that nobody has taken it only while that is so", async () => {
      const receivers = [
        { name: "ops", afterMs: 0 },
        { name: "chat", afterMs: 30 * minuteMs },
      ];
      await open({ targets: { a: { receivers } } });
      await run("ongoing", "a");
      await world.advance(hourMs);
      expect((await present()).alerts).toMatchObject([{ reason: "escalation" }]);
      await world.acknowledge("a");

      expect((await present()).alerts).toMatchObject([{ reason: "not_ok" }]);
    });
  });
});
