import { randomInt } from "node:crypto";

import { describe, expect, it } from "vitest";

import { simulate } from "./simulate.ts";

const isLong = process.env["FLATLINE_TEST_LONG"] === "1";
// Even ones have the embedded source. Seeds that once found something are first (docs/reliability.md).
const known = isLong ? [5, 7, 1, 2, 4, 6] : [5, 2];
// Nobody has lived through these before; the name of the test says which they are.
const fresh = isLong ? [randomInt(1_000, 1_000_000), randomInt(1_000, 1_000_000)] : [];
const days = isLong ? 2 : 0.25;

describe("the whole daemon in a simulated world", () => {
  it.each([...known, ...fresh])(
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
