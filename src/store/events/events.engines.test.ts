import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  countOneByOne,
  createWorldOn,
  death,
  keptOf,
  toCsv,
  toNdjson,
} from "../../../test/support/store/event-store.ts";
import { countingEngines } from "../../../test/support/store/engines.ts";
import { isLong } from "../../../test/support/tier.ts";
import { hourMs, minuteMs } from "../../base/time.ts";
import type { AssetTypeDeaths, DeathsQuery, Interval } from "../../contract/liveness-counts.ts";
import type { LivenessEvent } from "./rules.ts";

const startMs = Date.UTC(2026, 0, 15, 9);

// Instants that fall on, and one millisecond beside, the edges of minutes and hours, and some in between.
const instant = fc
  .record({
    hours: fc.integer({ min: 0, max: 5 }),
    minutes: fc.constantFrom(0, 1, 30, 59),
    ms: fc.constantFrom(-1, 0, 1, 777, 59_999),
  })
  .map(({ hours, minutes, ms }) => startMs + hours * hourMs + minutes * minuteMs + ms);

const slug = fc.constantFrom("acme", "globex");
const event: fc.Arbitrary<LivenessEvent> = fc.record({
  atMs: instant,
  slug,
  assetType: fc.constantFrom(null, "URL", "EMAIL", "TELEGRAM"),
  asset: fc.constantFrom(null, "a1b2", 'quoted "x", y', "https://exämple.test/ü"),
  status: fc.constantFrom("DETECTED_AS_DEAD", "DETECTED_AS_DEAD", "DETECTED_AS_ALIVE", "Other_1"),
  id: fc.constantFrom(null, "1", "2", "3", "ü", "a,b"),
  count: fc.constantFrom(1, 1, 0, 7, 1_000_000_000),
});

const events = fc.array(event, { maxLength: 12 });
const interval: fc.Arbitrary<Interval> = fc.record({ afterMs: instant, untilMs: instant });
const query: fc.Arbitrary<DeathsQuery> = fc.record({ slug, intervals: fc.array(interval, { maxLength: 4 }) });

const step = fc.oneof(
  { weight: 3, arbitrary: events.map((batch) => ({ kind: "add" as const, batch })) },
  { weight: 1, arbitrary: events.map((batch) => ({ kind: "csv" as const, batch })) },
  { weight: 1, arbitrary: events.map((batch) => ({ kind: "ndjson" as const, batch })) },
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

describe.each(countingEngines)("on $engine,", (place) => {
  describe("counts", () => {
    it("are at every instant those of counting one event after the other, however events came and went", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(step, query), { minLength: 1, maxLength: 10 }), async (steps) => {
          await using world = await createWorldOn(place);
          const { events } = world.store;
          // Ids outlive nothing: what is pruned may come again.
          let stored: LivenessEvent[] = [];
          for (const [index, [one, asked]] of steps.entries()) {
            if (one.kind === "load") {
              const intervals = [{ afterMs: 0, untilMs: 1 }];
              await events.deaths(["acme", "globex"].map((name) => ({ slug: name, intervals })));
              await events.cache?.loaded();
            } else if (one.kind === "prune") {
              let slices = 0;
              while ((await events.prune({ beforeMs: one.beforeMs, maxRows: 3 })).hasMore) slices++;
              expect(slices).toBeLessThan(40);
              const endMs = Math.floor((one.beforeMs + 1) / hourMs) * hourMs;
              stored = stored.filter(({ atMs }) => atMs >= endMs);
            } else if (one.batch.length > 0) {
              const text = one.kind === "csv" ? toCsv(one.batch) : toNdjson(one.batch);
              if (one.kind === "add") await events.add(one.batch);
              else await world.import([await world.write(`${index}`, text)]);
              stored = keptOf([...stored.map((kept) => [kept]), one.batch]);
            }

            const [deaths = []] = await events.deaths([asked]);
            expect(sorted(deaths)).toEqual(deathsOneByOne(stored, asked));
            const ofAcme = stored.filter((kept) => kept.slug === "acme").map(({ atMs }) => atMs);
            expect(await events.firstEventAtMs("acme")).toBe(ofAcme.length === 0 ? null : Math.min(...ofAcme));
          }
        }),
        { numRuns: isLong ? 100 : 10 },
      );
    });
  });

  describe("what is known of the organizations", () => {
    it("lists those with events, and since when", async () => {
      await using world = await createWorldOn(place);
      expect(await world.store.events.isEmpty()).toBe(true);

      await world.store.events.add([
        death(startMs + 5, "globex"),
        death(startMs, "acme", { status: "DETECTED_AS_ALIVE" }),
      ]);
      await world.import([
        await world.write("more", toCsv([death(startMs + 1, "globex"), death(startMs + 9, "acme")])),
      ]);

      expect(await world.store.events.isEmpty()).toBe(false);
      expect(await world.store.events.slugs()).toEqual(["acme", "globex"]);
      expect(await world.store.events.firstEventAtMs("acme")).toBe(startMs);
      expect(await world.store.events.firstEventAtMs("globex")).toBe(startMs + 1);
      expect((await world.store.events.firstEvents(["globex"])).get("globex")).toBe(startMs + 1);
    });
  });

  it("the extent of an organization counts its events of any status, also at one instant, and no other's", async () => {
    await using world = await createWorldOn(place);
    const rows = Array.from({ length: 16_005 }, (_, index) => `${startMs + Math.floor(index / 3)},acme,SEEN`);
    await world.import([await world.write("events.csv", `at,slug,status\n${rows.join("\n")}\n`)]);
    await world.store.events.add([death(startMs + 1, "globex"), death(startMs + hourMs, "acme")]);

    expect(await world.store.liveness.extent("acme")).toEqual({
      events: 16_006,
      firstAtMs: startMs,
      lastAtMs: startMs + hourMs,
    });
    expect(await world.store.liveness.extent("initech")).toBeNull();
  });

  describe("pruning", () => {
    it("forgets what the events that it deletes are known by, and their attributes, and those alone", async () => {
      await using world = await createWorldOn(place);
      const old = [{ id: "old" }, { asset: "x" }, { attributes: { reason: "old" } }];
      const recent = [{ id: "recent" }, { asset: "x" }, { attributes: { reason: "new" } }];
      const events = [
        ...old.map((more) => death(startMs - 50 * hourMs, "acme", more)),
        ...recent.map((more) => death(startMs, "acme", more)),
      ];
      await world.store.events.add(events);

      await world.store.events.prune({ beforeMs: startMs - hourMs, maxRows: 100 });

      const newestSet = [{ typeId: 0, attributeSetId: 2 }];
      const { attributeSets } = await world.store.evidence.factsOf([{ typeId: 0, attributeSetId: 1 }, ...newestSet]);
      expect([...attributeSets.values()]).toEqual([{ reason: "new" }]);
      expect(await world.store.events.add(events)).toMatchObject({
        received: 6,
        stored: 3,
        duplicates: 3,
        conflicts: 0,
      });
    });

    it("leaves a note that the organization was seen", async () => {
      await using world = await createWorldOn(place);
      await world.store.events.add([death(startMs, "acme"), death(startMs + 9 * hourMs, "globex")]);

      await world.store.events.prune({ beforeMs: startMs + hourMs, maxRows: 100 });

      expect(await world.store.events.firstEvents(["acme", "globex", "initech"])).toEqual(
        new Map([
          ["acme", null],
          ["globex", startMs + 9 * hourMs],
        ]),
      );
      expect(await world.store.events.slugs()).toEqual(["globex"]);
      await world.store.events.add([death(startMs + 5 * hourMs, "acme")]);
      expect(await world.store.events.firstEvents(["acme"])).toEqual(new Map([["acme", startMs + 5 * hourMs]]));
    });
  });
});
