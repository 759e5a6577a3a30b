import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { hourMs, minuteMs } from "../../src/base/time.ts";
import { createAlertingWorld, type AlertingWorld, type WorldOptions } from "../support/alerting-world.ts";
import { storeEngines, type StoreEngineCase } from "../support/store/engines.ts";

let world: AlertingWorld;
let engine: StoreEngineCase["engine"];

const slugs = ["a", "b", "c", "d"];

async function open(options: WorldOptions = {}): Promise<void> {
  world = await createAlertingWorld({ engine, slugs, ...options });
}

/** The incident number of each organization that fires. */
async function numbers(): Promise<Record<string, number | undefined>> {
  const live = await world.store.alerts.allLive();
  return Object.fromEntries(live.map(({ slug, kind, incident }) => [`${slug} ${kind}`, incident?.number]));
}

describe.each(storeEngines)("on $engine,", ({ engine: name }) => {
  beforeEach(() => {
    engine = name;
  });
  afterEach(() => world.close());

  describe("an alert that fires", () => {
    it("joins what began within 30 minutes of the first one, and opens another incident after that", async () => {
      await open();
      await world.run("a", "fail");
      await world.advance(29 * minuteMs);
      await world.run("b", "warn");
      await world.advance(minuteMs);
      await world.run("c", "warn");
      await world.advance(1);
      await world.run("d", "fail");

      expect(await numbers()).toEqual({ "a verdict": 1, "b verdict": 1, "c verdict": 1, "d verdict": 2 });
    });

    it("joins later ones of the same carrier, whichever of the open incidents it is of", async () => {
      await open();
      await world.run("a", "fail", { carrier: "reason=captcha_page" });
      await world.advance(hourMs);
      await world.run("b", "fail", { carrier: "registrar=x" });
      await world.advance(hourMs);
      await world.run("c", "fail", { carrier: "reason=captcha_page" });
      await world.run("d", "fail");

      expect(await numbers()).toEqual({ "a verdict": 1, "b verdict": 2, "c verdict": 1, "d verdict": 3 });
    });

    it("is never mixed with another family", async () => {
      await open({ policy: { unknownAfter: 1 } });
      await world.run("a", "fail");
      await world.run("b", "unknown");
      await world.run("c", "fail", { check: "review-queue" });
      await world.run("d", "fail", { check: "event-flow" });
      const families = (await world.store.incidents.open()).map(({ family }) => family);

      expect(families).toEqual(["no-events", "review-queue", "unreachable", "deaths"]);
      expect(await numbers()).toEqual({ "a verdict": 1, "b unknown": 2, "c verdict": 3, "d verdict": 4 });
    });

    it("keeps its incident over a crash, and ends in it", async () => {
      await open();
      world.crashAt("record");
      await world.run("a", "fail");
      await world.restart();
      await world.run("b", "fail");
      await world.run("a", "ok");
      await world.run("b", "ok");

      const incidents = await world.store.incidents.list({ state: "all", limit: 9 });
      expect(incidents).toHaveLength(1);
      // What was rolled back has taken its number along on PostgreSQL.
      const { number } = incidents[0] ?? { number: 0 };
      expect((await world.store.incidents.members([number])).get(number)).toMatchObject([{ slug: "a" }, { slug: "b" }]);
    });
  });

  it("ends with the organizations that a reload removes", async () => {
    await open();
    await world.run("a", "fail");
    await world.run("b", "fail");
    await world.reload({ slugs: ["b", "c"] });
    expect(await world.store.incidents.open()).toHaveLength(1);
    await world.reload({ slugs: ["c"] });

    expect(await world.store.incidents.open()).toEqual([]);
  });

  it("is pruned with its last alert, and its comments and messages with it", async () => {
    await open();
    await world.run("a", "fail");
    await world.actOn(1, { kind: "comment", comment: "looking" });
    await world.store.incidents.saveMessage("ops", 1, { channel: "C1", message: "1.1" });
    await world.store.incidents.saveMessage("ops", 1, { channel: "C1", message: "1.2" });
    expect(await world.store.incidents.messageOf("ops", 1)).toEqual({ channel: "C1", message: "1.2" });
    expect(await world.store.incidents.messageOf("lead", 1)).toBeNull();
    await world.run("a", "ok");
    await world.advance(minuteMs);
    const nowMs = world.clock.nowMs();
    await world.store.incidents.tidy(nowMs);
    expect(await world.store.incidents.find(1)).not.toBeNull();
    await world.store.alerts.pruneEnded({ beforeMs: nowMs, checkersBeforeMs: nowMs, holding: [], maxRows: 9 });
    await world.store.incidents.tidy(nowMs);

    expect(await world.store.incidents.find(1)).toBeNull();
    expect(await world.store.log.commentsOfIncident(1)).toEqual([]);
    expect(await world.store.incidents.messageOf("ops", 1)).toBeNull();
  });

  describe("an acknowledgement of an incident", () => {
    const acknowledge = { kind: "acknowledge", comment: null } as const;
    const acknowledged = async (): Promise<string[]> =>
      (await world.store.alerts.allLive()).flatMap(({ slug, acknowledgement }) =>
        acknowledgement === null ? [] : [slug],
      );

    it("holds back no severity: who gets as bad as the incident was is told at once, for that reason", async () => {
      await open();
      await world.run("a", "warn");
      await world.run("b", "fail");
      await world.advance(minuteMs);
      await world.actOn(1, acknowledge);
      await world.run("a", "fail");
      await world.advance(minuteMs);
      await world.actOn(1, { kind: "unacknowledge" });
      await world.advance(minuteMs);

      expect(world.sent()).toEqual([["firing a warn", "firing b fail"], ["escalated a fail"]]);
      expect(world.notifications().at(-1)?.alerts[0]?.reason).toBe("severity_rose");
    });

    it("of some ends when the incident gets worse than it was then", async () => {
      await open();
      for (const slug of ["a", "b"]) await world.run(slug, "warn");
      await world.actOn(1, acknowledge, { slugs: ["a"] });
      await world.run("b", "fail");

      expect(await acknowledged()).toEqual([]);
      expect(await world.store.incidents.find(1)).toMatchObject({ outlived: 1 });
    });

    it("leaves its members as other runs of the commit that ends it made them", async () => {
      await open();
      await world.run("a", "warn", { count: 20 });
      await world.actOn(1, acknowledge);
      await Promise.all([
        world.run("b", "warn"),
        world.run("a", "warn", { count: 90 }),
        // Worse than what was acknowledged.
        world.run("c", "fail"),
      ]);

      expect(await acknowledged()).toEqual([]);
      const [alert] = await world.store.alerts.liveOf([{ check: "dead-asset-spike", slug: "a" }]);
      expect(alert?.peak.currentCount).toBe(90);
    });

    it("stops no reminder of a member of which it was taken back", async () => {
      const slugs = ["a", "b", "c", "d"];
      await open({ slugs, settings: { fleet: { minOrganizations: 3 } }, policy: { repeatIntervalMs: hourMs } });
      for (const slug of slugs) await world.run(slug, "ok");
      for (const slug of ["a", "b", "c"]) await world.run(slug, "fail");
      await world.advance(minuteMs);
      await world.actOn(1, acknowledge);
      await world.actOn(1, { kind: "unacknowledge" }, { slugs: ["b"] });
      await world.run("d", "fail");
      await world.advance(hourMs + minuteMs);

      expect(world.sent()).toEqual([["firing a fail", "firing b fail", "firing c fail"], ["reminder b fail"]]);
      expect((await world.store.incidents.find(1))?.verdict).toMatchObject({ together: 3 });
    });
  });

  it("is acknowledged at a receiver that calls people, whenever all that fires of its part is acknowledged", async () => {
    const acknowledge = { kind: "acknowledge", comment: null } as const;
    const pager = { name: "pager", takesAcknowledgements: true } as const;
    await open({ receivers: [{ name: "ops" }, pager] });
    for (const slug of ["a", "b"]) await world.run(slug, "warn");
    await world.actOn(1, acknowledge, { slugs: ["a"] });
    await world.advance(minuteMs);
    await world.actOn(1, acknowledge);
    await world.advance(minuteMs);
    await world.restart();
    await world.actOn(1, { kind: "unacknowledge" });
    await world.advance(minuteMs);
    await world.actOn(1, acknowledge);
    await world.advance(minuteMs);
    await world.run("b", "fail");
    await world.advance(minuteMs);
    await world.actOn(1, acknowledge);
    await world.advance(minuteMs);

    const said = world
      .notifications("pager")
      .map(({ alerts, incident }) => `${alerts[0]?.event} ${incident?.outlived}`);
    expect(said.filter((one) => one.startsWith("acknowledged"))).toEqual([
      "acknowledged 0",
      "acknowledged 0",
      "acknowledged 1",
    ]);
    expect(said.slice(-2)).toEqual(["escalated 1", "acknowledged 1"]);
    expect(world.sent("ops").flat()).not.toContain(expect.stringContaining("acknowledged"));
  });

  describe("an act on an incident", () => {
    it("silences nothing anew that is asked for again for as long, and later what is to end later", async () => {
      await open();
      await world.run("a", "fail");
      const forAnHour = () =>
        world.actOn(1, { kind: "silence", endsAtMs: world.clock.nowMs() + hourMs, comment: "known" });
      await forAnHour();
      await world.advance(20_000);

      expect(await forAnHour()).toMatchObject({ done: [], skipped: [{ slug: "a", reason: "already" }] });
      expect(await world.store.silences.endingAfter(world.clock.nowMs())).toHaveLength(1);
      await world.advance(10 * minuteMs);
      expect(await forAnHour()).toMatchObject({ done: [{ slug: "a" }], skipped: [] });
    });

    it("is refused where it can apply to nothing", async () => {
      await open({ policy: { unknownAfter: 1 } });
      await world.run("a", "unknown");
      await expect(world.actOn(1, { kind: "judge", verdict: "real", comment: null })).rejects.toMatchObject({
        code: "invalid_data",
      });
      await expect(world.actOn(1, { kind: "release", comment: "x" })).rejects.toMatchObject({ code: "invalid_data" });
      const endsAtMs = world.clock.nowMs() + 31 * 24 * hourMs;
      await expect(world.actOn(1, { kind: "silence", endsAtMs, comment: "x" })).rejects.toMatchObject({
        code: "invalid_data",
      });
      await world.run("a", "ok");
      await expect(world.actOn(1, { kind: "acknowledge", comment: null })).rejects.toMatchObject({ code: "conflict" });
    });
  });
});
