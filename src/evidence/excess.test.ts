import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { dayMs, hourMs, minuteMs } from "../base/time.ts";
import { excessOf, longestPauseOf, type ExcessInput } from "./excess.ts";

const nowMs = 40 * dayMs;
const input = (buckets: ExcessInput["buckets"], given: Partial<ExcessInput> = {}): ExcessInput => ({
  buckets,
  windowMs: dayMs,
  currentCount: 10_000,
  expectedCount: 24,
  warnMultiplier: 2,
  longestPauseMs: 0,
  nowMs,
  ...given,
});
/** `deaths` in each minute of an hour that ended so long ago. */
const hourOf = (deaths: number, endedAgoMs: number): { atMs: number; deaths: number }[] =>
  Array.from({ length: 60 }, (_, index) => ({ atMs: nowMs - endedAgoMs - (59 - index) * minuteMs, deaths }));

/** One death so long ago. */
const one = (agoMs: number): { atMs: number; deaths: number } => ({ atMs: nowMs - agoMs, deaths: 1 });

describe("an excess", () => {
  it("is ongoing while the last busy hour ended at most 1 h ago", () => {
    expect(excessOf(input(hourOf(5, minuteMs)))).toEqual({
      state: "ongoing",
      deathsLastHour: 295,
      usualPerHour: 1,
      quietSinceMs: null,
      expectedEndAtMs: null,
    });
    expect(excessOf(input(hourOf(5, hourMs))).state).toBe("ongoing");
    expect(excessOf(input(hourOf(5, hourMs + minuteMs))).state).toBe("stopped");
  });

  it("has no more deaths in the last hour than the result has in its window", () => {
    expect(excessOf(input(hourOf(5, minuteMs), { currentCount: 180 })).deathsLastHour).toBe(180);
  });

  it("has stopped when that is longer ago than the longest usual pause, and leaves the window a window later", () => {
    const buckets = hourOf(5, 2 * hourMs);

    expect(excessOf(input(buckets, { longestPauseMs: 2 * hourMs - minuteMs }))).toMatchObject({
      state: "stopped",
      quietSinceMs: nowMs - 2 * hourMs,
      deathsLastHour: 0,
      expectedEndAtMs: nowMs + 22 * hourMs,
    });
  });

  it("may be over, which is unclear, within a usual pause, and has no end to expect", () => {
    expect(excessOf(input(hourOf(5, 2 * hourMs), { longestPauseMs: 2 * hourMs }))).toMatchObject({
      state: "unclear",
      quietSinceMs: nowMs - 2 * hourMs,
      expectedEndAtMs: null,
    });
  });

  it("has stopped within a usual pause when three deaths have come since: the checker works", () => {
    const buckets = hourOf(5, 4 * hourMs);
    const since = [one(3 * hourMs), one(2 * hourMs), one(hourMs)];
    const ask = { longestPauseMs: 6 * hourMs };

    expect(excessOf(input([...buckets, ...since.slice(1)], ask)).state).toBe("unclear");
    expect(excessOf(input([...buckets, ...since], ask))).toMatchObject({
      state: "stopped",
      quietSinceMs: nowMs - 4 * hourMs,
    });
  });

  it("is busy in hours with more than three deaths, and more than warnMultiplier times the usual number", () => {
    // The fourth death is the fourth within an hour, the last one alone again.
    const four = [180, 160, 140, 121, 60].map((minutes) => one(minutes * minuteMs));
    const ask = { expectedCount: 1 };

    expect(excessOf(input(four, ask))).toMatchObject({ state: "stopped", quietSinceMs: nowMs - 121 * minuteMs });
    expect(excessOf(input(four.slice(1), ask)).state).toBe("unclear");
    // 36 a day are 1.5 an hour: four are more than 2 × 1.5, five not more than 4 × 1.5.
    const usual = { expectedCount: 36 };
    expect(excessOf(input(four, usual))).toMatchObject({ state: "stopped", usualPerHour: 1.5 });
    expect(excessOf(input(four, { ...usual, warnMultiplier: 4 })).state).toBe("unclear");
  });

  it("is unclear when the busy hours hold less than half of it", () => {
    const thin = Array.from({ length: 24 }, (_, hour) => ({ atMs: nowMs - (23 - hour) * hourMs, deaths: 3 }));

    expect(excessOf(input(thin)).state).toBe("unclear");
    expect(excessOf(input([])).state).toBe("unclear");
    // 76 deaths of which 24 are usual: 26 are half of it.
    const burst = (deaths: number) => [...thin, { atMs: nowMs, deaths }];
    expect(excessOf(input(burst(4)))).toMatchObject({ state: "unclear", quietSinceMs: null });
    expect(excessOf(input([...thin.slice(0, 15), { atMs: nowMs, deaths: 20 }]))).toMatchObject({ state: "unclear" });
    expect(excessOf(input([...thin.slice(0, 15), { atMs: nowMs, deaths: 21 }]))).toMatchObject({ state: "ongoing" });
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
        else expect(found.quietSinceMs).toBe(nowMs - last > hourMs ? last : null);
      }),
    );
  });
});

it("the longest pause is between two deaths", () => {
  expect(longestPauseOf([0, 5, 7].map((atMs) => ({ atMs, deaths: 1 })))).toBe(5);
  expect(longestPauseOf([{ atMs: 3, deaths: 1 }])).toBe(0);
});
