import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { matchesText } from "./text-pattern.ts";

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
