import { describe, expect, it } from "vitest";

import { FlatlineError } from "../base/errors.ts";
import { EventRecorder } from "./event-record.ts";
import { scoreEpisodes, type Score } from "./score.ts";
import { readLabels, revivedTruth } from "./truth.ts";
import { defaultThresholds } from "../spike/thresholds.ts";
import { apiRule } from "../spike/evaluate.ts";
import type { Watched } from "./replay.ts";
import {
  candidatesOf,
  describeCandidate,
  isAdvice,
  isAdviceAsGood,
  rankCandidates,
  type TuningPoint,
} from "./tuning.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describe("scoreEpisodes", () => {
  const incident = { fromMs: 10 * dayMs, toMs: 10 * dayMs + 6 * hourMs };
  const { fromMs, toMs } = incident;
  it.each<[string, number, number, boolean]>([
    ["during the incident", fromMs + hourMs, 11 * dayMs, true],
    ["on the day after", toMs + dayMs, 12 * dayMs, true],
    ["later than that", toMs + dayMs + 1, 12 * dayMs, false],
    ["12 h before, and lasting", fromMs - 12 * hourMs, fromMs, true],
    ["longer before", fromMs - 12 * hourMs - 1, 11 * dayMs, false],
    ["over before it began", fromMs - hourMs, fromMs - 1, false],
  ])("an alert %s", (_rule, firedAtMs, endsAtMs, found) => {
    const score = scoreEpisodes([
      {
        slug: "acme",
        episodes: [{ alertId: "1", firedAtMs, endsAtMs }],
        truth: { incidents: [incident], massDeaths: [] },
        fromMs: 0,
        toMs: 14 * dayMs,
      },
    ]);

    expect(score).toMatchObject({
      recall: found ? 1 : 0,
      falseAlarms: found ? 0 : 1,
      falseAlarmsAWeek: found ? 0 : 0.5,
      medianDelayMs: found ? Math.max(0, firedAtMs - incident.fromMs) : null,
      missed: found ? [] : [{ ...incident, slug: "acme" }],
    });
  });

  it("sums over organizations, leaves out what lies beyond the stretch, and knows mass deaths", () => {
    const alarm = { alertId: "1", firedAtMs: dayMs, endsAtMs: 2 * dayMs };
    const late = { fromMs: 100 * dayMs, toMs: 101 * dayMs };

    const score = scoreEpisodes([
      {
        slug: "acme",
        episodes: [alarm],
        truth: { incidents: [late], massDeaths: [{ fromMs: dayMs, toMs: dayMs }] },
        fromMs: 0,
        toMs: 7 * dayMs,
      },
      { slug: "globex", episodes: [], truth: { incidents: [], massDeaths: [] }, fromMs: 0, toMs: 7 * dayMs },
    ]);

    expect(score).toMatchObject({ incidents: 0, recall: null, falseAlarms: 1, onMassDeaths: 1, falseAlarmsAWeek: 0.5 });
    expect(score).toMatchObject({ groundless: 0, groundlessAWeek: 0 });
  });
});

describe("the truth", () => {
  it("of regret: a revival after 60 days undoes nothing, nor one within 6 h", () => {
    const incidentsAfter = (days: number): number => {
      const recorder = new EventRecorder("acme");
      for (let asset = 0; asset < 30; asset++) {
        const base = { count: 1, typeId: 0, asset: String(asset) };
        recorder.add({ ...base, atMs: 0, status: "DETECTED_AS_DEAD" });
        recorder.add({ ...base, atMs: days * dayMs, status: "DETECTED_AS_ALIVE" });
      }
      recorder.add({ atMs: 61 * dayMs, status: "SEEN", count: 1, typeId: 0, asset: null });
      return revivedTruth(recorder.finish()).incidents.length;
    };

    expect([60, 61, 0.25, 0.249].map(incidentsAfter)).toEqual([1, 0, 1, 0]);
  });

  it("of labels has their incidents, whatever else they say", () => {
    const incidents = [{ from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z" }];

    expect(readLabels(JSON.stringify({ acme: { source: "x", incidents } }), "l.json").get("acme")).toEqual({
      incidents: [{ fromMs: Date.UTC(2026, 0, 1), toMs: Date.UTC(2026, 0, 2) }],
      massDeaths: [],
    });
  });

  const wrong: readonly [string, string, string][] = [
    ["no JSON", "{", "l.json: is not JSON"],
    ["no incidents", '{"acme":{}}', "l.json: acme.incidents: is required"],
    ["a time that is none", '{"acme":{"incidents":[{"from":"now","to":"now"}]}}', "l.json: acme.incidents.0.from: "],
    [
      "an end before the begin",
      '{"acme":{"incidents":[{"from":"2026-01-02T00:00:00+02:00","to":"2026-01-01T21:59:59Z"}]}}',
      "l.json: acme.incidents.0: from is after to",
    ],
  ];
  it.each(wrong)("refuses labels with %s", (_name, text, message) => {
    const read = (): unknown => readLabels(text, "l.json");

    expect(read).toThrow(FlatlineError);
    expect(read).toThrow(message);
  });
});

describe("the candidates of a search", () => {
  const one: Watched = {
    slug: "acme",
    thresholds: defaultThresholds,
    ...apiRule,
    policy: { forMs: 0, keepFiringForMs: 0, unknownAfter: 1, repeatIntervalMs: 0, minBaselineCoverage: 0 },
    maxSilenceMs: null,
    schedule: { pattern: "0 * * * *", timezone: "UTC", jitterMs: 0 },
  };

  it("are every combination and the advice last, each of which fails where it warns", () => {
    const candidates = candidatesOf(one, new Set());

    expect(candidates).toHaveLength(2 * 2 * 7 * 5 + 1);
    expect(candidates.filter((point) => isAdvice({ ...point, score: scoreEpisodes([]) }))).toEqual(
      candidates.slice(-1),
    );
    expect(
      candidates.every(({ thresholds: { warnMultiplier, failMultiplier } }) => warnMultiplier === failMultiplier),
    ).toBe(true);
  });

  it("keep what is fixed, and leave the advice out where it is of that", () => {
    const fixed = new Set(["baseline", "baselineDays", "minSpikeCount", "timezone"]);

    expect(candidatesOf({ ...one, baseline: "median" }, fixed).map(describeCandidate)).toEqual(
      [1.5, 2, 3, 4, 6, 8, 12].map((warn) => `median of 7 days, ×${warn}, at least 10`),
    );
  });

  it("have no mean where assets are counted", () => {
    const candidates = candidatesOf({ ...one, baseline: "median", count: "assets" }, new Set());

    expect(new Set(candidates.map(({ baseline }) => baseline))).toEqual(new Set(["median"]));
  });
});

describe("a choice", () => {
  const point = (
    warnMultiplier: number,
    recall: number,
    groundlessAWeek: number,
    over: Partial<TuningPoint["thresholds"]> & Partial<Pick<TuningPoint, "baseline">> = {},
  ): TuningPoint => {
    const { baseline = "median", ...changed } = over;
    const score: Score = {
      incidents: 10,
      found: recall * 10,
      recall,
      falseAlarms: 1,
      onMassDeaths: 0,
      groundless: 1,
      // As many alarms again match real mass deaths, which is free.
      falseAlarmsAWeek: groundlessAWeek * 2,
      groundlessAWeek,
      medianDelayMs: null,
      missed: [],
    };
    const given = { windowHours: 24, baselineDays: 7, warnMultiplier, failMultiplier: 9, minSpikeCount: 10 };
    return { baseline, count: "deaths", thresholds: { ...given, ...changed }, score };
  };
  const points = [point(2, 1, 0.9), point(3, 0.9, 0.3), point(4, 0.9, 0.4), point(6, 0.7, 0.1), point(8, 0.2, 0.05)];

  it("finds most among the quiet enough, nearest to the advice; loud ones come last, the quietest first", () => {
    expect(rankCandidates(points, 0.3).map(({ thresholds }) => thresholds.warnMultiplier)).toEqual([3, 6, 8, 4, 2]);
    expect(rankCandidates(points, 0).map(({ thresholds }) => thresholds.warnMultiplier)).toEqual([8, 6, 3, 4, 2]);
  });

  const advised = { baselineDays: 28, minSpikeCount: 20 } as const;
  const advice = point(2.5, 1, 0.4, advised);

  it.each<[rule: string, points: readonly TuningPoint[], chosen: number, asGood: boolean | null]>([
    ["the advice, though others are quieter", [point(6, 1, 0.02), advice], 1, true],
    ["what finds more than the advice", [point(2, 1, 0.5), { ...advice, score: point(1, 0.9, 0).score }], 0, false],
    [
      "what is quiet enough, where the advice is not",
      [point(2, 0.5, 0.5), { ...advice, score: point(1, 1, 0.6).score }],
      0,
      false,
    ],
    ["the fewest settings that differ from the advice", [point(2.4, 1, 0.1), point(12, 1, 0.1, advised)], 1, null],
    ["then the nearest by ratio: ×3 before ×2", [point(2, 1, 0.1, advised), point(3, 1, 0.1, advised)], 1, null],
    [
      "by the sum of all ratios",
      [
        point(2.4, 1, 0.1, { minSpikeCount: 50, baselineDays: 28 }),
        point(4, 1, 0.1, { minSpikeCount: 25, baselineDays: 28 }),
      ],
      1,
      null,
    ],
    [
      "another baseline as one that differs",
      [point(2.5, 1, 0.1, { ...advised, baseline: "mean" }), point(2, 1, 0.1)],
      0,
      null,
    ],
  ])("of those that find most is %s", (_rule, some, chosen, asGood) => {
    const [best = advice] = rankCandidates(some, 0.5);

    expect(best).toBe(some[chosen]);
    expect(isAdviceAsGood(some, best, 0.5)).toBe(asGood);
  });
});
