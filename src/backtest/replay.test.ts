import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { apiRule, type SpikeRule } from "../spike/evaluate.ts";
import {
  baselineKinds,
  countEvents,
  countKinds,
  defaultThresholds,
  evaluateSpike,
  medianDays,
  spikeWindow,
} from "../spike/spike.ts";
import { noType } from "../contract/assets.ts";
import type { HistoryEvent } from "../store/events/events.ts";
import { EventRecorder, type EventRecord } from "./event-record.ts";
import { episodesOf } from "./score.ts";
import { Replay, type Watched } from "./replay.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const startMs = Date.UTC(2026, 0, 1);
const policy = { forMs: 0, keepFiringForMs: 0, unknownAfter: 1, repeatIntervalMs: 0, minBaselineCoverage: 0 };

function recordOf(events: readonly Partial<HistoryEvent>[]): EventRecord {
  const recorder = new EventRecorder("acme");
  for (const event of events)
    recorder.add({ atMs: startMs, status: "DETECTED_AS_DEAD", count: 1, typeId: 1, asset: null, ...event });
  return recorder.finish();
}

const someEvents = fc.array(
  fc
    .record({
      atMs: fc.integer({ min: startMs, max: startMs + 20 * dayMs }),
      count: fc.nat(40),
      status: fc.constantFrom("DETECTED_AS_DEAD", "DETECTED_AS_DEAD", "DETECTED_AS_ALIVE", "SEEN"),
      typeId: fc.constantFrom(noType, 1),
      assetType: fc.constant<string | null>(null),
      // Few names, so that assets die again and again.
      asset: fc.constantFrom("a", "b", "c", null),
    })
    .map((one) => ({ ...one, assetType: one.typeId === noType ? null : "URL" })),
  { maxLength: 80 },
);
// Each field of the rule has to be here, or the type checker says so. Assets need a median.
const someRules = fc
  .record<SpikeRule>({ baseline: fc.constantFrom(...baselineKinds), count: fc.constantFrom(...countKinds) })
  .filter(({ baseline, count }) => count === "deaths" || baseline === "median");
const someThresholds = fc.record({
  windowHours: fc.integer({ min: 1, max: 50 }),
  baselineDays: fc.integer({ min: 1, max: 9 }),
  warnMultiplier: fc.constantFrom(1, 2),
  failMultiplier: fc.constantFrom(3, 4.5),
  minSpikeCount: fc.integer({ min: 1, max: 20 }),
});

describe("EventRecorder", () => {
  it("undoes every death of an asset since it was last alive, and none of another or later", () => {
    const { revivedAtMs, deathsBefore, deathAsset } = recordOf([
      { atMs: 5, asset: "a" },
      { atMs: 1, asset: "a", count: 3 },
      { atMs: 2, asset: "b" },
      { atMs: 9, asset: "a", status: "DETECTED_AS_ALIVE" },
      { atMs: 12, asset: "a" },
      { atMs: 13, asset: null },
      { atMs: 14, asset: null, status: "DETECTED_AS_ALIVE" },
      { atMs: 15, asset: "a", typeId: 2, status: "DETECTED_AS_ALIVE" },
      { atMs: 16, asset: "b", typeId: 2 },
      { atMs: 17, asset: "b", typeId: noType, status: "DETECTED_AS_ALIVE" },
    ]);

    expect([...revivedAtMs]).toEqual([9, 17, 9, Number.NaN, Number.NaN, 17]);
    expect([...deathsBefore]).toEqual([0, 3, 4, 5, 6, 7, 8]);
    expect(deathAsset).toEqual([0, 1, 0, 0, -1, 3]);
  });
});

function watched(over: Partial<Watched>): Watched {
  const schedule = { pattern: "0 * * * *", timezone: "UTC", jitterMs: 0 };
  return { slug: "acme", thresholds: defaultThresholds, ...apiRule, policy, maxSilenceMs: null, schedule, ...over };
}

describe("Replay", () => {
  it("gives the verdicts of evaluateSpike, for each way to watch that shares what was counted", () => {
    fc.assert(
      fc.property(someEvents, someThresholds, someRules, (events, given, rule) => {
        const record = recordOf(events);
        const ways = [given, { ...given, warnMultiplier: 1.5, minSpikeCount: 3 }].map((thresholds) => ({
          thresholds,
          replay: new Replay(record, watched({ ...rule, thresholds })),
        }));

        for (let atMs = startMs; atMs < startMs + 20 * dayMs; atMs += 17 * hourMs) {
          const known = new Map();
          const seen = events.map((one) => one.atMs).filter((one) => one <= atMs);
          const firstEventAtMs = seen.length === 0 ? null : Math.min(...seen);
          for (const { thresholds, replay } of ways) {
            const counts = countEvents(events, spikeWindow(atMs, thresholds), medianDays(atMs, thresholds), rule.count);
            const result = evaluateSpike({ slug: "acme", nowMs: atMs, thresholds, ...rule, firstEventAtMs, ...counts });
            expect(replay.run(atMs, known)).toEqual({
              atMs,
              severity: result.severity,
              expectedCount: result.observed.expectedCount,
              currentCount: result.observed.currentCount,
            });
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  it("tells what an alert would have told, with its times", () => {
    const events = [
      { atMs: startMs + dayMs, count: 15 },
      { atMs: startMs + dayMs + 5 * hourMs, count: 100 },
    ];
    const thresholds = { ...defaultThresholds, windowHours: 12, failMultiplier: 10, warnMultiplier: 1 };
    const baseline = { atMs: startMs, count: 40 };
    const replay = new Replay(recordOf([baseline, ...events]), watched({ thresholds }));

    for (let atMs = startMs + 13 * hourMs; atMs <= startMs + 3 * dayMs; atMs += hourMs) replay.run(atMs);

    const at = (hours: number): number => startMs + hours * hourMs;
    expect(replay.notices.map(({ event, severity, atMs }) => [event, severity, atMs])).toEqual([
      ["firing", "warn", at(24)],
      ["escalated", "fail", at(29)],
      ["resolved", "fail", at(41)],
    ]);
    expect(replay.evaluations).toEqual({ ok: 43, warn: 5, fail: 12, unknown: 0 });
    expect(episodesOf(replay)).toMatchObject([{ firedAtMs: at(24), endsAtMs: at(41) }]);
  });

  it("leaves an alert that still fires open, to the last run", () => {
    const replay = new Replay(recordOf([{ count: 100 }]), watched({}));

    for (const hours of [0, 1, 2]) replay.run(startMs + hours * hourMs);

    expect(episodesOf(replay)).toMatchObject([{ firedAtMs: startMs, endsAtMs: startMs + 2 * hourMs }]);
  });

  it("keeps an alert of a median pending while fewer than three of its days are known", () => {
    const events = [{ count: 1 }, { atMs: startMs + dayMs, count: 100 }, { atMs: startMs + 5 * dayMs, count: 100 }];
    const replay = new Replay(recordOf(events), watched({ baseline: "median" }));

    for (let atMs = startMs; atMs <= startMs + 7 * dayMs; atMs += hourMs) replay.run(atMs);

    expect(replay.evaluations).toMatchObject({ fail: 48 });
    expect(replay.notices.map(({ event, atMs }) => [event, atMs])).toEqual([
      ["firing", startMs + 5 * dayMs],
      ["resolved", startMs + 6 * dayMs],
    ]);
  });

  it("is unknown on a silent stream, where that is watched, and that is no episode", () => {
    const replay = new Replay(recordOf([{ status: "SEEN" }]), watched({ maxSilenceMs: hourMs }));

    for (const hours of [-1, 0, 1, 2]) replay.run(startMs + hours * hourMs);

    expect(replay.evaluations).toEqual({ ok: 2, warn: 0, fail: 0, unknown: 2 });
    expect(replay.notices.map(({ event }) => event)).toEqual(["unknown", "recovered", "unknown"]);
    expect(episodesOf(replay)).toEqual([]);
  });
});
