import { type Episode, episodesOf as episodesOfReplay } from "../../src/backtest/score.ts";
import { countsAt, type EventRecord } from "../../src/backtest/event-record.ts";
import { Replay } from "../../src/backtest/replay.ts";
import { hourMs } from "../../src/base/time.ts";
import { apiRule } from "../../src/spike/evaluate.ts";
import type { BaselineKind } from "../../src/spike/median.ts";

const windowHours = 24;
const stepMs = hourMs;

/** A rule that is compared: what it would have told of a record, evaluated every hour. */
interface DetectionRule {
  readonly kind: "flatline" | "spike";
  readonly baseline: BaselineKind;
  readonly baselineDays: number;
  readonly multiplier: number;
  readonly minSpikeCount: number;
}

const mean = { kind: "flatline", baseline: "mean", baselineDays: 7 } as const;
const median = { kind: "flatline", baseline: "median", baselineDays: 28 } as const;

/** The rows of the table by their names: flatline's rules with both baselines, and what others have. */
export const detectionRules: Readonly<Record<string, DetectionRule>> = {
  "flatline mean, ×2, min 10": { ...mean, multiplier: 2, minSpikeCount: 10 },
  "flatline mean, ×4, min 10": { ...mean, multiplier: 4, minSpikeCount: 10 },
  "flatline mean, ×2, min 20": { ...mean, multiplier: 2, minSpikeCount: 20 },
  "flatline mean, ×4, min 20": { ...mean, multiplier: 4, minSpikeCount: 20 },
  "flatline median of 28 d, ×2.5, min 10": { ...median, multiplier: 2.5, minSpikeCount: 10 },
  "flatline median of 28 d, ×2.5, min 20": { ...median, multiplier: 2.5, minSpikeCount: 20 },
  "flatline median of 28 d, ×5, min 20": { ...median, multiplier: 5, minSpikeCount: 20 },
  "flatline median of 28 d, ×2.5, min 50": { ...median, multiplier: 2.5, minSpikeCount: 50 },
  "fixed threshold, 20 in 24 h": { ...mean, multiplier: 0, minSpikeCount: 20 },
  "ElastAlert spike, height 2, cur 20": { ...mean, kind: "spike", multiplier: 2, minSpikeCount: 20 },
};

/** A stretch of time, epoch ms. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What a rule would have told. */
export function episodesOf(record: EventRecord, rule: DetectionRule, stretch: Stretch): readonly Episode[] {
  if (rule.kind === "spike") return spikeEpisodes(record, rule, stretch);
  const { baseline, baselineDays, multiplier, minSpikeCount } = rule;
  // Warn and fail at the same multiplier, so that an alert is an episode above it.
  const thresholds = {
    windowHours,
    baselineDays,
    warnMultiplier: multiplier,
    failMultiplier: multiplier,
    minSpikeCount,
  };
  const policy = { forMs: 0, keepFiringForMs: 0, unknownAfter: 3, repeatIntervalMs: 0, minBaselineCoverage: 0 };
  const schedule = { pattern: "0 * * * *", timezone: "UTC", jitterMs: 0 };
  const watched = {
    slug: record.slug,
    baseline,
    count: "deaths",
    thresholds,
    policy,
    schedule,
    maxSilenceMs: null,
  } as const;
  const replay = new Replay(record, watched);
  for (const atMs of hoursOf(stretch)) replay.run(atMs);
  return episodesOfReplay(replay);
}

/**
 * The rule type `spike` of ElastAlert (elastalert/ruletypes.py, SpikeRule): a match when the current window has at
 * least threshold_cur events and at least spike_height times those of the window before (threshold_ref 0, its default).
 * A match empties both windows: the rule is deaf until they are full again.
 */
function spikeEpisodes(record: EventRecord, { minSpikeCount, multiplier }: DetectionRule, stretch: Stretch): Episode[] {
  const counting = { thresholds: { windowHours, baselineDays: 1 }, ...apiRule };
  const timeframeMs = windowHours * hourMs;
  const episodes: Episode[] = [];
  let deafUntilMs = (record.seenAtMs[0] ?? 0) + 2 * timeframeMs;
  for (const atMs of hoursOf(stretch)) {
    // The baseline of one day is the window before this one.
    const { currentCount, baselineCount } = countsAt(record, atMs, counting);
    if (atMs < deafUntilMs || currentCount < minSpikeCount || currentCount < baselineCount * multiplier) continue;
    // A match is a moment; it counts as long as what it tells of is within its window.
    episodes.push({ alertId: "", firedAtMs: atMs, endsAtMs: atMs + timeframeMs });
    deafUntilMs = atMs + 2 * timeframeMs;
  }
  return episodes;
}

function* hoursOf({ fromMs, toMs }: Stretch): Generator<number> {
  for (let atMs = Math.ceil(fromMs / stepMs) * stepMs; atMs <= toMs; atMs += stepMs) yield atMs;
}
