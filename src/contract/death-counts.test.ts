import { describe, expect, it } from "vitest";

import { deathWords, ratioWords } from "./death-counts.ts";

describe("deaths in words", () => {
  it.each([
    [{ currentCount: 5_119, expectedCount: 11.142, ratio: 459.4 }, "5,119 deaths, 11.1 expected (459×)"],
    [{ currentCount: 22, expectedCount: 0, ratio: null }, "22 deaths, none expected"],
    [{ currentCount: 1, expectedCount: 0.04 }, "1 death, <0.1 expected (25.0×)"],
    [{ currentCount: 12, expectedCount: null, ratio: null }, "12 deaths"],
    [{ currentCount: 1, expectedCount: null, counting: "assets" as const }, "1 dead asset"],
    [{ currentCount: 12, expectedCount: null, ratio: 3 }, "12 deaths (3.0×)"],
    [{ currentCount: null, expectedCount: 4 }, null],
  ])("%j are %s", (counts, text) => {
    expect(deathWords(counts)).toBe(text);
  });

  it("name their window where there is one", () => {
    expect(deathWords({ currentCount: 22, expectedCount: 0 }, 24)).toBe("22 deaths in 24 h, none expected");
  });

  it.each([
    [{ currentCount: 459, expectedCount: 1, ratio: 459 }, "459×"],
    [{ currentCount: 21, expectedCount: 10 }, "2.1×"],
    [{ currentCount: 22, expectedCount: 0, ratio: null }, "none expected"],
    [{ currentCount: 0, expectedCount: 0, ratio: null }, null],
    [{ currentCount: 22, expectedCount: null }, null],
  ])("have the ratio of %j: %s", (counts, text) => {
    expect(ratioWords(counts)).toBe(text);
  });
});
