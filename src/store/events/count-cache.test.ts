import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  countOneByOne,
  createEventWorld,
  death,
  keptOf,
  toCsv,
  type EventWorld,
} from "../../../test/support/store/event-store.ts";
import { isLong } from "../../../test/support/tier.ts";
import { createSystemClock, dayMs, hourMs, minuteMs } from "../../base/time.ts";
import type { AssetTypeDeaths, DeathsQuery, Interval } from "../../contract/liveness-counts.ts";
import type { LivenessEvent } from "./rules.ts";
import { openStore } from "../open.ts";

const startMs = Date.UTC(2026, 0, 15, 9);

const instant = fc
  .record({
    hours: fc.integer({ min: 0, max: 5 }),
    minutes: fc.constantFrom(0, 1, 30, 59),
    ms: fc.constantFrom(-1, 0, 1, 777, 59_999),
  })
  .map(({ hours, minutes, ms }) => startMs + hours * hourMs + minutes * minuteMs + ms);
const slug = fc.constantFrom("acme", "globex", "initech");
const event: fc.Arbitrary<LivenessEvent> = fc.record({
  atMs: instant,
  slug,
  assetType: fc.constantFrom(null, "URL", "EMAIL"),
  asset: fc.constant(null),
  status: fc.constantFrom("DETECTED_AS_DEAD", "DETECTED_AS_DEAD", "DETECTED_AS_DEAD", "DETECTED_AS_ALIVE"),
  id: fc.constantFrom(null, null, "1", "2", "3"),
  count: fc.constantFrom(1, 1, 0, 7, 1_000_000_000),
});
const events = fc.array(event, { minLength: 1, maxLength: 8 });
const interval: fc.Arbitrary<Interval> = fc.record({ afterMs: instant, untilMs: instant });
const query: fc.Arbitrary<DeathsQuery> = fc.record({ slug, intervals: fc.array(interval, { maxLength: 4 }) });

const step = fc.oneof(
  { weight: 3, arbitrary: events.map((batch) => ({ kind: "add" as const, batch })) },
  { weight: 2, arbitrary: events.map((batch) => ({ kind: "import" as const, batch })) },
  { weight: 1, arbitrary: instant.map((beforeMs) => ({ kind: "prune" as const, beforeMs })) },
  { weight: 2, arbitrary: fc.constant({ kind: "load" as const }) },
);

/** One event after the other; `stored` holds each id once. */
function deathsOneByOne(stored: readonly LivenessEvent[], { slug: asked, intervals }: DeathsQuery): AssetTypeDeaths[] {
  const byType = new Map<string | null, number[]>();
  for (const [index, { afterMs, untilMs }] of intervals.entries()) {
    const bounds = { slug: asked, baselineStartMs: afterMs, windowStartMs: untilMs, endMs: untilMs };
    for (const { assetType, baselineCount } of countOneByOne(stored, bounds)) {
      const deaths = byType.get(assetType) ?? intervals.map(() => 0);
      deaths[index] = baselineCount;
      byType.set(assetType, deaths);
    }
  }
  return sorted([...byType].map(([assetType, deaths]) => ({ assetType, deaths })));
}

function sorted(deaths: readonly AssetTypeDeaths[]): AssetTypeDeaths[] {
  return deaths.toSorted((a, b) => (a.assetType ?? "").localeCompare(b.assetType ?? ""));
}

/** Asks, after which the counts are loaded. */
async function warmUp(store: EventWorld["store"], slugs: readonly string[], afterMs = 0): Promise<void> {
  await store.events.deaths(slugs.map((name) => ({ slug: name, intervals: [{ afterMs, untilMs: afterMs + 1 }] })));
  await store.events.cache?.loaded();
}

const slugs = ["acme", "globex", "initech"];

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

  it("are at every instant what counting one event after the other is, whoever wrote what", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(step, query), { minLength: 1, maxLength: 10 }), async (steps) => {
        await using world = await createEventWorld();
        const { store } = world;
        // Ids outlive nothing: what is pruned may come again.
        let stored: LivenessEvent[] = [];
        const keep = (batch: readonly LivenessEvent[]): void => {
          stored = keptOf([...stored.map((one) => [one]), batch]);
        };
        for (const [index, [one, asked]] of steps.entries()) {
          switch (one.kind) {
            case "add":
              await store.events.add(one.batch);
              keep(one.batch);
              break;
            case "import":
              await world.import([await world.write(`${index}`, toCsv(one.batch))]);
              keep(one.batch);
              break;
            case "prune": {
              const endMs = Math.floor((one.beforeMs + 1) / hourMs) * hourMs;
              while ((await store.events.prune({ beforeMs: one.beforeMs, maxRows: 3 })).hasMore);
              stored = stored.filter(({ atMs }) => atMs >= endMs);
              break;
            }
            case "load":
              await warmUp(store, slugs);
              break;
          }

          const [deaths = []] = await store.events.deaths([asked]);
          expect(sorted(deaths)).toEqual(deathsOneByOne(stored, asked));
        }
      }),
      { numRuns: isLong ? 100 : 12 },
    );
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
    const db = new DatabaseSync(world.databasePath);
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
