import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { latestInstantMs, readInstant } from "./instant.ts";

describe("instants that are read", () => {
  it.each([
    ["UTC", "2026-01-15T12:00:00Z", "2026-01-15T12:00:00.000Z"],
    ["a space in place of the T", "2026-01-15 12:00:00Z", "2026-01-15T12:00:00.000Z"],
    ["without seconds", "2026-01-15T12:00Z", "2026-01-15T12:00:00.000Z"],
    ["milliseconds", "2026-01-15T12:00:00.123Z", "2026-01-15T12:00:00.123Z"],
    ["nanoseconds, cut", "2026-01-15T12:00:00.123999999Z", "2026-01-15T12:00:00.123Z"],
    ["an offset ahead", "2026-01-15T12:00:00+02:30", "2026-01-15T09:30:00.000Z"],
    ["an offset behind", "2026-01-15T12:00:00-0500", "2026-01-15T17:00:00.000Z"],
    ["UTC in letters, as databases write it", "2026-01-15 12:00:00.123456 UTC", "2026-01-15T12:00:00.123Z"],
    ["a blank before the offset", "2026-01-15 12:00:00 +0100", "2026-01-15T11:00:00.000Z"],
    ["a comma before the milliseconds", "2026-01-15 12:00:00,123Z", "2026-01-15T12:00:00.123Z"],
    ["epoch ms", "1768478400000", "2026-01-15T12:00:00.000Z"],
    ["the epoch", "0", "1970-01-01T00:00:00.000Z"],
    ["the last instant", "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ])("%s", (_, text, expected) => {
    expect(readInstant(text)).toBe(Date.parse(expected));
  });
});

describe("texts that are no instants", () => {
  it.each([
    ["a day that does not exist", "2026-02-30T00:00:00Z", "is not a real date"],
    ["month 13", "2026-13-01T00:00:00Z", "is not a real date"],
    ["hour 24", "2026-01-15T24:00:00Z", "is not a real time"],
    ["a leap second", "2026-06-30T23:59:60Z", "is not a real time"],
    ["an offset of a day", "2026-01-15T12:00:00+24:00", "has no real offset"],
    ["no offset", "2026-01-15T12:00:00", "has no offset; add Z if it is UTC"],
    ["a date alone", "2026-01-15", "is neither ISO 8601"],
    ["before 1970", "1969-12-31T23:59:59Z", "is not between 1970 and 9999"],
    ["before 1970 by its offset", "1970-01-01T00:00:00+01:00", "is not between 1970 and 9999"],
    ["too many ms", String(latestInstantMs + 1), "is not between 1970 and 9999"],
    ["a fraction of ms", "1768478400000.5", "is neither ISO 8601"],
    ["a word", "yesterday", "is neither ISO 8601"],
    ["a date with text behind", "2026-01-15T12:00:00Zz", "is neither ISO 8601"],
  ])("%s", (_, text, problem) => {
    expect(readInstant(text)).toEqual(expect.stringContaining(problem));
  });
});

it("reads every instant that a Date writes", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: latestInstantMs }), (atMs) => {
      expect(readInstant(new Date(atMs).toISOString())).toBe(atMs);
    }),
  );
});
