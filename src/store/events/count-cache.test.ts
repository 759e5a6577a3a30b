import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";

import { createEventWorld, death, type EventWorld } from "../../../test/support/store/event-store.ts";
import { createSystemClock, dayMs, hourMs, minuteMs } from "../../base/time.ts";
import { openStore } from "../open.ts";

const startMs = Date.UTC(2026, 0, 15, 9);

/** Asks, after which the counts are loaded. */
async function warmUp(store: EventWorld["store"], slugs: readonly string[], afterMs = 0): Promise<void> {
  await store.events.deaths(slugs.map((name) => ({ slug: name, intervals: [{ afterMs, untilMs: afterMs + 1 }] })));
  await store.events.cache?.loaded();
}

// That they are exact, whatever is stored, is the law of events.engines.test.ts.
describe("counts in memory", () => {
  it("take what comes with a death that is older than all that is known", async () => {
    await using world = await createEventWorld();
    const { store } = world;
    await store.events.add([death(startMs, "acme")]);
    await warmUp(store, ["acme"], startMs);

    await store.events.add([death(startMs - 9 * dayMs, "acme"), death(startMs + minuteMs, "acme")]);

    const intervals = [{ afterMs: startMs - 1, untilMs: startMs + hourMs }];
    expect(await store.events.deaths([{ slug: "acme", intervals }])).toEqual([[{ assetType: null, deaths: [2] }]]);
  });

  it("forget what moves out of the windows as time goes on", async () => {
    await using world = await createEventWorld();
    const { store } = world;
    await store.events.add(Array.from({ length: 90 }, (_, day) => death(startMs + day * dayMs, "acme")));

    for (let day = 0; day < 90; day++) {
      const intervals = [{ afterMs: startMs + (day - 2) * dayMs, untilMs: startMs + day * dayMs }];
      const [deaths] = await store.events.deaths([{ slug: "acme", intervals }]);
      expect(deaths).toEqual([{ assetType: null, deaths: [Math.min(day + 1, 2)] }]);
      await store.events.cache?.loaded();
    }

    expect(store.events.cache?.cells()).toBeLessThan(40);
  });

  it("leave to the database what is beyond their bound, and take it in when there is room", async () => {
    await using world = await createEventWorld();
    const store = await openStore({ ...world.location, clock: createSystemClock(), mostCells: 1_000 });
    await store.events.add(
      Array.from({ length: 2_000 }, (_, index) => death(startMs - index * minuteMs, index < 1_900 ? "acme" : "globex")),
    );

    await warmUp(store, ["acme", "globex"]);
    const full = store.events.cache?.cells();
    while ((await store.events.prune({ beforeMs: startMs - 500 * minuteMs, maxRows: 500 })).hasMore);
    await store.events.add([death(startMs, "globex")]);
    await warmUp(store, ["acme", "globex"]);

    // The last slice goes beyond it.
    expect(full).toBeGreaterThanOrEqual(1_000);
    expect(full).toBeLessThan(1_256);
    expect(store.events.cache?.cells()).toBeLessThan(600);
    const intervals = [{ afterMs: 0, untilMs: startMs }];
    expect(await store.events.deaths([{ slug: "globex", intervals }])).toEqual([[{ assetType: null, deaths: [1] }]]);
    await store.close();
  });

  it("are right while events are stored, also of minutes that were counted", async () => {
    await using world = await createEventWorld();
    const { store } = world;
    await store.events.add([death(startMs, "acme")]);
    await warmUp(store, ["acme"]);
    const intervals = [{ afterMs: startMs - dayMs, untilMs: startMs + 30_000 }];

    // The last minute counts only up to then; both queries are under way at once.
    const [deaths] = await Promise.all([
      store.events.deaths([{ slug: "acme", intervals }]),
      store.events.add([death(startMs - hourMs, "acme"), death(startMs + 1, "acme"), death(startMs + 40_000, "acme")]),
    ]);
    const after = await store.events.deaths([{ slug: "acme", intervals }]);

    expect([1, 3]).toContain(deaths[0]?.[0]?.deaths[0]);
    expect(after).toEqual([[{ assetType: null, deaths: [3] }]]);
  });

  it("answer what is beyond the integers of JavaScript as the database does", async () => {
    await using world = await createEventWorld();
    const { store } = world;
    await store.events.add([death(startMs, "acme")]);
    const db = new DatabaseSync(world.location.path);
    db.exec(`UPDATE event_minutes SET deaths = ${2 ** 53 - 1}`);
    db.close();
    await warmUp(store, ["acme"]);
    await store.events.add([death(startMs, "acme")]);

    const [deaths] = await store.events.deaths([
      { slug: "acme", intervals: [{ afterMs: startMs - minuteMs, untilMs: startMs + minuteMs }] },
    ]);

    expect(deaths).toEqual([{ assetType: null, deaths: [Number.MAX_SAFE_INTEGER] }]);
  });

  it("are gone with the store, also while they are loaded", async () => {
    await using world = await createEventWorld();
    const store = await openStore({ ...world.location, clock: createSystemClock() });
    await store.events.add([death(startMs, "acme")]);
    const asked = [{ slug: "acme", intervals: [{ afterMs: 0, untilMs: startMs }] }];
    await store.events.deaths(asked);

    await store.close();

    await expect(store.events.deaths(asked)).rejects.toMatchObject({ code: "unavailable" });
    expect(store.events.cache?.cells()).toBe(0);
  });
});
