import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { nextCronAtMs } from "../cron.ts";
import { checkCronPattern, isTimezone } from "./cron-dialect.ts";

describe("checkCronPattern", () => {
  it.each([
    "* * * * *",
    "*/5 * * * *",
    "*/10 * * * * *",
    "0 9-17/2 * JAN-MAR MON-FRI",
    "0 0 1,15 * *",
    "0 0 * * 7",
    "0 0 * * fri-sun",
    "0 0 * * 5-7",
    "0 0 29 2 *",
    "0 0 31 2 MON",
    "5,10,*/30 * * * *",
    "  0\t0  * * *  ",
    "@yearly",
    "@monthly",
    "@weekly",
    "@daily",
    "@hourly",
  ])("accepts %j", (pattern) => {
    expect(checkCronPattern(pattern)).toBeNull();
  });

  it.each([
    ["too few fields", "* * * *", "this has 4"],
    ["a seventh field", "0 0 0 1 1 * 2027", "this has 7"],
    ["@reboot", "@reboot", '"@reboot" is not one of'],
    ["a shortcut in capitals", "@DAILY", '"@DAILY" is not one of'],
    ["L in the day", "0 0 L * *", 'day of month "L": "L" is not in 1-31'],
    ["#", "0 0 * * MON#1", 'day of week "MON#1": may hold numbers'],
    ["a random minute", "0~30 * * * *", 'minute "0~30": may hold numbers'],
    ["a minute of 60", "60 * * * *", 'minute "60": "60" is not in 0-59'],
    ["a name in the wrong field", "0 0 MON * *", 'day of month "MON": "MON" is not in 1-31'],
    ["a range backwards", "0 17-9 * * *", 'hour "17-9": a range goes from the smaller to the larger'],
    ["a step of 0", "*/0 * * * *", 'minute "*/0": a step is from 1 to 60'],
    ["a step after a number", "5/10 * * * *", 'minute "5/10": a step needs * or a range before it'],
    ["an empty item", "1,,2 * * * *", 'minute "1,,2": an item of the list is empty'],
    ["February 31", "0 0 31 2 *", 'the schedule "0 0 31 2 *" never comes'],
  ])("refuses %s", (_rule, pattern, message) => {
    expect(checkCronPattern(pattern)).toContain(message);
  });

  it("accepts nothing that the calculator of runs refuses", () => {
    const field = (min: number, max: number, names: readonly string[] = []): fc.Arbitrary<string> => {
      const number = fc.integer({ min, max });
      const range = fc.tuple(number, number).map(([one, other]) => `${Math.min(one, other)}-${Math.max(one, other)}`);
      const step = fc.integer({ min: 1, max: Math.min(max, max - min + 1) });
      const item = fc.oneof(
        fc.constant("*"),
        number.map(String),
        range,
        step.map((every) => `*/${every}`),
        fc.tuple(range, step).map(([from, every]) => `${from}/${every}`),
        ...names.map((name) => fc.constant(name)),
      );
      return fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(","));
    };
    const pattern = fc
      .tuple(
        fc.option(field(0, 59), { nil: "" }),
        field(0, 59),
        field(0, 23),
        field(1, 31),
        field(1, 12, ["JAN", "dec", "FEB-MAR"]),
        field(0, 7, ["SUN", "mon", "FRI-SUN", "SUN-SAT", "MON-SUN/2"]),
      )
      .map((texts) => texts.join(" "));
    fc.assert(
      fc.property(pattern, (pattern) => {
        const problem = checkCronPattern(pattern);

        if (problem === null) expect(nextCronAtMs({ pattern, timezone: "UTC" }, 0)).not.toBeNull();
        else expect(problem).toContain("never comes");
      }),
      { numRuns: 200 },
    );
  });
});

describe("isTimezone", () => {
  it.each(["UTC", "Europe/Berlin", "America/New_York", "Etc/UTC", "US/Eastern"])("knows %s", (timezone) => {
    expect(isTimezone(timezone)).toBe(true);
  });

  it.each(["Europe/Berln", "", "+01:00", "Mars/Olympus", " UTC"])("does not know %j", (timezone) => {
    expect(isTimezone(timezone)).toBe(false);
  });
});
