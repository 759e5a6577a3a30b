import { describe, expect, it } from "vitest";

import { createEventWorld, death } from "../../../test/support/store/event-store.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { createSilentLogger } from "../../base/logger.ts";
import { dayMs, hourMs, minuteMs } from "../../base/time.ts";
import type { AlertEnd } from "../../store/alerts/alerts.ts";
import type { LivenessEvent } from "../../store/events/rules.ts";
import { createEndedAlerts } from "./ended-alerts.ts";
import { firingAlert } from "../../../test/support/firing-alert.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const logger = createSilentLogger();
const dead = (atMs: number, asset: string): LivenessEvent => death(atMs, "acme", { asset });
const alive = (atMs: number, asset: string): LivenessEvent =>
  death(atMs, "acme", { asset, status: "DETECTED_AS_ALIVE" });

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
    expect(await read()).toBe("3 of 6 dead assets (50 %) were found alive.");
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
