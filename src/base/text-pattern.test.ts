import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { literalOf, literalPattern, matchesText } from "./text-pattern.ts";

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

describe("literalPattern", () => {
  const texts = fc.string({ unit: fc.constantFrom("a", "b", "*", "\\"), maxLength: 8 });

  it("matches the text and no other, and gives it back", () => {
    fc.assert(
      fc.property(texts, texts, (text, other) => {
        const pattern = literalPattern(text);
        expect(matchesText(pattern, text)).toBe(true);
        expect(matchesText(pattern, other)).toBe(other === text);
        expect(literalOf(pattern)).toBe(text);
      }),
    );
  });

  it("is the name itself where that is a slug as the platform has them", () => {
    expect(literalPattern("acme-eu.2_b")).toBe("acme-eu.2_b");
  });

  it.each([
    ["*", null],
    ["eu-*", null],
    [String.raw`eu-\*`, "eu-*"],
    [String.raw`eu-\\*`, null],
    [String.raw`eu-\\\*`, String.raw`eu-\*`],
    [String.raw`a\b`, String.raw`a\b`],
    ["a\\", "a\\"],
  ])("%s matches one text alone: %s", (pattern, text) => {
    expect(literalOf(pattern)).toBe(text);
  });
});
