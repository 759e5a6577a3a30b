import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { coversPattern, matchesText } from "./text-pattern.ts";

describe("matchesText", () => {
  it("agrees with a regular expression for any pattern", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "*", "."), maxLength: 12 });
    fc.assert(
      fc.property(text, text, (pattern, value) => {
        const expression = new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
        expect(matchesText(pattern, value)).toBe(expression.test(value));
      }),
    );
  });
});

describe("coversPattern", () => {
  it.each([
    ["*", "a", true],
    ["*", "*", true],
    ["eu-*", "eu-*", true],
    ["eu-*", "eu-a-*", true],
    ["eu-*", "eu-*-b", true],
    ["e*-*", "eu-*", true],
    ["eu-*", "eu*", false],
    ["eu-*", "*", false],
    ["eu-*", "us-*", false],
    ["eu-*", "EU-a", false],
    ["acme", "acme", true],
    ["acme", "acme*", false],
    ["acme", "*cme", false],
  ])("%s covers %s: %s", (outer, inner, expected) => {
    expect(coversPattern(outer, inner)).toBe(expected);
  });

  it("holds for every text that the inner pattern matches", () => {
    const pattern = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 6 });
    const filling = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 4 });
    fc.assert(
      fc.property(pattern, pattern, filling, (outer, inner, text) => {
        if (coversPattern(outer, inner)) expect(matchesText(outer, inner.replaceAll("*", text))).toBe(true);
      }),
    );
  });
});
