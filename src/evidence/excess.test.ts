import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { dayMs, hourMs, minuteMs } from "../base/time.ts";
import { excessOf, longestPauseOf, type ExcessInput } from "./excess.ts";

const nowMs = 40 * dayMs;
const input = (buckets: ExcessInput["buckets"], given: Partial<ExcessInput> = {}): ExcessInput => ({
  buckets,
  windowMs: dayMs,
  expectedCount: 24,
  warnMultiplier: 2,
  longestPauseMs: 0,
  nowMs,
  ...given,
});
/** `deaths` in each minute of an hour that ended so long ago. */
const hourOf = (deaths: number, endedAgoMs: number): { atMs: number; deaths: number }[] =>
  Array.from({ length: 60 }, (_, index) => ({ atMs: nowMs - endedAgoMs - (59 - index) * minuteMs, deaths }));

describe("an excess", () => {
  it("goes on while the last hour is busy", () => {
    expect(excessOf(input(hourOf(5, minuteMs)))).toEqual({
      state: "ongoing",
      deathsLastHour: 295,
      usualPerHour: 1,
      stoppedAtMs: null,
    });
  });

  it("has stopped an hour after the last busy one, at its last death", () => {
    const buckets = hourOf(5, 2 * hourMs);

    expect(excessOf(input(buckets))).toMatchObject({
      state: "stopped",
      stoppedAtMs: nowMs - 2 * hourMs,
      deathsLastHour: 0,
    });
    expect(excessOf(input(buckets, { longestPauseMs: 3 * hourMs })).state).toBe("ongoing");
    expect(excessOf(input(hourOf(5, hourMs))).state).toBe("ongoing");
  });

  it("that came too thinly says nothing", () => {
    const thin = Array.from({ length: 24 }, (_, hour) => ({ atMs: nowMs - (23 - hour) * hourMs, deaths: 3 }));

    expect(excessOf(input(thin)).state).toBe("unclear");
    expect(excessOf(input([])).state).toBe("unclear");
    // A busy hour that holds less than half of it.
    expect(excessOf(input([...thin, { atMs: nowMs, deaths: 4 }])).state).toBe("unclear");
  });

  it("is what counting each death's hour says", () => {
    const someDeaths = fc.array(fc.tuple(fc.integer({ min: 0, max: 1_439 }), fc.integer({ min: 1, max: 6 })), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(someDeaths, (given) => {
        const byMinute = new Map(given);
        const buckets = [...byMinute]
          .map(([minute, deaths]) => ({ atMs: nowMs - minute * minuteMs, deaths }))
          .toSorted((left, right) => left.atMs - right.atMs);
        const within = (atMs: number) => buckets.filter((one) => one.atMs <= atMs && one.atMs > atMs - hourMs);
        const sum = (some: readonly { deaths: number }[]): number => some.reduce((all, { deaths }) => all + deaths, 0);
        const busy = buckets.filter(({ atMs }) => sum(within(atMs)) > 3);
        const held = sum(buckets.filter((one) => busy.some(({ atMs }) => within(atMs).includes(one))));
        const found = excessOf(input(buckets, { expectedCount: 12 }));
        const last = busy.at(-1)?.atMs ?? null;

        if (last === null || held < (sum(buckets) - 12) / 2) expect(found.state).toBe("unclear");
        else expect(found.stoppedAtMs).toBe(nowMs - last > hourMs ? last : null);
      }),
    );
  });
});

it("the longest pause is between two deaths", () => {
  expect(
    longestPauseOf([
      { atMs: 0, deaths: 1 },
      { atMs: 5, deaths: 1 },
      { atMs: 7, deaths: 1 },
    ]),
  ).toBe(5);
  expect(longestPauseOf([{ atMs: 3, deaths: 1 }])).toBe(0);
});
