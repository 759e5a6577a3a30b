import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  countsOf,
  countOneByOne,
  createWorldOn,
  death,
  keptOf,
  sortCounts,
  toCsv,
  toNdjson,
} from "../../../test/support/store/event-store.ts";
import { countingEngines } from "../../../test/support/store/engines.ts";
import { isLong } from "../../../test/support/tier.ts";
import { hourMs, minuteMs } from "../../base/time.ts";
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

const event: fc.Arbitrary<LivenessEvent> = fc.record({
  atMs: instant,
  slug: fc.constantFrom("acme", "globex"),
  assetType: fc.constantFrom(null, "URL", "EMAIL", "TELEGRAM"),
  asset: fc.constantFrom(null, "a1b2", 'quoted "x", y', "https://exämple.test/ü"),
  status: fc.constantFrom("DETECTED_AS_DEAD", "DETECTED_AS_DEAD", "DETECTED_AS_ALIVE", "Other_1"),
  id: fc.constantFrom(null, "1", "2", "3", "ü", "a,b"),
  count: fc.constantFrom(1, 1, 0, 7, 1_000_000_000),
});

const query = fc
  .tuple(fc.constantFrom("acme", "globex"), fc.tuple(instant, instant, instant))
  .map(([slug, instants]) => {
    const [baselineStartMs, windowStartMs, endMs] = instants.toSorted((a, b) => a - b) as [number, number, number];
    return { slug, baselineStartMs, windowStartMs, endMs };
  });

describe.each(countingEngines)("on $engine,", (place) => {
  // A database each takes its time.
  const runs = isLong ? 50 : 6;

  describe("counts", () => {
    it("are those of counting one event after the other, however the events came", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(event, { maxLength: 12 }), { minLength: 1, maxLength: 4 }),
          fc.array(fc.constantFrom("csv", "ndjson", "add"), { minLength: 4, maxLength: 4 }),
          fc.array(query, { minLength: 1, maxLength: 8 }),
          async (batches, ways, queries) => {
            await using world = await createWorldOn(place);
            for (const [index, batch] of batches.entries()) {
              if (ways[index] === "add") await world.store.events.add(batch);
              else {
                const text = ways[index] === "csv" ? toCsv(batch) : toNdjson(batch);
                if (text === "") continue;
                await world.import([await world.write(`${index}`, text)]);
              }
            }

            for (const asked of queries) {
              expect(sortCounts(await countsOf(world.store, asked))).toEqual(countOneByOne(keptOf(batches), asked));
            }
          },
        ),
        { numRuns: runs },
      );
    });

    it.each([
      ["exactly at the end: in the window", 0, { currentCount: 1, baselineCount: 0 }],
      ["1 ms after the end: in neither", 1, null],
      ["1 ms after the window's start: in the window", -hourMs + 1, { currentCount: 1, baselineCount: 0 }],
      ["exactly at the window's start: in the baseline", -hourMs, { currentCount: 0, baselineCount: 1 }],
      ["1 ms after the baseline's start: in the baseline", -2 * hourMs + 1, { currentCount: 0, baselineCount: 1 }],
      ["exactly at the baseline's start: in neither", -2 * hourMs, null],
    ])("of an event %s", async (_, offsetMs, expected) => {
      for (const endMs of [startMs, startMs + 12_345]) {
        await using world = await createWorldOn(place);
        await world.store.events.add([death(endMs + offsetMs, "acme")]);

        const counts = await countsOf(world.store, {
          slug: "acme",
          baselineStartMs: endMs - 2 * hourMs,
          windowStartMs: endMs - hourMs,
          endMs,
        });

        expect(counts).toEqual(expected === null ? [] : [{ assetType: null, ...expected }]);
      }
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
    it("deletes whole hours and nothing else, in slices, and counts stay exact after it", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(event, { maxLength: 40 }), instant, query, async (events, beforeMs, asked) => {
          await using world = await createWorldOn(place);
          await world.store.events.add(events);
          const endMs = Math.floor((beforeMs + 1) / hourMs) * hourMs;

          let slices = 0;
          while ((await world.store.events.prune({ beforeMs, maxRows: 3 })).hasMore) slices++;

          const kept = keptOf([events]).filter(({ atMs }) => atMs >= endMs);
          expect(sortCounts(await countsOf(world.store, asked))).toEqual(countOneByOne(kept, asked));
          const first = kept.filter(({ slug }) => slug === "acme").map(({ atMs }) => atMs);
          expect(await world.store.events.firstEventAtMs("acme")).toBe(first.length === 0 ? null : Math.min(...first));
          expect(slices).toBeLessThan(40);
        }),
        { numRuns: runs },
      );
    });

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
