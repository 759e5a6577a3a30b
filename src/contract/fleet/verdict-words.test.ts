import { describe, expect, it } from "vitest";

import { hourMs, minuteMs, secondMs } from "../../base/time.ts";
import { spanMs, verdictWords } from "./verdict-words.ts";

describe("a fleet verdict says", () => {
  it.each([
    [0, "1 minute"],
    [9 * minuteMs + secondMs, "10 minutes"],
    [90 * minuteMs, "90 minutes"],
    [90 * minuteMs + secondMs, "2 hours"],
    [5 * hourMs, "5 hours"],
  ])("within how long they began: %s ms", (withinMs, words) => {
    expect(verdictWords({ spiking: 120, withinMs })).toBe(`120 organizations began within ${words}: one cause`);
  });
});

it("the span of instants is from the first to the last, in any order", () => {
  expect([spanMs([]), spanMs([7]), spanMs([7, 2, 5])]).toEqual([0, 0, 5]);
});
