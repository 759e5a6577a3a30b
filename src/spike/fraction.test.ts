import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { compareFractions, decimalFraction } from "./fraction.ts";

describe("decimalFraction", () => {
  it("is the shortest decimal, whatever the exponent", () => {
    fc.assert(
      fc.property(fc.double({ min: Number.MIN_VALUE, max: Number.MAX_VALUE, noNaN: true }), (value) => {
        const { numerator, denominator } = decimalFraction(value);
        const digits = denominator.toString().length - 1;

        expect(Number(`${numerator}e-${digits}`)).toBe(value);
      }),
    );
  });

  it.each([
    [1e-7, 1n, 10_000_000n],
    [1.5e21, 15n * 10n ** 20n, 1n],
    [0.1, 1n, 10n],
    [2, 2n, 1n],
  ])("%d", (value, numerator, denominator) => {
    expect(compareFractions(decimalFraction(value), { numerator, denominator })).toBe(0);
  });
});
