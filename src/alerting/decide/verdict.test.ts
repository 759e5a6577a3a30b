import { describe, expect, it } from "vitest";

import { dayMs, hourMs, minuteMs, secondMs } from "../../base/time.ts";
import { incidentToJoin } from "./membership.ts";
import { usualNumber, weekMs, weeksLookedAt } from "./verdict.ts";

describe("weeksLookedAt", () => {
  it.each([
    ["all looks of 30 minutes at a short interval, at its busiest hours", 5 * minuteMs, 2.5 * 35 * minuteMs],
    ["hardly more than 30 minutes where it is looked at each second", secondMs, 2.5 * (30 * minuteMs + secondMs)],
    ["both looks where the interval is 30 minutes", 30 * minuteMs, 2.5 * hourMs],
    ["one look of an hour", hourMs, 2.5 * hourMs],
    ["a day at most of busy hours", 12 * hourMs, dayMs],
    ["a day, which has all hours", dayMs, dayMs],
    ["a week at most", 30 * dayMs, weekMs],
    ["nothing where no schedule is known", 0, 0],
  ])("is %s", (_, intervalMs, lookedAtMs) => {
    expect(weeksLookedAt(intervalMs) * weekMs).toBeCloseTo(lookedAtMs, 3);
  });
});

describe("usualNumber", () => {
  const loud = { weeksLookedAt: 10, fired: 20 };

  it("takes the rate of a large fleet after hours", () => {
    expect(usualNumber({ ...loud, organizations: 20_000, knownForMs: 20 * hourMs })).toBeCloseTo(2.6);
    expect(usualNumber({ ...loud, fired: 2_000, organizations: 20_000, knownForMs: 12 * hourMs })).toBeCloseTo(14);
  });

  it("does not take the rate of less than twenty organization-weeks", () => {
    expect(usualNumber({ ...loud, organizations: 20, knownForMs: weekMs - 1 })).toBeCloseTo(2.6);
    expect(usualNumber({ ...loud, organizations: 20, knownForMs: weekMs })).toBeCloseTo(10);
  });
});

describe("incidentToJoin", () => {
  const incident = { family: "deaths", firstFiredAtMs: 0, carrier: null, verdict: { startsAtMs: hourMs } };
  const join = (firingAtMs: number) =>
    incidentToJoin({ family: "deaths", firingAtMs, carrier: null }, [incident], 30 * minuteMs);

  it("takes what fires within a day of its fleet verdict, and nothing later", () => {
    expect(join(hourMs + dayMs)).toBe(incident);
    expect(join(hourMs + dayMs + 1)).toBeNull();
  });
});
