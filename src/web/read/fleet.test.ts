import { expect, it } from "vitest";

import { firingAlert } from "../../../test/support/firing-alert.ts";
import { quietSettings } from "../../../test/support/quiet-settings.ts";
import { createEventWorld } from "../../../test/support/store/event-store.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { dayMs, secondMs } from "../../base/time.ts";
import { createFleetSnapshots, ofSnapshot } from "./fleet.ts";
import type { Running } from "./running.ts";

const startMs = Date.UTC(2026, 0, 15, 12);

async function startFleet() {
  const opened = await createEventWorld();
  const clock = createVirtualClock({ startMs });
  const world = { ...opened, clock, version: 0, settings: quietSettings };
  const { store } = opened;
  const fleet = createFleetSnapshots({
    store,
    clock,
    settings: () => world.settings,
    version: () => String(world.version),
  });
  return { world, store, clock, fleet };
}

it("keeps a snapshot, and what is computed from it, until something changes or the minute ends", async () => {
  const { world, clock, fleet } = await startFleet();
  await using _ = world;
  const firstOf = ofSnapshot((_running, { nowMs }) => ({ nowMs }));
  const running = {} as Running;
  await clock.advance(20 * secondMs);
  const first = await fleet();

  await clock.advance(39 * secondMs);
  expect(await fleet()).toBe(first);
  expect(firstOf(running, await fleet())).toBe(firstOf(running, first));
  await clock.advance(secondMs);
  expect(firstOf(running, await fleet())).toEqual({ nowMs: startMs + 60 * secondMs });
  const second = await fleet();
  expect(second).not.toBe(first);
  world.version++;
  const third = await fleet();
  expect(third).not.toBe(second);
  world.settings = { ...quietSettings };
  expect(await fleet()).not.toBe(third);
});

it("reads again when somebody has set the clock back", async () => {
  const { world, clock, fleet } = await startFleet();
  await using _ = world;
  const first = await fleet();

  clock.shiftWall(-dayMs);

  expect(await fleet()).not.toBe(first);
});

it("says from which instant on a silence holds, and when it has ended, without a write", async () => {
  const { world, store, clock, fleet } = await startFleet();
  await using _ = world;
  await store.alerts.save(firingAlert("one", startMs));
  await store.silences.add({
    id: "silence",
    slug: "acme",
    check: null,
    startsAtMs: startMs + 10 * secondMs,
    endsAtMs: startMs + 20 * secondMs,
    comment: "",
    createdBy: null,
    note: null,
    createdAtMs: startMs,
  });
  const isSilenced = async () => (await fleet()).alerts[0]?.isSilenced;

  expect(await isSilenced()).toBe(false);
  await clock.advance(10 * secondMs);
  expect(await isSilenced()).toBe(true);
  await clock.advance(10 * secondMs - 1);
  expect(await isSilenced()).toBe(true);
  await clock.advance(1);
  expect(await isSilenced()).toBe(false);
});

it("asks for a judgement until a week after the end, to the instant", async () => {
  const { world, store, clock, fleet } = await startFleet();
  await using _ = world;
  const end = { atMs: startMs + 5 * secondMs - 7 * dayMs, isByRun: true };
  const failure = { atMs: end.atMs, releasedAtMs: null };
  world.settings = { ...quietSettings, gateOf: () => ({ releaseOn: ["resolved"], whenUnknown: "allow" }) };
  const ended = firingAlert("one", end.atMs, { incident: { id: "first", number: 1 }, failure });
  await store.alerts.save({ ...ended, end });
  const left = async () => [...(await fleet()).unfinished.incidents];

  expect(await left()).toEqual([1]);
  await clock.advance(5 * secondMs);
  expect(await left()).toEqual([]);
});

it("reads again after a failure", async () => {
  const { world, store, clock } = await startFleet();
  await using _ = world;
  let hasFailed = false;
  const failing = {
    ...store,
    alerts: {
      ...store.alerts,
      allLive: () => {
        const answer = hasFailed ? store.alerts.allLive() : Promise.reject(new Error("away"));
        hasFailed = true;
        return answer;
      },
    },
  };
  const fleet = createFleetSnapshots({ store: failing, clock, settings: () => quietSettings, version: () => "1" });

  await expect(fleet()).rejects.toThrow("away");
  expect((await fleet()).alerts).toEqual([]);
});
