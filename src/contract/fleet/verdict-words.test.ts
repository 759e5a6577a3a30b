import { describe, expect, it } from "vitest";

import { hourMs, minuteMs, secondMs } from "../../base/time.ts";
import { spanMs, verdictWords } from "./verdict-words.ts";

const chance = { by: "chance", spiking: 120, organizations: 300 } as const;

describe("a fleet verdict says", () => {
  it.each([
    [0, "1 minute"],
    [9 * minuteMs + secondMs, "10 minutes"],
    [90 * minuteMs, "90 minutes"],
    [90 * minuteMs + secondMs, "2 hours"],
    [5 * hourMs, "5 hours"],
  ])("by chance within how long they began: %s ms", (withinMs, words) => {
    expect(verdictWords({ ...chance, withinMs })).toBe(`120 organizations began within ${words}: one cause`);
  });

  it("by ratio of how many they are", () => {
    expect(verdictWords({ ...chance, by: "ratio", withinMs: 0 })).toBe(
      "120 of 300 organizations spike at once: suspect the liveness checker",
    );
  });
});

it("the span of instants is from the first to the last, in any order", () => {
  expect([spanMs([]), spanMs([7]), spanMs([7, 2, 5])]).toEqual([0, 0, 5]);
});
