import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { evenIntervalMs, jitterOffsetMs, nextDueAtMs, staleAfterMs, ticksBetween } from "./schedule.ts";

const everyFiveMinutes = { pattern: "*/5 * * * *", timezone: "UTC", jitterMs: 0 };
const noonMs = Date.parse("2026-05-06T12:00:00Z");
const minute = 60_000;
const day = 86_400_000;

describe("the schedule", () => {
  it("refuses a pattern that never comes", () => {
    const never = { ...everyFiveMinutes, pattern: "0 0 31 2 *" };

    expect(() => nextDueAtMs(never, "acme", noonMs)).toThrow('the schedule "0 0 31 2 *" never comes');
  });

  it("spreads start times over the jitter, the same for a slug each time", () => {
    const offsets = Array.from({ length: 1_000 }, (_, index) => jitterOffsetMs(60_000, `organization-${index}`));

    const quarters = [0, 0, 0, 0];
    for (const offset of offsets)
      quarters[Math.floor(offset / 15_000)] = (quarters[Math.floor(offset / 15_000)] ?? 0) + 1;
    for (const count of quarters) expect(count).toBeGreaterThan(200);
    expect(jitterOffsetMs(60_000, "organization-7")).toBe(offsets[7]);
    // Pinned: another hash would move every organization's start times at an upgrade.
    expect(jitterOffsetMs(60_000, "acme")).toBe(35_105);
  });

  it.each([
    { rule: "from a tick, itself left out", fromMs: noonMs, toMs: noonMs + 15 * minute, count: 3 },
    { rule: "to right before a tick", fromMs: noonMs, toMs: noonMs + 15 * minute - 1, count: 2 },
    { rule: "nothing in between", fromMs: noonMs, toMs: noonMs + minute, count: 0 },
    { rule: "an empty span", fromMs: noonMs, toMs: noonMs, count: 0 },
    { rule: "a span that ends before it begins", fromMs: noonMs, toMs: noonMs - day, count: 0 },
    { rule: "up to the limit", fromMs: noonMs, toMs: noonMs + day, count: 100 },
  ])("counts ticks: $rule", ({ fromMs, toMs, count }) => {
    expect(ticksBetween(everyFiveMinutes, "acme", { fromMs, toMs, limit: 100 })).toBe(count);
  });

  it.each([
    ["three intervals", "*/5 * * * *", "2026-05-06T12:00:00Z", 15 * minute],
    ["at least two minutes", "*/10 * * * * *", "2026-05-06T12:00:00Z", 2 * minute],
    ["three intervals after a run between ticks", "*/5 * * * *", "2026-05-06T12:04:59Z", 15 * minute],
    ["fresh over a weekend", "0 9-17 * * 1-5", "2026-05-08T17:00:00Z", 66 * 3_600_000],
    ["three days", "@daily", "2026-05-06T10:00:00Z", 3 * day],
  ])("is stale after: %s", (_rule, pattern, lastRun, staleMs) => {
    expect(staleAfterMs({ ...everyFiveMinutes, pattern }, "acme", Date.parse(lastRun))).toBe(staleMs);
  });
});

describe("evenIntervalMs", () => {
  const hour = 60 * minute;

  it.each([
    { rule: "seconds", pattern: "*/10 * * * * *", intervalMs: 10_000 },
    { rule: "minutes", pattern: "*/5 * * * *", intervalMs: 5 * minute },
    { rule: "minutes that do not divide the hour", pattern: "*/7 * * * *", intervalMs: 7 * minute },
    { rule: "weekdays only", pattern: "*/10 * * * 1-5", intervalMs: 10 * minute },
    { rule: "office hours", pattern: "0 9-17 * * 1-5", intervalMs: hour },
    { rule: "once on weekdays", pattern: "0 6 * * 1-5", intervalMs: day },
    { rule: "daily, where a day has 23 hours once", pattern: "30 6 * * *", timezone: "Europe/Berlin", intervalMs: day },
    { rule: "weekly", pattern: "@weekly", intervalMs: 7 * day },
    { rule: "the days of one month", pattern: "0 6 * 6 *", intervalMs: day },
    { rule: "spread by jitter", pattern: "*/5 * * * *", jitterMs: 2 * minute, intervalMs: 5 * minute },
    { rule: "two intervals", pattern: "0 9,17 * * *", intervalMs: null },
    { rule: "three times a day", pattern: "0 9,12,15 * * *", intervalMs: null },
    { rule: "months, of which none is as long as the next", pattern: "@monthly", intervalMs: null },
    { rule: "years", pattern: "0 0 29 2 *", intervalMs: null },
  ])("of $rule", ({ pattern, timezone = "UTC", jitterMs = 0, intervalMs }) => {
    expect(evenIntervalMs({ pattern, timezone, jitterMs })).toBe(intervalMs);
  });
});

describe("laws of the schedule", () => {
  const schedule = fc.record({
    pattern: fc.constantFrom("* * * * *", "*/7 * * * *", "30 2 * * *", "0 9-17 * * 1-5", "15 */6 * * *", "@weekly"),
    timezone: fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"),
    jitterMs: fc.constantFrom(0, 1, 30_000, 7_200_000),
  });
  const instant = fc.integer({ min: Date.parse("2026-01-01T00:00:00Z"), max: Date.parse("2027-01-01T00:00:00Z") });

  it("shifts every tick by less than the jitter, and keeps their order", () => {
    fc.assert(
      fc.property(schedule, instant, fc.string(), (schedule, afterMs, slug) => {
        const first = nextDueAtMs(schedule, slug, afterMs);
        const second = nextDueAtMs(schedule, slug, first);
        const offset = jitterOffsetMs(schedule.jitterMs, slug);
        const unjittered = { ...schedule, jitterMs: 0 };

        expect(offset).toBeGreaterThanOrEqual(0);
        expect(offset).toBeLessThan(Math.max(1, schedule.jitterMs));
        expect(first).toBeGreaterThan(afterMs);
        expect(second).toBeGreaterThan(first);
        expect(nextDueAtMs(unjittered, slug, first - offset - 1)).toBe(first - offset);
        expect(nextDueAtMs(unjittered, slug, first - offset)).toBe(second - offset);
      }),
      { numRuns: 60 },
    );
  });

  it("counts every tick once, wherever a span is cut", () => {
    fc.assert(
      fc.property(schedule, instant, fc.nat(3 * day), fc.nat(3 * day), (schedule, fromMs, leftMs, rightMs) => {
        const limit = 100_000;
        const count = (fromMs: number, toMs: number): number => ticksBetween(schedule, "acme", { fromMs, toMs, limit });
        const cutMs = fromMs + leftMs;

        expect(count(fromMs, cutMs) + count(cutMs, cutMs + rightMs)).toBe(count(fromMs, cutMs + rightMs));
      }),
      { numRuns: 8 },
    );
  });
});
