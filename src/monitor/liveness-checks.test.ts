import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createWorldOn, death, type EventWorld } from "../../test/support/event-store.ts";
import { storeEngines } from "../../test/support/store-engines.ts";
import { dayMs, hourMs, minuteMs } from "../base/time.ts";
import type { LivenessEvent } from "../store/events/events.ts";
import { createLivenessChecks, type LivenessChecks } from "./liveness-checks.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const appUrl = null;
const thresholds = { maxSilenceMs: 6 * hourMs, maxCoverageDrop: 0.5 };

let world: EventWorld;
let checks: LivenessChecks;

describe.each(storeEngines)("on $engine,", (engine) => {
  beforeEach(async () => {
    world = await createWorldOn(engine);
    checks = createLivenessChecks({
      liveness: world.store.liveness,
      firstEventAtMs: (slug) => world.store.events.firstEventAtMs(slug),
    });
  });
  afterEach(() => world[Symbol.asyncDispose]());

  const seen = (atMs: number, asset: string, status = "DETECTED_AS_DEAD"): LivenessEvent =>
    death(atMs, "acme", { asset, status });
  const sentinel = (atMs = nowMs) => checks.sentinel({ slug: "acme", nowMs: atMs, assets: ["a", "b"], appUrl });
  const flow = (atMs = nowMs) => checks.eventFlow({ slug: "acme", nowMs: atMs, thresholds, appUrl });

  describe("sentinel", () => {
    it.each([
      {
        rule: "the latest event decides",
        events: [seen(nowMs - 3, "a"), seen(nowMs - 2, "a", "DETECTED_AS_ALIVE")],
        dead: 0,
      },
      {
        rule: "a death after a life counts",
        events: [seen(nowMs - 3, "a", "DETECTED_AS_ALIVE"), seen(nowMs - 2, "a")],
        dead: 1,
      },
      {
        rule: "the last of one instant decides",
        events: [seen(nowMs, "a", "DETECTED_AS_ALIVE"), seen(nowMs, "a")],
        dead: 1,
      },
      { rule: "what comes after now does not count", events: [seen(nowMs + 1, "a")], dead: 0 },
      { rule: "a death of weeks ago counts", events: [seen(nowMs - 30 * dayMs, "b")], dead: 1 },
      {
        rule: "other assets and other organizations don't",
        events: [seen(nowMs, "c"), death(nowMs, "globex", { asset: "a" })],
        dead: 0,
      },
    ])("$rule", async ({ events, dead }) => {
      await world.store.events.add(events);

      expect((await sentinel()).observed["dead"]).toBe(dead);
    });

    it("sees what came since the last look, and within the hour what came late", async () => {
      await world.store.events.add([seen(nowMs - dayMs, "a", "DETECTED_AS_ALIVE")]);
      expect((await sentinel()).severity).toBe("ok");

      await world.store.events.add([seen(nowMs + minuteMs, "a"), seen(nowMs - dayMs, "b")]);

      expect((await sentinel(nowMs + 5 * minuteMs)).observed["dead"]).toBe(1);
      expect((await sentinel(nowMs + hourMs)).observed["dead"]).toBe(2);
      expect((await sentinel(nowMs)).observed["dead"]).toBe(1);
    });
  });

  describe("event-flow", () => {
    it("counts each asset once a day, and takes whole days after the first event for usual", async () => {
      const events = [];
      for (let day = 0; day < 4; day++)
        for (const asset of ["a", "b", "c", "a"]) events.push(seen(nowMs - day * dayMs - hourMs, asset, "TIMED_OUT"));
      await world.store.events.add(events);

      expect((await flow()).observed).toMatchObject({
        silenceSeconds: 3_600,
        checkedAssets: 3,
        usualCheckedAssets: 3,
        coverageDrop: 0,
      });
      expect((await flow(nowMs + dayMs)).findings.map(({ kind }) => kind)).toEqual([
        "event-flow.silence",
        "event-flow.coverage",
      ]);
    });

    it("refuses a silent stream, with when it was last heard", async () => {
      const ask = { slug: "acme", nowMs, maxSilenceMs: 6 * hourMs };
      await expect(checks.refuseSilence(ask)).rejects.toMatchObject({ code: "stream_silent" });

      await world.store.events.add([seen(nowMs - 6 * hourMs, "a", "OTHER")]);

      await expect(checks.refuseSilence(ask)).resolves.toBeUndefined();
      await expect(checks.refuseSilence({ ...ask, nowMs: nowMs + 1 })).rejects.toThrow(
        "since 2026-01-15T06:00:00.000Z",
      );
    });
  });
});
