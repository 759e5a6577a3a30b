import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { isLong } from "../../test/support/tier.ts";
import { checkCronPattern, nextCronAtMs } from "./cron.ts";
import { timezone } from "./schema/values.ts";

function next(pattern: string, timezone: string, after: string, count: number): string[] {
  const found: string[] = [];
  for (let atMs = Date.parse(after); found.length < count;) {
    const nextMs = nextCronAtMs({ pattern, timezone }, atMs);
    if (nextMs === null) break;
    found.push(new Date(nextMs).toISOString().replace(":00.000Z", "Z"));
    atMs = nextMs;
  }
  return found;
}

describe("cron times", () => {
  it.each<[string, string, string[], string?]>([
    ["five fields", "*/5 * * * *", ["2026-01-01T00:05Z"]],
    ["strictly after", "5 0 * * *", ["2026-01-02T00:05Z"], "2026-01-01T00:05:00Z"],
    ["six fields, seconds first", "30 5 0 * * *", ["2026-01-01T00:05:30.000Z"]],
    ["names", "0 9 * jan mon-fri", ["2026-01-05T09:00Z"], "2026-01-02T09:00:00Z"],
    ["Sunday is 0 and 7", "0 0 * * 7", ["2026-01-04T00:00Z"]],
    ["@hourly", "@hourly", ["2026-01-01T01:00Z"]],
    ["@daily", "@daily", ["2026-01-02T00:00Z"]],
    ["@weekly", "@weekly", ["2026-01-04T00:00Z"]],
    ["@monthly", "@monthly", ["2026-02-01T00:00Z"]],
    ["@yearly", "@yearly", ["2027-01-01T00:00Z"]],
    ["day of month or day of week", "0 0 13 * 5", ["2026-01-02T00:00Z", "2026-01-09T00:00Z", "2026-01-13T00:00Z"]],
    ["a starred day of month restricts the day of week", "0 0 */2 * 5", ["2026-01-09T00:00Z", "2026-01-23T00:00Z"]],
    ["leap day", "0 0 29 2 *", ["2028-02-29T00:00Z"]],
    ["a date that never comes", "0 0 31 2 *", []],
  ])("%s: %s", (_rule, pattern, is, after = "2026-01-01T00:00:00Z") => {
    expect(next(pattern, "UTC", after, Math.max(1, is.length))).toEqual(is);
  });

  // Changes of offset in 2026. Berlin: 02:00 → 03:00 on 29 March (01:00Z), 03:00 → 02:00 on 25 October (01:00Z).
  // Lord Howe: 02:00 → 01:30 on 5 April (4 April 15:00Z), 02:00 → 02:30 on 4 October (3 October 15:30Z). Beirut:
  // 00:00 → 01:00 on 29 March (28 March 22:00Z). Havana: 01:00 → 00:00 on 1 November (05:00Z). Troll: 01:00 → 03:00
  // on 29 March (01:00Z).
  it.each([
    [
      "a fixed time in the skipped hour runs at the first instant after it",
      "30 2 * * *",
      "Europe/Berlin",
      "2026-03-28T12:00:00Z",
      ["2026-03-29T01:00Z", "2026-03-30T00:30Z"],
    ],
    [
      "a fixed time in the repeated hour runs the first time only",
      "30 2 * * *",
      "Europe/Berlin",
      "2026-10-24T12:00:00Z",
      ["2026-10-25T00:30Z", "2026-10-26T01:30Z"],
    ],
    [
      "a wildcard hour runs in both",
      "30 * * * *",
      "Europe/Berlin",
      "2026-10-25T00:00:00Z",
      ["2026-10-25T00:30Z", "2026-10-25T01:30Z", "2026-10-25T02:30Z"],
    ],
    [
      "half an hour repeated, fixed",
      "45 1 * * *",
      "Australia/Lord_Howe",
      "2026-04-04T00:00:00Z",
      ["2026-04-04T14:45Z", "2026-04-05T15:15Z"],
    ],
    ["midnight skipped", "@daily", "Asia/Beirut", "2026-03-28T12:00:00Z", ["2026-03-28T22:00Z", "2026-03-29T21:00Z"]],
    ["a day skipped", "0 12 * * *", "Pacific/Apia", "2011-12-29T23:00:00Z", ["2011-12-30T10:00Z", "2011-12-30T22:00Z"]],
  ])("%s: %s in %s", (_rule, pattern, timezone, after, is) => {
    expect(next(pattern, timezone, after, is.length)).toEqual(is);
  });

  it.each([
    { what: "a field too few", pattern: "* * * *", timezone: "UTC" },
    { what: "seven fields", pattern: "0 0 0 1 1 * 2027", timezone: "UTC" },
    { what: "an hour that does not exist", pattern: "0 24 * * *", timezone: "UTC" },
    { what: "a timezone that does not exist", pattern: "0 0 * * *", timezone: "Europe/Atlantis" },
  ])("refuses $what", ({ pattern, timezone }) => {
    expect(() => nextCronAtMs({ pattern, timezone }, 0)).toThrow(expect.objectContaining({ code: "invalid_config" }));
  });
});

describe("laws of cron times", () => {
  const minuteField = fc.constantFrom("*", "0", "30", "*/20", "15,45", "50-59");
  const hourField = fc.constantFrom("*", "*/2", "*/5", "0", "1", "2", "3", "0,2", "1-3", "23");
  const dayField = fc.constantFrom("*", "0", "6", "1-5");
  const pattern = fc
    .tuple(minuteField, hourField, dayField)
    .map(([minute, hour, day]) => `${minute} ${hour} * * ${day}`);
  const changes = [
    ["UTC", "2026-06-01T00:00:00Z"],
    ["Europe/Berlin", "2026-03-29T01:00:00Z"],
    ["Europe/Berlin", "2026-10-25T01:00:00Z"],
    ["America/New_York", "2026-11-01T06:00:00Z"],
    ["Australia/Lord_Howe", "2026-04-04T15:00:00Z"],
    ["Australia/Lord_Howe", "2026-10-03T15:30:00Z"],
    ["Asia/Beirut", "2026-03-28T22:00:00Z"],
    ["America/Havana", "2026-11-01T05:00:00Z"],
    ["Antarctica/Troll", "2026-03-29T01:00:00Z"],
    ["Asia/Kathmandu", "2026-03-29T01:00:00Z"],
  ] as const;

  it("are what trying every minute around a change of offset finds", () => {
    fc.assert(
      fc.property(
        pattern,
        fc.constantFrom(...changes),
        fc.integer({ min: -720, max: 0 }),
        (text, [timezone, change], startMinutes) => {
          const fromMs = Date.parse(change) + startMinutes * 60_000;
          const untilMs = fromMs + 24 * 3_600_000;

          const found: number[] = [];
          for (let atMs = nextCronAtMs({ pattern: text, timezone }, fromMs); atMs !== null && atMs <= untilMs;) {
            found.push(atMs);
            atMs = nextCronAtMs({ pattern: text, timezone }, atMs);
          }

          expect(found).toEqual(bruteForce(text, timezone, fromMs, untilMs));
        },
      ),
      { numRuns: isLong ? 500 : 12 },
    );
  });
});

/** Tries every minute of two days on either side: Intl gives its local time, this spells out CONTRACT 5. */
function bruteForce(text: string, timezone: string, fromMs: number, untilMs: number): number[] {
  const format = new Intl.DateTimeFormat("en-GB", { timeZone: timezone, dateStyle: "short", timeStyle: "short" });
  const [minute = "", hour = "", , , day = ""] = text.split(" ");
  const matches = (localMs: number): boolean => {
    const local = new Date(localMs);
    return isIn(minute, local.getUTCMinutes()) && isIn(hour, local.getUTCHours()) && isIn(day, local.getUTCDay());
  };
  const minutes: { atMs: number; localMs: number }[] = [];
  for (let atMs = fromMs - 2 * 86_400_000; atMs <= untilMs + 2 * 86_400_000; atMs += 60_000) {
    const [, d, m, y, h, i] = /(\d+)\/(\d+)\/(\d+), (\d+):(\d+)/.exec(format.format(atMs)) ?? [];
    minutes.push({ atMs, localMs: Date.UTC(Number(y), Number(m) - 1, Number(d), Number(h), Number(i)) });
  }
  const due = new Set<number>();
  if (/[*/]/.test(hour)) {
    for (const { atMs, localMs } of minutes) if (matches(localMs)) due.add(atMs);
  } else {
    const firstAtMs = new Map<number, number>();
    for (const { atMs, localMs } of minutes) if (!firstAtMs.has(localMs)) firstAtMs.set(localMs, atMs);
    let latestMs = Math.min(...firstAtMs.keys());
    for (const { atMs, localMs } of minutes) {
      for (let skippedMs = latestMs + 60_000; skippedMs < localMs; skippedMs += 60_000)
        if (matches(skippedMs)) due.add(atMs);
      if (firstAtMs.get(localMs) === atMs && matches(localMs)) due.add(atMs);
      latestMs = Math.max(latestMs, localMs);
    }
  }
  return [...due].filter((atMs) => atMs > fromMs && atMs <= untilMs).toSorted((left, right) => left - right);
}

function isIn(field: string, value: number): boolean {
  return field.split(",").some((part) => {
    const step = /^\*(?:\/(\d+))?$/.exec(part);
    if (step !== null) return value % Number(step[1] ?? 1) === 0;
    const [low = 0, high = low] = part.split("-").map(Number);
    return value >= low && value <= high;
  });
}

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
