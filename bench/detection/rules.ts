import { type Episode, episodesAt } from "../../src/backtest/episodes.ts";
import type { EventRecord } from "../../src/backtest/event-record.ts";
import { Replay, type ReplayCandidate } from "../../src/backtest/replay.ts";
import { SlidingCounts } from "../../src/backtest/sliding-counts.ts";
import { hourMs } from "../../src/base/time.ts";
import type { BaselineKind } from "../../src/spike/median.ts";

const windowHours = 24;
const stepMs = hourMs;

/** A rule that is compared: what it would have told of a record, evaluated every hour. */
export interface DetectionRule {
  readonly name: string;
  readonly kind: "flatline" | "fixed" | "spike";
  readonly minSpikeCount: number;
  readonly multiplier: number | null;
  readonly baseline: BaselineKind;
  readonly baselineDays: number;
}

const other = { baseline: "mean", baselineDays: 7 } as const;

/** Every rule of the table: flatline's with both baselines, a fixed threshold, and the spike type of ElastAlert. */
export const detectionRules: readonly DetectionRule[] = [
  ...(["mean", "median"] as const).flatMap((baseline) =>
    [10, 20, 50].flatMap((minSpikeCount) =>
      [2, 3, 4, 6].map((multiplier) => ({
        ...other,
        name: `flatline ${baseline}, ×${multiplier}, min ${minSpikeCount}`,
        kind: "flatline" as const,
        minSpikeCount,
        multiplier,
        baseline,
      })),
    ),
  ),
  ...[10, 20, 50].flatMap((minSpikeCount) =>
    [2, 2.5, 4, 5].map((multiplier) => ({
      name: `flatline median of 28 d, ×${multiplier}, min ${minSpikeCount}`,
      kind: "flatline" as const,
      minSpikeCount,
      multiplier,
      baseline: "median" as const,
      baselineDays: 28,
    })),
  ),
  ...[10, 20, 50, 100].map((count) => ({
    ...other,
    name: `fixed threshold, ${count} in 24 h`,
    kind: "fixed" as const,
    minSpikeCount: count,
    multiplier: null,
  })),
  ...[10, 20, 50].flatMap((minSpikeCount) =>
    [2, 4].map((multiplier) => ({
      ...other,
      name: `ElastAlert spike, height ${multiplier}, cur ${minSpikeCount}`,
      kind: "spike" as const,
      minSpikeCount,
      multiplier,
    })),
  ),
];

/** A stretch of time, epoch ms. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What each of the rules would have told, in their order. */
export function episodesOf(record: EventRecord, stretch: Stretch): readonly (readonly Episode[])[] {
  const own = detectionRules.filter(({ kind }) => kind === "flatline");
  const replay = new Replay(record, own.map(candidateOf));
  for (const atMs of hoursOf(stretch)) replay.run(atMs);
  const outcomes = replay.outcomes();
  return detectionRules.map((rule) => {
    const outcome = outcomes[own.indexOf(rule)];
    if (outcome !== undefined) return episodesAt("warn", outcome);
    return rule.kind === "fixed" ? fixedEpisodes(record, rule, stretch) : spikeEpisodes(record, rule, stretch);
  });
}

/** One threshold as a configuration: warn and fail at the same multiplier, so that an alert is an episode above it. */
function candidateOf({ baseline, baselineDays, minSpikeCount, multiplier }: DetectionRule): ReplayCandidate {
  const both = multiplier ?? 1;
  return {
    baseline,
    thresholds: { windowHours, baselineDays, warnMultiplier: both, failMultiplier: both, minSpikeCount },
    policy: { forMs: 0, keepFiringForMs: 0, unknownAfter: 3, repeatIntervalMs: 0, minBaselineCoverage: 0 },
    maxSilenceMs: null,
  };
}

function fixedEpisodes(record: EventRecord, { minSpikeCount }: DetectionRule, stretch: Stretch): Episode[] {
  const counts = new SlidingCounts(record, { windowHours, baselineDays: 1 }, "mean");
  const episodes: Episode[] = [];
  let firedAtMs: number | null = null;
  for (const atMs of hoursOf(stretch)) {
    const isAbove = counts.at(atMs).currentCount >= minSpikeCount;
    if (isAbove) firedAtMs ??= atMs;
    else if (firedAtMs !== null) {
      episodes.push({ alertId: "", firedAtMs, endsAtMs: atMs, isOpen: false });
      firedAtMs = null;
    }
  }
  if (firedAtMs !== null) episodes.push({ alertId: "", firedAtMs, endsAtMs: stretch.toMs, isOpen: true });
  return episodes;
}

/**
 * The rule type `spike` of ElastAlert (elastalert/ruletypes.py, SpikeRule): a match when the current window has at least
 * threshold_cur events and at least spike_height times those of the window before it (threshold_ref 0, its default). A match
 * empties both windows, so that the rule is deaf until they are full again, twice the timeframe later.
 */
function spikeEpisodes(record: EventRecord, { minSpikeCount, multiplier }: DetectionRule, stretch: Stretch): Episode[] {
  const counts = new SlidingCounts(record, { windowHours, baselineDays: 1 }, "mean");
  const timeframeMs = windowHours * hourMs;
  const episodes: Episode[] = [];
  let deafUntilMs = (record.seenAtMs[0] ?? 0) + 2 * timeframeMs;
  for (const atMs of hoursOf(stretch)) {
    // The baseline of one day is the window before this one.
    const { currentCount, baselineCount } = counts.at(atMs);
    if (atMs < deafUntilMs || currentCount < minSpikeCount || currentCount < baselineCount * (multiplier ?? 1))
      continue;
    // A match is a moment; it counts as long as what it tells of is within its window.
    episodes.push({ alertId: "", firedAtMs: atMs, endsAtMs: atMs + timeframeMs, isOpen: false });
    deafUntilMs = atMs + 2 * timeframeMs;
  }
  return episodes;
}

function* hoursOf({ fromMs, toMs }: Stretch): Generator<number> {
  for (let atMs = Math.ceil(fromMs / stepMs) * stepMs; atMs <= toMs; atMs += stepMs) yield atMs;
}
