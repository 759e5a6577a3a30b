import type { Episode } from "../../src/backtest/episodes.ts";
import type { EventRecord } from "../../src/backtest/event-record.ts";
import { Replay } from "../../src/backtest/replay.ts";
import { advice } from "../../src/backtest/tuning.ts";
import { scoreEpisodes, type Score } from "../../src/backtest/score.ts";
import { medianOf } from "../../src/base/numbers.ts";
import type { Truth } from "../../src/backtest/truth.ts";
import { dayMs, hourMs, minuteMs } from "../../src/base/time.ts";

/** What a way to end alerts does against flapping. */
export interface FlappingResult extends Pick<Score, "found" | "incidents" | "falseAlarmsAWeek" | "groundlessAWeek"> {
  readonly name: string;
  readonly alerts: number;
  readonly medianLengthHours: number | null;
}

interface Ending {
  readonly name: string;
  readonly stepMs: number;
  /** An alert ends only below so much of the line [1]. */
  readonly endBelow: number;
  readonly forMs: number;
  readonly keepFiringForMs: number;
}

const hourly = { name: "every hour", stepMs: hourMs, endBelow: 1, forMs: 0, keepFiringForMs: 0 };
const often = { ...hourly, name: "every 5 minutes", stepMs: 5 * minuteMs };
const endings: readonly Ending[] = [
  hourly,
  often,
  ...[0.9, 0.8, 0.5].map((endBelow) => ({ ...often, name: `… ends below ${endBelow} of the line`, endBelow })),
  ...[1, 6, 24].map((hours) => ({ ...often, name: `… keepFiringFor ${hours}h`, keepFiringForMs: hours * hourMs })),
  ...[30, 60].map((minutes) => ({ ...often, name: `… for ${minutes}m`, forMs: minutes * minuteMs })),
];

// Warn alone: any alert flaps there first.
const { thresholds } = advice;
const policy = { forMs: 0, keepFiringForMs: 0, unknownAfter: 3, repeatIntervalMs: 0, minBaselineCoverage: 0 };

interface Verdict {
  readonly atMs: number;
  readonly count: number;
  /** Above this it is not ok. */
  readonly line: number;
  readonly isAbove: boolean;
}

/** Replays the advised rule at both paces and ends its alerts in several ways. */
export function measureFlapping(
  series: readonly { readonly record: EventRecord; readonly truth: Truth }[],
): FlappingResult[] {
  const verdicts = new Map(
    [hourMs, 5 * minuteMs].map((stepMs) => [stepMs, series.map(({ record }) => verdictsOf(record, stepMs))]),
  );
  return endings.map((ending) => {
    const replays = series.map(({ record: { slug, seenAtMs }, truth }, index) => ({
      slug,
      truth,
      fromMs: seenAtMs[0] ?? 0,
      toMs: (seenAtMs.at(-1) ?? 0) + dayMs,
      episodes: episodesOf(verdicts.get(ending.stepMs)?.[index] ?? [], ending),
    }));
    const { found, incidents, falseAlarmsAWeek, groundlessAWeek } = scoreEpisodes(replays);
    const lengths = replays.flatMap(({ episodes }) => episodes.map(({ firedAtMs, endsAtMs }) => endsAtMs - firedAtMs));
    const lengthMs = medianOf(lengths);
    return {
      name: ending.name,
      found,
      incidents,
      alerts: lengths.length,
      falseAlarmsAWeek,
      groundlessAWeek,
      medianLengthHours: lengthMs === null ? null : lengthMs / hourMs,
    };
  });
}

function verdictsOf(record: EventRecord, stepMs: number): Verdict[] {
  const verdicts: Verdict[] = [];
  const candidate = { baseline: "median" as const, thresholds, policy, maxSilenceMs: null };
  const replay = new Replay(record, [candidate], (_, { atMs, severity, currentCount, expectedCount }) => {
    const line = Math.max(thresholds.minSpikeCount, expectedCount * thresholds.warnMultiplier);
    verdicts.push({ atMs, count: currentCount, line, isAbove: severity !== "ok" });
  });
  const untilMs = (record.seenAtMs.at(-1) ?? 0) + dayMs;
  for (let atMs = Math.ceil((record.seenAtMs[0] ?? 0) / stepMs) * stepMs; atMs <= untilMs; atMs += stepMs)
    replay.run(atMs);
  return verdicts;
}

/** Alerts as the transition makes them, but for where they end. */
function episodesOf(verdicts: readonly Verdict[], { endBelow, forMs, keepFiringForMs }: Ending): Episode[] {
  const episodes: Episode[] = [];
  let sinceMs: number | null = null;
  let firedAtMs: number | null = null;
  let okSinceMs: number | null = null;
  for (const { atMs, count, line, isAbove } of verdicts) {
    if (firedAtMs === null) {
      sinceMs = isAbove ? (sinceMs ?? atMs) : null;
      if (sinceMs !== null && atMs - sinceMs >= forMs) firedAtMs = atMs;
      continue;
    }
    if (isAbove || count >= endBelow * line) {
      okSinceMs = null;
      continue;
    }
    okSinceMs ??= atMs;
    if (atMs - okSinceMs < keepFiringForMs) continue;
    episodes.push({ alertId: "", firedAtMs, endsAtMs: atMs, isOpen: false });
    [sinceMs, firedAtMs, okSinceMs] = [null, null, null];
  }
  return episodes;
}
