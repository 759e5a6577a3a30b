import fc from "fast-check";
import { expect, it } from "vitest";

import { severities } from "../../contract/severity.ts";
import { packHour, unpackHour } from "./packed-hour.ts";
import type { RunPoint } from "./run-point.ts";

const count = fc.option(
  fc.oneof(
    fc.nat({ max: 500 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0)),
  ),
  { nil: null },
);
const runPoint: fc.Arbitrary<RunPoint> = fc.record(
  {
    atMs: fc.integer({ min: 0, max: 4_000_000_000_000 }),
    evaluatedAtMs: fc.integer({ min: 0, max: 4_000_000_000_000 }),
    severity: fc.constantFrom(...severities),
    currentCount: count,
    baselineCount: count,
    expectedCount: count,
    rule: fc.option(
      fc.record({ windowHours: fc.integer({ min: 1, max: 1_000 }), baselineDays: fc.constantFrom(1, 7) }),
      {
        nil: null,
      },
    ),
    computedAtMs: fc.constantFrom(1_767_225_600_000, 1_767_225_600_007),
  },
  { requiredKeys: ["atMs", "evaluatedAtMs", "severity", "currentCount", "baselineCount", "expectedCount", "rule"] },
);

it("unpacks an hour as it was packed", () => {
  fc.assert(
    fc.property(fc.array(runPoint), (points) => {
      expect(unpackHour(packHour(points))).toEqual(points);
    }),
  );
});

it("packs a calm hour of a run each minute into less than a hundred bytes", () => {
  const points = Array.from({ length: 60 }, (_, minute): RunPoint => {
    const atMs = 1_780_000_000_000 + minute * 60_000;
    const counts = { currentCount: 180, baselineCount: 1_262, expectedCount: (1_262 * 24) / 168 };
    return { atMs, evaluatedAtMs: atMs, severity: "ok", ...counts, rule: { windowHours: 24, baselineDays: 7 } };
  });

  expect(packHour(points).length).toBeLessThan(100);
});

it("refuses a damaged hour", () => {
  expect(() => unpackHour(Uint8Array.of(1, 2, 3))).toThrow(/^an hour of the history is damaged/);
});
