import { EventEmitter } from "node:events";

import { expect, it } from "vitest";

import { resultReport } from "../../test/support/check-reports.ts";
import { createRunProcess, pointsOf } from "../../test/support/program/run-process.ts";
import { createEventWorld } from "../../test/support/store/event-store.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { createSilentLogger } from "../base/logger.ts";
import type { Loop } from "../base/loop.ts";
import { dayMs, hourMs, minuteMs, type Clock } from "../base/time.ts";
import type { Store } from "../store/store.ts";
import { createMaintenance } from "./maintenance.ts";
import type { Applied } from "./runtime.ts";
import { firingAlert } from "../../test/support/firing-alert.ts";

const startMs = Date.UTC(2026, 0, 15);

function maintenanceOf(
  store: Store,
  clock: Clock,
  { retentionMs = 30 * dayMs, logger = createSilentLogger() } = {},
): Loop {
  const storage = { retentionMs, eventRetentionMs: 0, auditRetentionMs: 0 };
  const config = { storage, server: { sessionTtlMs: 30 * dayMs }, organizations: [] };
  const settings = { gateOf: () => ({ releaseOn: ["judged"], whenUnknown: "allow" }) };
  return createMaintenance(
    { store, clock, logger, bus: new EventEmitter() },
    () => ({ config, settings }) as unknown as Applied,
  );
}

it("keeps an ended alert for the retention, and one that holds the gate until it is released", async () => {
  await using world = await createEventWorld();
  const { alerts } = world.store;
  const clock = createVirtualClock({ startMs });
  const maintenance = maintenanceOf(world.store, clock, { retentionMs: 3 * hourMs });
  const judgement = { verdict: "real", comment: null, by: "kim", note: null, atMs: startMs } as const;
  const end = { atMs: startMs, isByRun: true };
  const failure = { atMs: startMs, releasedAtMs: null };
  for (const one of [
    firingAlert("open", startMs, { failure }),
    firingAlert("released", startMs, { failure, judgement }),
  ])
    await alerts.save({ ...one, end });
  // The store answers late: the clock has to advance for the rounds to end.
  const kept = async (): Promise<boolean[]> => {
    await clock.advance(minuteMs);
    return [(await alerts.find("open")) !== null, (await alerts.find("released")) !== null];
  };

  maintenance.start();
  await clock.advance(2 * hourMs);
  expect(await kept()).toEqual([true, true]);
  await clock.advance(2 * hourMs);
  await expect.poll(kept).toEqual([true, false]);

  await alerts.release(["open"], clock.nowMs());
  await clock.advance(2 * hourMs);
  await expect.poll(kept).toEqual([false, false]);

  await maintenance.stop();
});

it("remembers used links for longer than they hold, though the retention is shorter", async () => {
  await using world = await createEventWorld();
  const { outsideActs } = world.store;
  const clock = createVirtualClock({ startMs });
  const maintenance = maintenanceOf(world.store, clock, { retentionMs: hourMs });
  const act = (id: string, atMs: number) => ({ id, via: "link", subject: "41", occurredAtMs: atMs, atMs }) as const;
  await outsideActs.note(act("old", startMs + minuteMs - 25 * hourMs - 1));
  await outsideActs.note(act("usable", startMs + minuteMs - 25 * hourMs));

  maintenance.start();
  await clock.advance(minuteMs);
  const noted = (): Promise<boolean[]> => Promise.all(["old", "usable"].map((id) => outsideActs.isNoted("link", id)));
  await expect.poll(noted).toEqual([false, true]);

  await maintenance.stop();
});

it("keeps 64 MiB of dead letters, the newest ones, and says how many went", async () => {
  await using world = await createEventWorld();
  const { outbox } = world.store;
  const clock = createVirtualClock({ startMs });
  const warned: object[] = [];
  const logger = { ...createSilentLogger(), warn: (fields: object) => void warned.push(fields) };
  const maintenance = maintenanceOf(world.store, clock, { logger });
  const entry = { receiver: "ops", createdAtMs: startMs };
  for (const id of ["first", "second"]) await outbox.enqueue([{ ...entry, id, payload: " ".repeat(33 * 2 ** 20) }]);
  await outbox.deadLetterUnknownReceivers([], "gone");

  maintenance.start();
  await clock.advance(minuteMs);
  const left = async (): Promise<string[]> => (await outbox.list()).map(({ id }) => id);
  await expect.poll(left).toEqual(["second"]);

  await maintenance.stop();
  expect(warned).toEqual([{ count: 1, mostBytes: 64 * 2 ** 20 }]);
});

it("deletes what one more day makes old however far ahead the clock is, and nothing after a jump", async () => {
  await using world = await createEventWorld();
  const { markers } = world.store;
  const clock = createVirtualClock({ startMs });
  for (const day of [-40, -29.5, -20, 100])
    await markers.add({
      id: `${day}`,
      atMs: startMs + day * dayMs,
      text: "deployed",
      slug: null,
      createdBy: null,
      note: null,
      createdAtMs: startMs,
    });
  const kept = async (): Promise<string[]> => {
    await clock.advance(minuteMs);
    return (await markers.between({ fromMs: 0, toMs: Number.MAX_SAFE_INTEGER })).map(({ id }) => id);
  };
  const first = maintenanceOf(world.store, clock);
  first.start();
  await expect.poll(kept).toEqual(["-29.5", "-20", "100"]);

  clock.shiftWall(800 * dayMs);
  await clock.advance(3 * hourMs);
  await first.stop();
  expect(await kept()).toHaveLength(3);
  const restarted = maintenanceOf(world.store, clock);
  restarted.start();
  await clock.advance(3 * hourMs);
  await restarted.stop();

  expect(await kept()).toEqual(["-20", "100"]);
});

it("makes hours of runs after a jump of the clock, too", async () => {
  await using world = await createEventWorld();
  const clock = createVirtualClock({ startMs });
  const own = await createRunProcess(world.store, clock);
  const maintenance = maintenanceOf(world.store, clock);
  maintenance.start();
  await own.record(...[1, 2, 3].map((minute) => resultReport({ finishedAtMs: startMs + minute * minuteMs })));
  clock.shiftWall(2 * hourMs);

  const query = { check: "dead-asset-spike", slug: "acme", fromMs: 0, toMs: startMs + dayMs, isHourly: true } as const;
  await expect
    .poll(async () => {
      await clock.advance(minuteMs);
      return (await pointsOf(own.history, query)).map(({ runs }) => runs);
    })
    .toEqual([3]);
  await maintenance.stop();
});
