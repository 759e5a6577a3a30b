import { describe, expect, it } from "vitest";

import { createEventWorld, death } from "../../../test/support/store/event-store.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { createSilentLogger } from "../../base/logger.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../../base/time.ts";
import type { AlertEnd } from "../../store/alerts/alerts.ts";
import type { LivenessEvent } from "../../store/events/events.ts";
import { createEndedAlerts } from "./ended-alerts.ts";
import { createRegretBook } from "./regret-book.ts";
import { firingAlert } from "../../../test/support/firing-alert.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const logger = createSilentLogger();
const dead = (atMs: number, asset: string, slug = "acme"): LivenessEvent => death(atMs, slug, { asset });
const alive = (atMs: number, asset: string, slug = "acme"): LivenessEvent =>
  death(atMs, slug, { asset, status: "DETECTED_AS_ALIVE" });

describe("the share of false deaths", () => {
  it("is reported for each organization, at once and again each hour", async () => {
    await using world = await createEventWorld();
    const clock = createVirtualClock({ startMs: nowMs });
    const told: [string, number | null][] = [];
    let slugs = ["acme", "globex"];
    await world.store.events.add([
      dead(nowMs - 31 * dayMs, "old"),
      alive(nowMs - dayMs, "old"),
      dead(nowMs - dayMs, "a"),
      dead(nowMs - dayMs, "b"),
      dead(nowMs - dayMs, "c"),
      dead(nowMs - dayMs, "d"),
      alive(nowMs - hourMs, "a"),
      death(nowMs - dayMs, "globex"),
    ]);
    const book = createRegretBook({
      store: world.store,
      clock,
      logger,
      slugs: () => slugs,
      onRatio: (slug, ratio) => told.push([slug, ratio]),
    });
    // On a busy machine the store answers after the clock has stopped: the book's short rests need it to go on.
    const toldLength = async (): Promise<number> => {
      await clock.advance(10);
      return told.length;
    };
    book.start();

    await clock.advance(10 * secondMs);
    await expect.poll(toldLength).toBe(2);
    expect(told.splice(0)).toEqual([
      ["acme", 0.25],
      ["globex", null],
    ]);

    await world.store.events.add([alive(nowMs, "b")]);
    await clock.advance(59 * minuteMs);
    expect(told.splice(0)).toEqual([]);
    await clock.advance(minuteMs);
    await expect.poll(toldLength).toBe(2);
    expect(told.splice(0)).toEqual([
      ["acme", 0.5],
      ["globex", null],
    ]);

    await world.store.events.add([alive(nowMs, "c")]);
    slugs = ["acme"];
    await clock.advance(minuteMs);
    await expect.poll(toldLength).toBe(1);
    expect(told.splice(0)).toEqual([["globex", null]]);
    await clock.advance(57 * minuteMs);
    expect(told.splice(0)).toEqual([]);
    await clock.advance(3 * minuteMs);
    await expect.poll(toldLength).toBe(1);
    expect(told.splice(0)).toEqual([["acme", 0.75]]);

    await book.stop();
    clock.assertIdle();
  });
});

describe("alerts that have ended", () => {
  const endAt = (atMs: number): AlertEnd => ({ atMs, isByRun: true });

  it("show how many of their deaths were undone, as revivals come in", async () => {
    await using world = await createEventWorld();
    const clock = createVirtualClock({ startMs: nowMs });
    const { alerts, events } = world.store;
    await alerts.end(firingAlert("one", nowMs - 5 * dayMs), endAt(nowMs - 4 * dayMs));
    // It began with another window than the one that is configured now.
    await alerts.end(firingAlert("two", nowMs - 2 * dayMs, { windowHours: 2 }), endAt(nowMs - dayMs));
    await alerts.save(firingAlert("four", nowMs - hourMs));
    await events.add([
      dead(nowMs - 6 * dayMs, "before the window of the first run"),
      dead(nowMs - 6 * dayMs + 1, "a"),
      dead(nowMs - 4 * dayMs, "b"),
      dead(nowMs - 4 * dayMs + 1, "after its end"),
      dead(nowMs - 2 * dayMs - 3 * hourMs, "before the window of the second one"),
      alive(nowMs - hourMs, "a"),
      alive(nowMs - hourMs, "after its end"),
    ]);
    const ended = createEndedAlerts({ store: world.store, clock, logger, windowHoursOf: () => 24 });
    const read = async (): Promise<unknown> =>
      (await ended("dead-asset-spike", "acme")).map(({ id, startsAtMs, deaths }) => [id, startsAtMs, deaths]);

    expect(await read()).toEqual([
      ["two", nowMs - 2 * dayMs, null],
      ["one", nowMs - 5 * dayMs, { judgedCount: 2, revivedCount: 1 }],
    ]);

    await events.add([alive(nowMs, "b")]);
    await clock.advance(6 * minuteMs);
    expect(await read()).toEqual([
      ["two", nowMs - 2 * dayMs, null],
      ["one", nowMs - 5 * dayMs, { judgedCount: 2, revivedCount: 2 }],
    ]);
  });

  it("are revised to the checker when half of their deaths are undone", async () => {
    await using world = await createEventWorld();
    const clock = createVirtualClock({ startMs: nowMs });
    await world.store.alerts.end(firingAlert("one", nowMs - 5 * dayMs), endAt(nowMs - 4 * dayMs));
    const assets = ["a", "b", "c", "d", "e", "f"];
    await world.store.events.add([
      ...assets.map((asset) => dead(nowMs - 5 * dayMs, asset)),
      ...["a", "b"].map((asset) => alive(nowMs - hourMs, asset)),
    ]);
    const ended = createEndedAlerts({ store: world.store, clock, logger, windowHoursOf: () => 24 });
    const read = async (): Promise<unknown> => (await ended("dead-asset-spike", "acme"))[0]?.revisedCause;

    expect(await read()).toBeNull();
    await world.store.events.add([alive(nowMs, "c")]);
    await clock.advance(6 * minuteMs);
    expect(await read()).toBe("3 of 6 dead assets (50 %) were found alive again.");
  });

  it("are shown without that where the events are not ours", async () => {
    await using world = await createEventWorld();
    const clock = createVirtualClock({ startMs: nowMs });
    await world.store.alerts.end(firingAlert("one", nowMs - 2 * dayMs), endAt(nowMs - dayMs));
    await world.store.events.add([dead(nowMs - dayMs, "a")]);
    const ended = createEndedAlerts({ store: world.store, clock, logger, windowHoursOf: () => null });

    expect(await ended("dead-asset-spike", "acme")).toEqual([
      {
        id: "one",
        kind: "verdict",
        severity: "fail",
        startsAtMs: nowMs - 2 * dayMs,
        endsAtMs: nowMs - dayMs,
        reason: "not_ok",
        judgement: null,
        deaths: null,
        revisedCause: null,
      },
    ]);
    expect(await ended("review-queue", "acme")).toEqual([]);
  });
});
