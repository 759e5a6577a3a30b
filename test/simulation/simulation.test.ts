import { describe, expect, it } from "vitest";

import { simulate } from "./simulate.ts";

const isLong = process.env["FLATLINE_TEST_LONG"] === "1";
// Even ones have the embedded source. Seeds that once found something are first (docs/reliability.md).
const seeds = isLong ? [5, 7, 2, 3, ...Array.from({ length: 8 }, (_, index) => 11 + index)] : [5, 2];
const days = isLong ? 2 : 0.25;

describe("the whole daemon in a simulated world", () => {
  it.each(seeds)(
    "keeps what the contract promises, seed %i",
    async (seed) => {
      const { violations, runs, notifications, incidents, gateAnswers } = await simulate({ seed, days });

      expect(violations).toEqual([]);
      expect(runs).toBeGreaterThan(500);
      expect(notifications).toBeGreaterThan(2);
      expect(gateAnswers).toBeGreaterThan(50);
      expect(Object.keys(incidents).length).toBeGreaterThan(4);
    },
    300_000,
  );

  it("lives the same life again from the same seed, and another one from another", async () => {
    const [once, again, other] = [
      await simulate({ seed: 8, days: 0.1 }),
      await simulate({ seed: 8, days: 0.1 }),
      await simulate({ seed: 10, days: 0.1 }),
    ];

    expect(again.hash).toBe(once.hash);
    expect(other.hash).not.toBe(once.hash);
  }, 300_000);
});
