import { Cron } from "croner";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { parseCronPattern } from "./cron-pattern.ts";

function next(text: string, after: string): string | null {
  const pattern = parseCronPattern(text);
  if (typeof pattern === "string") throw new Error(pattern);
  const atMs = pattern.next(Date.parse(after));
  return atMs === null ? null : new Date(atMs).toISOString();
}

describe("a cron pattern", () => {
  it.each([
    ["is strictly later, to the millisecond", "* * * * * *", "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:01.000Z"],
    ["begins with whole seconds", "* * * * * *", "2026-01-01T00:00:00.001Z", "2026-01-01T00:00:01.000Z"],
    ["goes on in the next minute", "30 * * * * *", "2026-01-01T00:00:30.000Z", "2026-01-01T00:01:30.000Z"],
    ["goes on in the next hour", "0 10 * * * *", "2026-01-01T00:10:00.000Z", "2026-01-01T01:10:00.000Z"],
    ["goes on in the next year", "0 0 1 1 *", "2026-01-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"],
    ["takes either day where both are said", "0 0 13 * 5", "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"],
    ["takes both days where one is a step", "0 0 */2 * 5", "2026-01-01T00:00:00.000Z", "2026-01-09T00:00:00.000Z"],
    ["takes Sunday at the end of a range", "0 0 * * FRI-SUN", "2026-01-03T00:00:00.000Z", "2026-01-04T00:00:00.000Z"],
    [
      "waits for a leap day over a century without",
      "0 0 29 2 *",
      "2096-03-01T00:00:00.000Z",
      "2104-02-29T00:00:00.000Z",
    ],
    [
      "waits decades for a leap day on a Monday",
      "0 0 29 2 */7",
      "2026-01-01T00:00:00.000Z",
      "2032-02-29T00:00:00.000Z",
    ],
  ])("%s", (_rule, text, after, expected) => {
    expect(next(text, after)).toBe(expected);
  });

  it.each(["0 0 31 2 *", "0 0 30 2 *", "0 0 31 4,6,9,11 *"])("never comes: %s", (text) => {
    expect(next(text, "2026-01-01T00:00:00.000Z")).toBeNull();
  });

  it("comes when croner says so", () => {
    const field = (min: number, max: number): fc.Arbitrary<string> => {
      const number = fc.integer({ min, max });
      const range = fc.tuple(number, number).map(([one, other]) => `${Math.min(one, other)}-${Math.max(one, other)}`);
      const step = fc.integer({ min: 1, max: max - min + 1 });
      const item = fc.oneof(
        { weight: 3, arbitrary: fc.constant("*") },
        number.map(String),
        range,
        step.map((every) => `*/${every}`),
        fc.tuple(range, step).map(([span, every]) => `${span}/${every}`),
      );
      return fc.array(item, { minLength: 1, maxLength: 2 }).map((items) => items.join(","));
    };
    const texts = fc.tuple(field(0, 59), field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6));
    const afterMs = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2040, 0, 1) });

    fc.assert(
      fc.property(texts, afterMs, (texts, afterMs) => {
        const [, , , day, , weekday] = texts;
        const options = { utcOffset: 0, paused: true, domAndDow: day.startsWith("*") || weekday.startsWith("*") };
        const expected = new Cron(texts.join(" "), options).nextRun(new Date(afterMs));

        const pattern = parseCronPattern(texts.join(" "));

        expect(pattern).toBeTypeOf("object");
        if (typeof pattern !== "string") expect(pattern.next(afterMs)).toBe(expected?.getTime() ?? null);
      }),
      { numRuns: 300 },
    );
  });
});
