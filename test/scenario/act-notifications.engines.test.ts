import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { GatePolicy } from "../../src/alerting/decide/gate.ts";
import { hourMs, minuteMs } from "../../src/base/time.ts";
import { createAlertingWorld, type AlertingWorld, type WorldOptions } from "../support/alerting-world.ts";
import { storeEngines, type StoreEngineCase } from "../support/store/engines.ts";
import { summaryOf } from "../../src/words/alert.ts";

let world: AlertingWorld;
let engine: StoreEngineCase["engine"];

const platform = { name: "platform", sendActs: true };

async function open(options: WorldOptions = {}): Promise<void> {
  world = await createAlertingWorld({ engine, receivers: [{ name: "ops" }, platform], ...options });
}

async function fire(slug = "acme", severity: "warn" | "fail" = "fail"): Promise<void> {
  await world.run(slug, severity, { count: 5_119 });
  await world.advance(minuteMs);
}

const acts = (receiver = "platform"): readonly string[][] =>
  world
    .notifications(receiver)
    .map(({ alerts }) => alerts.filter(({ act }) => act !== undefined).map(({ event, reason }) => `${event} ${reason}`))
    .filter((entries) => entries.length > 0);

const events = (receiver = "platform"): readonly string[] =>
  world.notifications(receiver).flatMap(({ alerts }) => alerts.map(({ event }) => event));

async function alertId(): Promise<string> {
  const [alert] = await world.store.alerts.allLive();
  if (alert === undefined) throw new Error("nothing fires");
  return alert.id;
}

type Ways = GatePolicy["releaseOn"];

const gateBy =
  (...releaseOn: Ways) =>
  (): GatePolicy => ({ releaseOn, whenUnknown: "allow" });

const releaseOn = (...ways: Ways): WorldOptions => ({ settings: { gateOf: gateBy(...ways) } });

describe.each(storeEngines)("on $engine,", ({ engine: name }) => {
  beforeEach(() => {
    engine = name;
  });
  afterEach(() => world.close());

  describe("a receiver with sendActs", () => {
    it("is notified of a judgement at once, of the alert as it is, and others are not", async () => {
      await open({ settings: { externalUrl: "https://flatline.example.com/", hasAssets: true } });
      await fire();
      const id = await alertId();
      await world.judge("acme", "checker", "captcha page");
      await world.settle();

      const [judged] = world.notifications("platform").slice(1);
      expect(judged).toMatchObject({ status: "firing", severity: "fail" });
      expect(judged && summaryOf(judged)).toBe("acme: judged checker by kim");
      expect(judged?.alerts).toMatchObject([
        {
          id,
          event: "judged",
          reason: "judged_checker",
          status: "firing",
          endsAtMs: null,
          judgement: { verdict: "checker", by: "kim", comment: "captcha page" },
          act: { by: "kim", comment: "captcha page" },
          assetsUrl: `https://flatline.example.com/api/v1/alerts/${id}/assets`,
          restoreUrl: "https://flatline.example.com/api/v1/incidents/1/assets?toRestore=true",
          result: { severity: "fail" },
        },
      ]);
      expect(events("ops")).toEqual(["firing"]);
    });

    it("gets a release by hand with every alert that held the gate, and none where nothing was held", async () => {
      await open();
      await fire();
      await world.run("acme", "fail", { check: "sentinel" });
      await world.advance(2 * minuteMs);
      await world.release("acme", "looked at ten");
      await world.release("acme", "again");
      await world.settle();

      expect(acts()).toEqual([["released released_by_hand", "released released_by_hand"]]);
      const [opened] = world.notifications("platform").slice(-1);
      expect(opened && summaryOf(opened)).toBe("acme: takedowns allowed, released by hand by kim");
      expect(opened?.alerts.map(({ check, act }) => [check, act?.comment])).toEqual([
        ["dead-asset-spike", "looked at ten"],
        ["sentinel", "looked at ten"],
      ]);
    });

    it("gets one notification of an act on an incident, whatever number of alerts it is of", async () => {
      await open({ slugs: ["acme", "globex", "initech"] });
      for (const slug of ["acme", "globex", "initech"]) await world.run(slug, "fail");
      await world.advance(minuteMs);
      await world.actOn(1, { kind: "acknowledge", comment: "on it" });
      await world.settle();
      await world.actOn(1, { kind: "unacknowledge" });
      await world.settle();

      expect(acts()).toEqual([
        Array.from({ length: 3 }, () => "acknowledged acknowledged"),
        Array.from({ length: 3 }, () => "unacknowledged unacknowledged"),
      ]);
      const [last] = world.notifications("platform").slice(-1);
      expect(last?.incident).toMatchObject({ number: 1, acknowledgedBy: null });
      expect(last && summaryOf(last)).toBe("3 organizations: unacknowledged by kim");
    });

    it.each([
      ["resolved", null],
      ["judged", "checker"],
    ] as const)("gets the gate that opens with the end of an alert in its resolved (%s)", async (way, verdict) => {
      await open(releaseOn(way));
      await fire();
      if (verdict !== null) await world.judge("acme", verdict);
      await world.settle();
      await world.run("acme", "ok");
      await world.advance(minuteMs);

      expect(events()).toEqual(["firing", ...(verdict === null ? [] : ["judged"]), "resolved"]);
      const [end] = world.notifications("platform").slice(-1);
      expect(end).toMatchObject({ incident: { opened: 1 }, alerts: [{ status: "resolved", gateOpened: true }] });
    });

    it("gets an act on a member that has ended under a verdict at once, as the part stands", async () => {
      const slugs = ["acme", "globex", "initech"];
      await open({ slugs, settings: { fleet: { minOrganizations: 3 } } });
      for (const slug of slugs) await world.run(slug, "ok");
      for (const slug of slugs) await world.run(slug, "fail");
      await world.advance(minuteMs);
      const [ended] = (await world.store.alerts.allLive()).filter(({ slug }) => slug === "acme");
      await world.run("acme", "ok");
      await world.advance(minuteMs);
      await world.judge(ended?.id ?? "", "real");
      await world.settle();

      expect(acts()).toEqual([["judged judged_real", "released released_by_judgement"]]);
      const told = world.notifications("platform").at(-1);
      expect(told).toMatchObject({ status: "firing", severity: "fail" });
      expect(told?.alerts).toMatchObject([{ status: "resolved" }, { status: "resolved" }]);
      for (const slug of slugs) await world.run(slug, "ok");
      await world.advance(minuteMs);

      expect(world.notifications("platform").at(-1)).toMatchObject({ status: "resolved", fleet: {} });
      expect(world.notifications("platform").at(-1)?.alerts).toHaveLength(3);
    });
  });

  describe("an act goes to no receiver", () => {
    it.each<[string, WorldOptions]>([
      ["that the organization does not name", { targets: { acme: { receivers: [{ name: "ops", afterMs: 0 }] } } }],
      ["whose match leaves the alert out", { receivers: [{ ...platform, match: { slug: "globex" } }] }],
      ["whose minSeverity the alert never reached", { receivers: [{ ...platform, minSeverity: "fail" }] }],
      [
        "that the alert has not escalated to",
        { targets: { acme: { receivers: [{ name: "platform", afterMs: 2 * hourMs }] } } },
      ],
    ])("%s", async (_rule, options) => {
      await open(options);
      await fire("acme", "warn");
      await world.judge("acme", "checker");
      await world.advance(hourMs);

      expect(acts()).toEqual([]);
      expect(await world.store.actNotices.all()).toEqual([]);
    });
  });
});
