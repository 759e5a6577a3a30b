import { describe, expect, it } from "vitest";

import { checkCronPattern } from "./cron-dialect.ts";
import { timezone } from "./values.ts";

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
    ["a range backwards", "0 17-9 * * *", '"0 17-9 * * *" is not a cron pattern: From value is larger than to value'],
    ["a step of 0", "*/0 * * * *", '"*/0 * * * *" is not a cron pattern: Syntax error, illegal stepping: 0'],
    [
      "a step after a number",
      "5/10 * * * *",
      '"5/10 * * * *" is not a cron pattern: Syntax error, stepping with numeric prefix',
    ],
    ["an empty item", "1,,2 * * * *", "no item of a list is empty"],
    ["February 31", "0 0 31 2 *", 'the schedule "0 0 31 2 *" never comes'],
  ])("refuses %s", (_rule, pattern, message) => {
    expect(checkCronPattern(pattern)).toContain(message);
  });
});

describe("timezone", () => {
  it.each(["UTC", "Europe/Berlin", "America/New_York", "Etc/UTC", "US/Eastern"])("knows %s", (name) => {
    expect(timezone.safeParse(name).success).toBe(true);
  });

  it.each(["Europe/Berln", "", "+01:00", "Mars/Olympus", " UTC"])("does not know %j", (name) => {
    expect(timezone.safeParse(name).success).toBe(false);
  });
});
