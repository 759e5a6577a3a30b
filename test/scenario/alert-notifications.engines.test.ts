import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { retryEntry } from "../../src/alerting/deliver/outbox-acts.ts";
import type { DeliveryBudget, DeliveryOutcome } from "../../src/alerting/deliver/receiver.ts";
import { actor } from "../../src/contract/actor.ts";
import { hourMs, minuteMs } from "../../src/base/time.ts";
import { storeEngines, type StoreEngineCase } from "../support/store/engines.ts";
import { createAlertingWorld, type AlertingWorld, type WorldOptions } from "../support/alerting-world.ts";

let world: AlertingWorld;
let engine: StoreEngineCase["engine"];

async function open(options: WorldOptions = {}): Promise<void> {
  world = await createAlertingWorld({ engine, ...options });
}

describe.each(storeEngines)("on $engine,", ({ engine: name }) => {
  beforeEach(() => {
    engine = name;
  });
  afterEach(() => world.close());

  describe("a group beyond its receiver's budget", () => {
    const slugs = Array.from({ length: 20 }, (_, index) => `org-${String(index).padStart(2, "0")}`);
    const budget: DeliveryBudget = {
      maxBytes: 6_000,
      bytesOf: ({ alerts }) => Buffer.byteLength(JSON.stringify(alerts)),
    };

    async function runAll(severity: "fail" | "ok"): Promise<void> {
      for (const slug of slugs) await world.run(slug, severity);
      await world.advance(minuteMs);
    }

    it("is split into notifications with ids of their own, each within it, in the order of the group", async () => {
      await open({ slugs, receivers: [{ name: "ops", budget }, { name: "chat" }] });
      await runAll("fail");

      const parts = world.notifications("ops");
      expect(parts.length).toBeGreaterThan(2);
      expect(new Set(parts.map(({ id }) => id)).size).toBe(parts.length);
      for (const part of parts) expect(budget.bytesOf(part)).toBeLessThanOrEqual(budget.maxBytes);
      expect(world.sent("ops").flat()).toEqual(slugs.map((slug) => `firing ${slug} fail`));
      expect(world.sent("chat")).toEqual([world.sent("ops").flat()]);
    });

    it("keeps the ids of its parts over a crash and a receiver that is down, and no resolved overtakes its firing", async () => {
      await open({ slugs, receivers: [{ name: "ops", budget }] });
      const ops = world.receivers.get("ops");
      if (ops === undefined) throw new Error("no receiver");
      let isDown = true;
      ops.answer = ({ alerts }) =>
        isDown && alerts.some(({ slug }) => slug === "org-00")
          ? { kind: "retry", error: "HTTP 503", retryAfterMs: null }
          : { kind: "accepted", detail: "" };
      world.crashAt("acknowledge");
      await runAll("fail");
      await runAll("ok");
      isDown = false;
      await world.advance(10 * minuteMs);

      const sent = world.sent("ops").flat();
      expect(sent.toSorted()).toEqual(
        slugs.flatMap((slug) => [`firing ${slug} fail`, `resolved ${slug} fail`]).toSorted(),
      );
      for (const slug of slugs)
        expect(sent.indexOf(`firing ${slug} fail`)).toBeLessThan(sent.indexOf(`resolved ${slug} fail`));
      // The same parts again, not others.
      expect(new Set(ops.attempts.map(({ id }) => id)).size).toBe(world.notifications("ops").length);
    });
  });

  describe("a notification of one alert", () => {
    it("carries the result, and of unknown the error", async () => {
      await open({ policy: { unknownAfter: 1 } });
      await world.run("acme", "fail", { count: 5_119 });
      await world.advance(minuteMs);
      await world.run("acme", "unknown");
      await world.advance(minuteMs);
      await world.run("acme", "fail");
      await world.advance(minuteMs);

      const [fired, unknown, recovered] = world.notifications().flatMap(({ alerts }) => alerts);

      expect(fired).toMatchObject({
        event: "firing",
        result: { severity: "fail" },
        error: null,
        counts: { currentCount: 5_119 },
      });
      expect(unknown).toMatchObject({
        event: "unknown",
        severity: "unknown",
        result: null,
        error: { reason: "timeout" },
      });
      expect(recovered).toMatchObject({
        event: "recovered",
        status: "resolved",
        severity: "unknown",
        reason: "result_returned",
      });
    });
  });

  describe("what a receiver refuses for good", () => {
    const refuse = (receiver = "ops"): void => {
      const fake = world.receivers.get(receiver);
      if (fake !== undefined) fake.answer = (): DeliveryOutcome => ({ kind: "rejected", error: "HTTP 410" });
    };
    const accept = (receiver = "ops"): void => {
      const fake = world.receivers.get(receiver);
      if (fake !== undefined) fake.answer = (): DeliveryOutcome => ({ kind: "accepted", detail: "" });
    };
    const reasons = (): string[] =>
      world
        .notifications()
        .flatMap(({ alerts }) => alerts.map(({ event, slug, reason }) => `${event} ${slug} ${reason}`));

    it("is due again for the recipient alone that it was given up for", async () => {
      await open({ policy: { repeatIntervalMs: 0 }, receivers: [{ name: "ops", recipients: ["kim", "lee"] }] });
      const told: string[] = [];
      const ops = world.receivers.get("ops");
      let isRefused = true;
      if (ops !== undefined)
        ops.answer = ({ alerts, recipient }): DeliveryOutcome => {
          if (isRefused && recipient === "kim") return { kind: "rejected", error: "550" };
          told.push(...alerts.map(({ event, reason }) => `${recipient} ${event} ${reason}`));
          return { kind: "accepted", detail: "" };
        };
      await world.run("acme", "warn");
      await world.advance(minuteMs);
      isRefused = false;
      await world.advance(10 * minuteMs);
      await world.run("acme", "ok");
      await world.advance(minuteMs);

      expect(told).toEqual([
        "lee firing not_ok",
        "kim firing not_delivered",
        "kim resolved back_to_ok",
        "lee resolved back_to_ok",
      ]);
    });

    it("leaves out the end that was queued behind it", async () => {
      await open();
      const ops = world.receivers.get("ops");
      if (ops !== undefined) ops.answer = (): DeliveryOutcome => ({ kind: "retry", error: "503", retryAfterMs: null });
      await world.run("acme", "warn");
      await world.advance(minuteMs);
      await world.run("acme", "ok");
      await world.advance(minuteMs);
      refuse();
      await world.advance(10 * minuteMs);
      accept();
      await world.advance(hourMs);

      expect(world.sent()).toEqual([]);
      expect(await world.store.outbox.list()).toMatchObject([{ state: "dead" }]);
    });

    it("is told once where somebody retries it", async () => {
      await open({ policy: { repeatIntervalMs: hourMs } });
      refuse();
      await world.run("acme", "warn");
      await world.advance(minuteMs);
      accept();
      const [dead] = await world.store.outbox.list();
      const author = actor("kim", "token");
      await retryEntry(world.store, { id: dead?.id ?? "", author, nowMs: world.clock.nowMs() });
      await world.advance(50 * minuteMs);
      expect(reasons()).toEqual(["firing acme not_ok"]);
      await world.advance(20 * minuteMs);

      expect(reasons()).toEqual(["firing acme not_ok", "reminder acme repeat_interval"]);
    });
  });

  describe("routing", () => {
    it("goes by match on slug, check and labels, and by the organization's receivers", async () => {
      await open({
        slugs: ["acme", "globex"],
        receivers: [
          { name: "ops" },
          { name: "acme-only", match: { slug: "ac*" } },
          { name: "queue", match: { check: "review-queue" } },
          { name: "trust", match: { labels: { team: "trust" } } },
        ],
        targets: {
          globex: {
            labels: { team: "trust" },
            receivers: [
              { name: "trust", afterMs: 0 },
              { name: "queue", afterMs: 0 },
            ],
          },
        },
      });
      await world.run("acme", "warn");
      await world.run("globex", "fail");
      await world.run("globex", "warn", { check: "review-queue" });
      await world.advance(minuteMs);

      expect(world.sent("ops")).toEqual([["firing acme warn"]]);
      expect(world.sent("acme-only")).toEqual([["firing acme warn"]]);
      expect(world.sent("queue")).toEqual([["firing globex warn"]]);
      // Two incidents: neither waits for the other.
      expect(world.sent("trust").flat().toSorted()).toEqual(["firing globex fail", "firing globex warn"]);
    });
  });

  describe("silences", () => {
    it("of the configuration recur, and are seen to end without anything else happening", async () => {
      await open({
        settings: {
          silences: [
            {
              kind: "recurring",
              slug: "ac*",
              comment: "weekly",
              schedule: "0 9 * * 1",
              durationMs: hourMs,
              timezone: "UTC",
            },
          ],
        },
      });
      await world.advance(hourMs);
      await world.run("acme", "fail");
      await world.advance(59 * minuteMs);
      expect(world.sent()).toEqual([]);
      await world.advance(2 * minuteMs);

      expect(world.sent()).toEqual([["firing acme fail"]]);
    });
  });

  describe("an acknowledgement", () => {
    it("lets what a receiver forgets be sent again, with who has it", async () => {
      await open({ receivers: [{ name: "am", resendIntervalMs: minuteMs }] });
      await world.run("acme", "fail");
      await world.advance(minuteMs);
      await world.acknowledge("acme");
      await world.advance(2 * minuteMs);

      // It is formed and sent beside what this world waits for.
      const last = async () => {
        await world.settle();
        return world.notifications("am").at(-1)?.alerts;
      };
      await expect.poll(last).toMatchObject([{ event: "reminder", reason: "resend", acknowledgedBy: "kim" }]);
    });
  });

  describe("a reload", () => {
    it.each([
      ["an hour: it is told what ended meanwhile", hourMs, ["firing acme fail", "resolved acme fail"]],
      ["two days: it knows nothing", 48 * hourMs, ["firing acme fail"]],
    ])("takes a receiver out and puts it back after %s", async (_rule, ms, expected) => {
      await open({ receivers: [{ name: "ops" }, { name: "other" }] });
      await world.run("acme", "fail");
      await world.advance(minuteMs);
      await world.reload({ receivers: [{ name: "other" }] });
      await world.run("acme", "ok");
      await world.advance(ms);
      await world.reload({ receivers: [{ name: "ops" }, { name: "other" }] });
      await world.advance(minuteMs);

      expect(world.sent().flat()).toEqual(expected);
      expect(await world.store.queued.all()).toEqual({ alerts: [], incidents: [] });
    });
  });
});
