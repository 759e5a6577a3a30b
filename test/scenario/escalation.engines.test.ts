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
  });
});
