import { describe, expect, it } from "vitest";

import { minuteMs } from "../../../src/base/time.ts";
import { simulateReplicas } from "./world.ts";
import { isLong } from "../../support/tier.ts";

const seeds = isLong ? Array.from({ length: 6 }, (_, index) => index + 1) : [1, 2];
const forMs = (isLong ? 120 : 15) * minuteMs;

describe("three replicas on a model of PostgreSQL", () => {
  it.each(seeds)(
    "record every due run once, hand shards over, and show what was committed, seed %i",
    async (seed) => {
      const { violations, runs, compared, incidents } = await simulateReplicas({ seed, replicas: 3, forMs });

      expect(violations).toEqual([]);
      expect(runs).toBeGreaterThan(200);
      expect(compared).toBeGreaterThan(30_000);
      expect(Object.keys(incidents).length).toBeGreaterThan(3);
    },
    300_000,
  );

  it("live the same life again from the same seed, and another one from another", async () => {
    const lives = [];
    for (const seed of [8, 8, 9]) lives.push((await simulateReplicas({ seed, replicas: 3, forMs: 3 * minuteMs })).hash);

    expect(lives[1]).toBe(lives[0]);
    expect(lives[2]).not.toBe(lives[0]);
  }, 300_000);
});
