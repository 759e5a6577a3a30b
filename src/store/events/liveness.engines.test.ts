import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createWorldOn, death } from "../../../test/support/store/event-store.ts";
import { storeEngines } from "../../../test/support/store/engines.ts";
import { hourMs, minuteMs } from "../../base/time.ts";

const startMs = Date.UTC(2026, 0, 15, 9);
const slugs = ["acme", "globex"] as const;

const event = fc.record({
  atMs: fc.integer({ min: startMs - hourMs, max: startMs + 7 * hourMs }),
  slug: fc.constantFrom(...slugs, "initech"),
  assetType: fc.constantFrom(null, "URL"),
  status: fc.constantFrom("DETECTED_AS_DEAD", "DETECTED_AS_DEAD", "DETECTED_AS_ALIVE"),
  count: fc.integer({ min: 0, max: 5 }),
});

describe.each(storeEngines)("on $engine", (engine) => {
  describe("the deaths of several organizations in bins", () => {
    it("are those of the events one by one", async () => {
      await using world = await createWorldOn(engine);
      const some = fc.sample(event, { numRuns: 400, seed: 1 });
      await world.store.events.add(some.map(({ atMs, slug, ...rest }) => death(atMs, slug, rest)));
      const toMs = startMs + 6 * hourMs;

      for (const binMs of [minuteMs, 5 * minuteMs, hourMs, 3 * hourMs]) {
        const expected = new Map<number, number>();
        for (const { atMs, slug, status, count } of some) {
          if (slug === "initech" || status !== "DETECTED_AS_DEAD" || count === 0) continue;
          if (atMs < startMs || atMs >= toMs) continue;
          const bin = Math.floor(atMs / binMs);
          expected.set(bin, (expected.get(bin) ?? 0) + count);
        }
        const bins = await world.store.liveness.deathBins({ slugs, fromMs: startMs, toMs, binMs });
        expect(new Map([...bins].filter(([, deaths]) => deaths > 0))).toEqual(expected);
      }
    });

    it("are none of organizations that are not known, nor of none at all", async () => {
      await using world = await createWorldOn(engine);
      const query = { fromMs: startMs, toMs: startMs + hourMs, binMs: minuteMs };

      expect((await world.store.liveness.deathBins({ ...query, slugs: ["acme"] })).size).toBe(0);
      expect((await world.store.liveness.deathBins({ ...query, slugs: [] })).size).toBe(0);
    });
  });
});
