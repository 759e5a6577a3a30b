import { describe, expect, it } from "vitest";

import { nearestName, suggest } from "./suggestions.ts";

const known = ["slug", "failMultiplier", "warnMultiplier", "minSpikeCount", "url", "urlFile"];

describe("nearestName", () => {
  it.each([
    ["a letter too few", "slg", "slug"],
    ["a letter too many", "sluug", "slug"],
    ["another letter", "slag", "slug"],
    ["two letters swapped", "slgu", "slug"],
    ["another case style", "fail_multiplier", "failMultiplier"],
    ["another case", "URL", "url"],
    ["a beginning", "failMult", "failMultiplier"],
    ["a longer word", "sluggish", "slug"],
    ["the nearest of two", "falMultiplier", "failMultiplier"],
  ])("finds %s", (_name, written, meant) => {
    expect(nearestName(written, known)).toBe(meant);
  });

  it.each(["x", "colour", "multiplier", ""])("finds nothing near %j", (written) => {
    expect(nearestName(written, known)).toBeNull();
  });
});

describe("suggest", () => {
  it("asks in words, or says nothing", () => {
    expect(suggest("slg", known)).toBe('; did you mean "slug"?');
    expect(suggest("colour", known)).toBe("");
  });
});
