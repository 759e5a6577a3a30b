import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { evaluateSpike } from "./evaluate.ts";
import { excludedBaseline, wholeBaseline, type ExcludedStretch } from "./exclusion.ts";
import { medianDays } from "./median.ts";
import { spikeWindow } from "./window.ts";

const hourMs = 3_600_000;
const minuteMs = 60_000;
const nowMs = Date.UTC(2026, 0, 15, 12, 0, 30, 7);
const thresholds = { windowHours: 24, baselineDays: 7, warnMultiplier: 2, failMultiplier: 4, minSpikeCount: 10 };
const startMs = nowMs - 8 * 24 * hourMs;
const stretch = (fromHour: number, toHour: number): ExcludedStretch => ({
  fromMs: startMs + fromHour * hourMs,
  toMs: startMs + toHour * hourMs,
});
const mean = (stretches: readonly ExcludedStretch[]) =>
  excludedBaseline({ nowMs, thresholds, baseline: "mean", stretches });
const median = (stretches: readonly ExcludedStretch[]) =>
  excludedBaseline({ nowMs, thresholds, baseline: "median", stretches });

describe("what leaves a mean", () => {
  it.each([
    { rule: "nothing, without an incident", stretches: [], exclusion: "none", hours: 0 },
    { rule: "nothing of one before the baseline", stretches: [stretch(-30, -1)], exclusion: "none", hours: 0 },
    { rule: "nothing of one in the window", stretches: [stretch(169, 180)], exclusion: "none", hours: 0 },
    { rule: "half of the baseline", stretches: [stretch(0, 83)], exclusion: "applied", hours: 83 },
    {
      rule: "nothing, where less than half would be left",
      stretches: [stretch(0, 85)],
      exclusion: "too_much",
      hours: 0,
    },
    { rule: "what two share once", stretches: [stretch(10, 14), stretch(12, 20)], exclusion: "applied", hours: 10 },
    { rule: "two that are apart", stretches: [stretch(30, 31), stretch(10, 12)], exclusion: "applied", hours: 3 },
  ] as const)("is $rule", ({ stretches, exclusion, hours }) => {
    const found = mean(stretches);

    expect(found.exclusion).toBe(exclusion);
    // Whole minutes, outward: at most one more for each end.
    expect(found.excludedMs / hourMs).toBeGreaterThanOrEqual(hours);
    expect(found.excludedMs / minuteMs).toBeLessThanOrEqual(hours * 60 + 2 * stretches.length);
  });

  it("is what a minute by minute count leaves out", () => {
    const minute = fc.integer({ min: -300, max: 9 * 24 * 60 });
    const some = fc.array(fc.tuple(minute, fc.integer({ min: 0, max: 1_500 }), fc.integer({ min: 0, max: 59_999 })), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(some, (parts) => {
        const stretches = parts.map(([from, length, ms]) => ({
          fromMs: startMs + from * minuteMs + ms,
          toMs: startMs + (from + length) * minuteMs + ms,
        }));
        const { baselineStartMs, windowStartMs } = spikeWindow(nowMs, thresholds);
        let leftOutMs = 0;
        // An instant t is of the minute that it lies in; the baseline is (baselineStartMs, windowStartMs].
        for (let from = Math.floor(baselineStartMs / minuteMs) * minuteMs; from <= windowStartMs; from += minuteMs) {
          const isIn = stretches.some(({ fromMs, toMs }) => fromMs < toMs && fromMs < from + minuteMs && toMs > from);
          const first = Math.max(from, baselineStartMs + 1);
          const last = Math.min(from + minuteMs - 1, windowStartMs);
          if (isIn && last >= first) leftOutMs += last - first + 1;
        }
        const isTooMuch = 2 * leftOutMs > windowStartMs - baselineStartMs;

        const found = mean(stretches.filter(({ fromMs, toMs }) => fromMs < toMs));

        expect(found.excludedMs).toBe(isTooMuch ? 0 : leftOutMs);
        expect(found.exclusion).toBe(isTooMuch ? "too_much" : leftOutMs === 0 ? "none" : "applied");
      }),
    );
  });

  it("does not depend on the order of the incidents", () => {
    const some = fc.array(fc.tuple(fc.integer({ min: -20, max: 200 }), fc.integer({ min: 0, max: 30 })), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(some, fc.infiniteStream(fc.integer()), (parts, order) => {
        const stretches = parts.map(([from, length]) => stretch(from, from + length));
        const keys = stretches.map(() => order.next().value);
        const shuffled = [...stretches.keys()]
          .toSorted((left, right) => (keys[left] ?? 0) - (keys[right] ?? 0))
          .flatMap((index) => stretches[index] ?? []);

        expect(mean(shuffled)).toEqual(mean(stretches));
        expect(median(shuffled)).toEqual(median(stretches));
      }),
    );
  });
});

describe("what leaves a median", () => {
  it("is each day whose slice an incident touches", () => {
    const [latest] = medianDays(nowMs, thresholds);
    const untilMs = latest?.untilMs ?? 0;

    const found = median([{ fromMs: untilMs - 5 * minuteMs, toMs: untilMs }]);

    expect(found).toMatchObject({ exclusion: "applied", excludedMs: 24 * hourMs });
    expect(found.days).toEqual([true, false, false, false, false, false, false]);
  });

  it("is none where less than half of the days would be left", () => {
    expect(median([stretch(0, 71)]).exclusion).toBe("applied");
    expect(median([stretch(0, 96)])).toMatchObject({ exclusion: "too_much", days: [], excludedMs: 0 });
  });
});

describe("an evaluation", () => {
  const counts = { slug: "acme", nowMs, thresholds, currentCount: 40, baselineCount: 84 };

  it("without anything left out differs in nothing but that it says so", () => {
    const plain = evaluateSpike(counts);

    expect(evaluateSpike({ ...counts, excluded: wholeBaseline })).toEqual({
      ...plain,
      observed: { ...plain.observed, baselineExclusion: "none" },
      threshold: { ...plain.threshold, baselineExcludedHours: 0 },
    });
    expect(plain.observed).not.toHaveProperty("baselineExclusion");
  });

  it("expects of the hours that are left what died in them", () => {
    const excluded = { ...wholeBaseline, exclusion: "applied", excludedMs: 84 * hourMs } as const;

    const { observed, threshold, severity } = evaluateSpike({ ...counts, baselineCount: 21, excluded });

    expect(observed).toMatchObject({ baselineCount: 21, expectedCount: 6, baselineExclusion: "applied" });
    expect(threshold).toMatchObject({ baselineExcludedHours: 84, failAbove: 24 });
    expect(severity).toBe("fail");
  });

  it("leaves days out of a median", () => {
    const days = [false, true, false, false, false, false, false];
    const excluded = { ...wholeBaseline, exclusion: "applied", days, excludedMs: 24 * hourMs } as const;
    const dayCounts = [2, 900, 2, 2, 4, 4, 4];

    const { observed } = evaluateSpike({ ...counts, baseline: "median", dayCounts, excluded });

    expect(observed).toMatchObject({ expectedCount: 3, baselineDaysKnown: 6 });
    expect(observed).not.toHaveProperty("day2");
  });
});
