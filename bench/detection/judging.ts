import type { EventRecord } from "../../src/backtest/event-record.ts";
import type { Episode } from "../../src/backtest/episodes.ts";
import { Replay, type ReplayCandidate } from "../../src/backtest/replay.ts";
import { scoreEpisodes, tellsOf, type Score } from "../../src/backtest/score.ts";
import type { Truth } from "../../src/backtest/truth.ts";
import { dayMs, hourMs, minuteMs } from "../../src/base/time.ts";
import type { JudgedStretch } from "../../src/contract/judgement.ts";
import { onsetAtMs } from "../../src/evidence/onset.ts";

/** What a baseline without judged incidents does for a rule. */
export interface JudgingResult extends Omit<Score, "recall" | "groundless" | "medianDelayMs" | "missed"> {
  readonly rule: string;
  /** How long after it fired each alert about an incident is judged; null: never. */
  readonly judgedAfterHours: number | null;
}

interface Rule {
  readonly name: string;
  readonly baseline: ReplayCandidate["baseline"];
  readonly multiplier: number;
  readonly minSpikeCount: number;
}

const mean4: Rule = { name: "mean, ×4", baseline: "mean", multiplier: 4, minSpikeCount: 10 };
const rules: readonly Rule[] = [
  mean4,
  { ...mean4, minSpikeCount: 20 },
  { ...mean4, name: "mean, ×2", multiplier: 2 },
  { name: "median, ×4", baseline: "median", multiplier: 4, minSpikeCount: 20 },
];
const delaysHours = [null, 0, 24, 72] as const;
const windowHours = 24;
const policy = { forMs: 0, keepFiringForMs: 0, unknownAfter: 3, repeatIntervalMs: 0, minBaselineCoverage: 0 };

type Series = readonly { readonly record: EventRecord; readonly truth: Truth }[];

/** Replays each rule with `baselineExclude: judged`, and somebody who judges its alerts some hours after they fired. */
export function measureJudging(series: Series): JudgingResult[] {
  return rules.flatMap((rule) => delaysHours.map((hours) => replayJudged(series, rule, hours)));
}

function replayJudged(series: Series, rule: Rule, judgedAfterHours: number | null): JudgingResult {
  const score = scoreEpisodes(
    series.map(({ record, truth }) => ({
      slug: record.slug,
      truth,
      fromMs: record.seenAtMs[0] ?? 0,
      toMs: (record.seenAtMs.at(-1) ?? 0) + dayMs,
      episodes: episodesOf(record, truth, rule, judgedAfterHours),
    })),
  );
  const { incidents, found, falseAlarms, onMassDeaths, falseAlarmsAWeek, groundlessAWeek } = score;
  const counts = { incidents, found, falseAlarms, onMassDeaths, falseAlarmsAWeek, groundlessAWeek };
  return { rule: `${rule.name}, min ${rule.minSpikeCount}`, judgedAfterHours, ...counts };
}

interface JudgedAlert {
  readonly firedAtMs: number;
  readonly onsetMs: number;
  endsAtMs: number | null;
  judgedAtMs: number | null;
}

function episodesOf(
  record: EventRecord,
  { incidents }: Truth,
  { baseline, multiplier, minSpikeCount }: Rule,
  judgedAfterHours: number | null,
): Episode[] {
  const both = { warnMultiplier: multiplier, failMultiplier: multiplier };
  const thresholds = { windowHours, baselineDays: 7, ...both, minSpikeCount };
  // The replay reads them at each run, as the daemon reads its store.
  const stretches: JudgedStretch[] = [];
  const alerts: JudgedAlert[] = [];
  let open: JudgedAlert | null = null;
  const replay = new Replay(record, [{ baseline, thresholds, policy, maxSilenceMs: null, stretches }], (_, verdict) => {
    const { atMs, severity, expectedCount } = verdict;
    if (severity === "ok") {
      if (open !== null) open.endsAtMs = atMs;
      open = null;
    } else if (open === null) {
      open = { firedAtMs: atMs, onsetMs: onsetOf(record, atMs, expectedCount), endsAtMs: null, judgedAtMs: null };
      alerts.push(open);
    }
  });
  const lastMs = (record.seenAtMs.at(-1) ?? 0) + dayMs;
  for (let atMs = Math.ceil((record.seenAtMs[0] ?? 0) / hourMs) * hourMs; atMs <= lastMs; atMs += hourMs) {
    replay.run(atMs);
    if (judgedAfterHours === null) continue;
    for (const alert of alerts) {
      const isDue = alert.judgedAtMs === null && atMs >= alert.firedAtMs + judgedAfterHours * hourMs;
      // Who looks knows of what has begun, not of what will.
      const begun = isDue ? incidents.filter(({ fromMs }) => fromMs <= atMs) : [];
      if (begun.some((incident) => tellsOf(episodeOf(alert, atMs), incident))) alert.judgedAtMs = atMs;
    }
    const judged = alerts.flatMap(({ onsetMs, endsAtMs, judgedAtMs }) =>
      judgedAtMs === null ? [] : [{ fromMs: onsetMs, toMs: endsAtMs, judgedAtMs }],
    );
    stretches.splice(0, stretches.length, ...judged);
  }
  return alerts.map((alert) => episodeOf(alert, lastMs));
}

function episodeOf({ firedAtMs, endsAtMs }: JudgedAlert, nowMs: number): Episode {
  return { alertId: "", firedAtMs, endsAtMs: endsAtMs ?? nowMs, isOpen: endsAtMs === null };
}

/** As the daemon finds it at the first run of an alert; a window before it where there is none. */
function onsetOf({ deathAtMs, deathsBefore }: EventRecord, atMs: number, expectedCount: number): number {
  const windowMs = windowHours * hourMs;
  const minutes = new Map<number, number>();
  for (let index = indexAfter(deathAtMs, atMs - windowMs); (deathAtMs[index] ?? Infinity) <= atMs; index++) {
    const minute = Math.floor((deathAtMs[index] ?? 0) / minuteMs) * minuteMs;
    const deaths = (deathsBefore[index + 1] ?? 0) - (deathsBefore[index] ?? 0);
    minutes.set(minute, (minutes.get(minute) ?? 0) + deaths);
  }
  const buckets = [...minutes].map(([minuteAtMs, deaths]) => ({ atMs: minuteAtMs, deaths }));
  return onsetAtMs({ buckets, windowMs, expectedCount }) ?? atMs - windowMs;
}

/** Of ascending instants, the index of the first one after `afterMs`. */
function indexAfter(instants: Float64Array, afterMs: number): number {
  let [low, high] = [0, instants.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((instants[middle] ?? 0) <= afterMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
