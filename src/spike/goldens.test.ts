import { describe, expect, it } from "vitest";

import { readGoldens, readRecordEvents } from "../../test/support/store/record-events.ts";
import { countEvents, evaluateSpike, spikeWindow } from "./spike.ts";

const goldens = readGoldens();

describe("goldens of real data", () => {
  it("are 180", () => {
    expect(goldens).toHaveLength(180);
  });

  describe.each([...new Set(goldens.map(({ slug }) => slug))])("%s", (slug) => {
    const events = readRecordEvents([slug]);

    it.each(goldens.filter((golden) => golden.slug === slug))(
      "$at, $windowHours h over $baselineDays d: $severity",
      (golden) => {
        const { at, currentCount, baselineCount, expectedCount, severity, ...thresholds } = golden;
        const nowMs = Date.parse(at);

        const counts = countEvents(events, spikeWindow(nowMs, thresholds));
        const result = evaluateSpike({ nowMs, thresholds, ...counts, slug });

        expect(counts).toMatchObject({ currentCount, baselineCount });
        expect(result.severity).toBe(severity);
        expect(result.observed.expectedCount).toBe(expectedCount);
      },
    );
  });
});
