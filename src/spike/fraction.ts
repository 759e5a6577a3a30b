/** An exact rational number; the denominator is > 0. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Returns a negative number, 0 or a positive one, as `left` is less than, equal to or greater than `right`. */
export function compareFractions(left: Fraction, right: Fraction): number {
  const difference = left.numerator * right.denominator - right.numerator * left.denominator;
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

/** Returns the product, not reduced. */
export function multiplyFractions(left: Fraction, right: Fraction): Fraction {
  return { numerator: left.numerator * right.numerator, denominator: left.denominator * right.denominator };
}

/**
 * Returns a finite number as the decimal that JSON shows: 1.1 is 11/10, not the double next to it. Reads exponents:
 * 1e-7, 1.5e+21.
 */
export function decimalFraction(value: number): Fraction {
  const [mantissa = "", exponentText = "0"] = String(value).split("e");
  const [whole = "", decimals = ""] = mantissa.split(".");
  const exponent = Number(exponentText) - decimals.length;
  const digits = BigInt(whole + decimals);
  return exponent >= 0
    ? { numerator: digits * 10n ** BigInt(exponent), denominator: 1n }
    : { numerator: digits, denominator: 10n ** BigInt(-exponent) };
}
