import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createScriptedSource } from "../../test/support/far-side/scripted-source.ts";
import { createWorldOn, death, type EventWorld } from "../../test/support/store/event-store.ts";
import { countingEngines } from "../../test/support/store/engines.ts";
import { dayMs, hourMs, minuteMs } from "../base/time.ts";
import type { HealthcheckResult } from "../contract/healthcheck.ts";
import type { LivenessEvent } from "../store/events/rules.ts";
import { checkKind, type CheckTarget } from "./checks.ts";
import { refuseSilence } from "./dead-asset-spike/dead-asset-spike.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const limits = { maxSilenceMs: 6 * hourMs, maxCoverageDrop: 0.5 };

let world: EventWorld;

describe.each(countingEngines)("on $engine,", (engine) => {
  beforeEach(async () => {
    world = await createWorldOn(engine);
  });
  afterEach(() => world[Symbol.asyncDispose]());

  const seen = (atMs: number, asset: string, status = "DETECTED_AS_DEAD"): LivenessEvent =>
    death(atMs, "acme", { assetType: "URL", asset, status });
  const of = (assetType: string, event: LivenessEvent): LivenessEvent => ({ ...event, assetType });
  const run = async (target: CheckTarget, atMs = nowMs): Promise<HealthcheckResult> => {
    const api = () => createScriptedSource({}).forOrganization("acme");
    const signal = new AbortController().signal;
    return (await checkKind(target.check).run(target, { nowMs: atMs, signal, api, events: world.store, appUrl: null }))
      .result;
  };
  const schedule = "@yearly";
  const acme = { slug: "acme", schedule: { pattern: schedule, timezone: "UTC", jitterMs: 0 } };
  const sentinel = (atMs = nowMs) =>
    run({ ...acme, check: "sentinel", settings: { assets: ["a", "b"], schedule } }, atMs);
  const flow = (atMs = nowMs) =>
    run({ ...acme, check: "event-flow", settings: { enabled: true, schedule, ...limits } }, atMs);

  describe("sentinel", () => {
    it.each([
      ["the latest event decides", [seen(nowMs - 3, "a"), seen(nowMs - 2, "a", "DETECTED_AS_ALIVE")], 0],
      ["a death after a life counts", [seen(nowMs - 3, "a", "DETECTED_AS_ALIVE"), seen(nowMs - 2, "a")], 1],
      ["the last of one instant decides", [seen(nowMs, "a", "DETECTED_AS_ALIVE"), seen(nowMs, "a")], 1],
      [
        "a page that lives is not the URL of its name that died, weeks before",
        [
          of("URL", seen(nowMs - 30 * dayMs, "a")),
          of("PAGE", seen(nowMs - 1, "a", "DETECTED_AS_ALIVE")),
          of("URL", seen(nowMs - 1, "b", "DETECTED_AS_ALIVE")),
        ],
        1,
      ],
      ["what comes after now does not count", [seen(nowMs + 1, "a")], 0],
      ["a death of weeks ago counts", [seen(nowMs - 30 * dayMs, "b")], 1],
      ["other assets and other organizations don't", [seen(nowMs, "c"), death(nowMs, "globex", { asset: "a" })], 0],
    ])("%s", async (_rule, events, dead) => {
      await world.store.events.add(events);

      expect((await sentinel()).observed["dead"]).toBe(dead);
    });

    it("sees at once what came since the last look, late or not", async () => {
      await world.store.events.add([seen(nowMs - dayMs, "a", "DETECTED_AS_ALIVE")]);
      expect((await sentinel()).severity).toBe("ok");

      await world.store.events.add([seen(nowMs + minuteMs, "a"), seen(nowMs - dayMs, "b")]);

      expect((await sentinel(nowMs)).observed["dead"]).toBe(1);
      expect((await sentinel(nowMs + 5 * minuteMs)).observed["dead"]).toBe(2);
      await world.store.events.add([seen(nowMs - 89 * dayMs, "b", "DETECTED_AS_ALIVE")]);
      expect((await sentinel(nowMs + 5 * minuteMs)).observed["dead"]).toBe(2);
    });
  });

  describe("regret", () => {
    it("reads every page of the deaths and looks, those that came late too", async () => {
      const limits = {
        warnAbove: 0.45,
        failAbove: 0.65,
        minDeaths: 20,
        windowMs: dayMs,
        maturityMs: 2 * dayMs,
      };
      const regret = () => run({ ...acme, check: "regret", settings: limits });
      const assets = Array.from({ length: 3_000 }, (_, index) => String(index));
      const at = (days: number): number => nowMs - days * dayMs;
      await world.store.events.add([
        seen(at(20), "first", "DETECTED_AS_ALIVE"),
        death(at(2.5), "acme", { asset: null }),
        death(at(2.5), "globex", { asset: "other" }),
        ...assets.map((asset, index) => seen(at(2.1 + (index % 2) * 5), asset)),
      ]);
      expect((await regret()).observed).toMatchObject({ deaths: 1_500, revived: 0, longDeaths: 3_000, longShare: 0 });

      await world.store.events.add(assets.slice(0, 2_000).map((asset) => seen(at(1), asset, "DETECTED_AS_ALIVE")));

      // Another asset type with the same name is another asset.
      const pages = assets.slice(2_000).map((asset) => of("PAGE", seen(at(1), asset, "DETECTED_AS_ALIVE")));
      await world.store.events.add(pages);

      expect(await regret()).toMatchObject({
        severity: "fail",
        observed: { deaths: 1_500, revived: 1_000, longDeaths: 3_000, longRevived: 2_000, maturitySeconds: 172_800 },
      });
    });
  });

  describe("event-flow", () => {
    it("counts each asset once a day, its types apart, and takes whole days after the first for usual", async () => {
      const events = [];
      for (let day = 0; day < 4; day++)
        for (const asset of ["a", "b", "a"]) events.push(seen(nowMs - day * dayMs - hourMs, asset, "TIMED_OUT"));
      for (let day = 0; day < 4; day++) events.push(of("PAGE", seen(nowMs - day * dayMs - hourMs, "a", "TIMED_OUT")));
      await world.store.events.add(events);

      expect((await flow()).observed).toMatchObject({
        silenceSeconds: 3_600,
        checkedAssets: 3,
        usualCheckedAssets: 3,
        coverageDrop: 0,
      });
      expect((await flow(nowMs + dayMs)).findings.map(({ kind }) => kind)).toEqual(["event-flow.silence"]);
    });

    it("sees at once what came late of the days that are usual", async () => {
      expect((await flow()).observed).toMatchObject({ usualCheckedAssets: null });

      const late = Array.from({ length: 3 }, (_, day) => seen(nowMs - (day + 1) * dayMs - hourMs, `late-${day}`));
      await world.store.events.add([...late, seen(nowMs - 8 * dayMs, "first")]);

      expect((await flow(nowMs)).observed).toMatchObject({ usualCheckedAssets: 0 });
    });

    it("refuses a silent stream, with when it was last heard", async () => {
      const ask = { slug: "acme", nowMs, maxSilenceMs: 6 * hourMs };
      await expect(refuseSilence(ask, world.store)).rejects.toMatchObject({ code: "stream_silent" });

      await world.store.events.add([seen(nowMs - 6 * hourMs, "a", "OTHER")]);

      await expect(refuseSilence(ask, world.store)).resolves.toBeUndefined();
      await expect(refuseSilence({ ...ask, nowMs: nowMs + 1 }, world.store)).rejects.toThrow(
        "since 2026-01-15T06:00:00.000Z",
      );
    });
  });
});
