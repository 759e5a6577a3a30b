import { dayStartMs } from "../../../base/instant.ts";
import { largestCount } from "./fields.ts";

// Until the year 2286; an instant of fourteen digits may be after 9999.
const epochDigits = 13;

/**
 * Parses the usual forms from bytes, `YYYY-MM-DDTHH:MM:SS[.mmm]Z` and milliseconds since the epoch; NaN for other forms, which
 * readInstant parses.
 */
export function instantOf(bytes: Buffer, start: number, end: number): number {
  const length = end - start;
  if (length > 0 && length <= epochDigits) return digits(bytes, start, length);
  if ((length !== 20 && length !== 24) || bytes[end - 1] !== 0x5a || bytes[start + 10] !== 0x54) return Number.NaN;
  if (
    bytes[start + 4] !== 0x2d ||
    bytes[start + 7] !== 0x2d ||
    bytes[start + 13] !== 0x3a ||
    bytes[start + 16] !== 0x3a
  )
    return Number.NaN;
  const ms = length === 20 ? 0 : bytes[start + 19] === 0x2e ? digits(bytes, start + 20, 3) : Number.NaN;
  const hour = digits(bytes, start + 11, 2);
  const minute = digits(bytes, start + 14, 2);
  const second = digits(bytes, start + 17, 2);
  const year = digits(bytes, start, 4);
  if (!(hour <= 23 && minute <= 59 && second <= 59 && year >= 1970)) return Number.NaN;
  const dayMs = dayStartMs(year, digits(bytes, start + 5, 2), digits(bytes, start + 8, 2));
  return dayMs + ((hour * 60 + minute) * 60 + second) * 1_000 + ms;
}

/** Parses a decimal count; -1 if it is invalid. */
export function countOf(bytes: Buffer, start: number, end: number): number {
  if (end - start > 10) return -1;
  const count = digits(bytes, start, end - start);
  return count <= largestCount ? count : -1;
}

/** Parses `length` decimal digits; NaN if one is invalid. */
function digits(bytes: Buffer, start: number, length: number): number {
  let value = 0;
  for (let at = start; at < start + length; at++) {
    const digit = (bytes[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}
