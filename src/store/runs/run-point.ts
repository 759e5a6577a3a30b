import type { CheckReport } from "../../contract/report.ts";
import type { Severity } from "../../contract/severity.ts";

/** One run of a check in the history. */
export interface RunPoint {
  /** End of the run. */
  readonly atMs: number;
  /** The instant that was evaluated. */
  readonly evaluatedAtMs: number;
  readonly severity: Severity;
  readonly currentCount: number | null;
  readonly baselineCount: number | null;
  readonly expectedCount: number | null;
  /** The thresholds that derive the expected count from the baseline's; null if unknown. */
  readonly rule: ExpectationRule | null;
  /** The instant at which the past was evaluated; absent: by a run, which ended at `atMs`. */
  readonly computedAtMs?: number;
}

/** Expected count = baseline count × windowHours / (baselineDays × 24). */
export interface ExpectationRule {
  readonly windowHours: number;
  readonly baselineDays: number;
}

const spikeThresholds = ["windowHours", "baselineDays", "warnMultiplier", "failMultiplier"] as const;

/** Returns what the history keeps of every run. */
export function pointOf(report: CheckReport): RunPoint {
  const { startedAtMs, finishedAtMs, severity } = report;
  if (report.kind === "error")
    return {
      atMs: finishedAtMs,
      evaluatedAtMs: startedAtMs,
      severity,
      currentCount: null,
      baselineCount: null,
      expectedCount: null,
      rule: null,
    };
  const { currentCount, baselineCount, expectedCount } = report.counts;
  // A service reports the time of its own clock.
  const generatedAtMs = Date.parse(report.result.generatedAt);
  return {
    atMs: finishedAtMs,
    evaluatedAtMs: generatedAtMs >= startedAtMs && generatedAtMs <= finishedAtMs ? generatedAtMs : startedAtMs,
    severity,
    currentCount,
    baselineCount,
    expectedCount,
    rule: ruleOf(report.result.threshold),
  };
}

function ruleOf(threshold: Readonly<Record<string, unknown>>): ExpectationRule | null {
  const [windowHours, baselineDays, ...multipliers] = spikeThresholds.map((name) => threshold[name]);
  const isSpike = multipliers.every((multiplier) => typeof multiplier === "number");
  return isSpike && isCount(windowHours) && isCount(baselineDays) ? { windowHours, baselineDays } : null;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

/** Merges runs by their ends, the earliest first; of two runs at the same instant, the last one of `added` wins. */
export function mergeRuns(known: readonly RunPoint[], added: readonly RunPoint[]): RunPoint[] {
  const byEnd = new Map<number, RunPoint>();
  for (const point of known) byEnd.set(point.atMs, point);
  for (const point of added) byEnd.set(point.atMs, point);
  return [...byEnd.values()].toSorted((left, right) => left.atMs - right.atMs);
}
