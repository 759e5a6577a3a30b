import { expect, it } from "vitest";

import { simulate } from "./simulate.ts";

// One short life; CI lives others, and the long tests many (simulation.slow.test.ts).
it("the whole daemon keeps what the contract promises in a simulated world", async () => {
  const { violations, runs, notifications, gateAnswers } = await simulate({ seed: 2, days: 0.1 });

  expect(violations).toEqual([]);
  expect(runs).toBeGreaterThan(500);
  expect(notifications).toBeGreaterThan(2);
  expect(gateAnswers).toBeGreaterThan(50);
});
