import { medianDays, type BaselineKind, type DayCounts, type DayWindow } from "./median.ts";
import type { SpikeThresholds } from "./thresholds.ts";
import { spikeWindow } from "./window.ts";

const minuteMs = 60_000;
const hourMs = 3_600_000;

/** A past incident that is to leave the baseline: the instants from `fromMs` to before `toMs`, epoch ms. */
export interface ExcludedStretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** `too_much`: less than half of the baseline would be left, so that none is left out. */
export type BaselineExclusion = "none" | "applied" | "too_much";

/** What of a baseline is left out. */
export interface ExcludedBaseline {
  readonly exclusion: BaselineExclusion;
  /** Parts of the baseline that a mean leaves out, ascending and apart; `baselineCount` must not contain their deaths. */
  readonly intervals: readonly DayWindow[];
  /** Whether a median leaves out each of medianDays. */
  readonly days: readonly boolean[];
  /** How long that is; of a median the days that are left out times the window. */
  readonly excludedMs: number;
}

/** What an exclusion depends on. */
export interface ExclusionInput {
  readonly nowMs: number;
  readonly thresholds: Pick<SpikeThresholds, "windowHours" | "baselineDays">;
  readonly baseline: BaselineKind;
  /** In any order; they may overlap. */
  readonly stretches: readonly ExcludedStretch[];
}

/** A baseline of which nothing is left out. */
export const wholeBaseline: ExcludedBaseline = { exclusion: "none", intervals: [], days: [], excludedMs: 0 };

/**
 * Returns what of the baseline lies in past incidents (CONTRACT 12): of a mean their minutes, whole ones, outward; of a median the days
 * whose slice touches one. Nothing, where less than half of the baseline would be left.
 * @throws SpikeInputError as spikeWindow and medianDays
 */
export function excludedBaseline(input: ExclusionInput): ExcludedBaseline {
  if (input.stretches.length === 0) return wholeBaseline;
  return input.baseline === "median" ? withoutDays(input) : withoutMinutes(input);
}

function withoutMinutes({ nowMs, thresholds, stretches }: ExclusionInput): ExcludedBaseline {
  const { baselineStartMs, windowStartMs } = spikeWindow(nowMs, thresholds);
  const parts = stretches
    .map((stretch) => outward(stretch))
    .map(({ afterMs, untilMs }) => ({
      afterMs: Math.max(afterMs, baselineStartMs),
      untilMs: Math.min(untilMs, windowStartMs),
    }))
    .filter(({ afterMs, untilMs }) => afterMs < untilMs)
    .toSorted((left, right) => left.afterMs - right.afterMs);
  const intervals: DayWindow[] = [];
  for (const part of parts) {
    const last = intervals.at(-1);
    if (last === undefined || part.afterMs > last.untilMs) intervals.push(part);
    else intervals[intervals.length - 1] = { ...last, untilMs: Math.max(last.untilMs, part.untilMs) };
  }
  const excludedMs = intervals.reduce((sum, { afterMs, untilMs }) => sum + untilMs - afterMs, 0);
  if (excludedMs === 0) return wholeBaseline;
  if (2 * excludedMs > windowStartMs - baselineStartMs) return tooMuch;
  return { exclusion: "applied", intervals, days: [], excludedMs };
}

function withoutDays({ nowMs, thresholds, stretches }: ExclusionInput): ExcludedBaseline {
  const incidents = stretches.map((stretch) => outward(stretch));
  const days = medianDays(nowMs, thresholds).map((day) =>
    incidents.some(({ afterMs, untilMs }) => afterMs < day.untilMs && day.afterMs < untilMs),
  );
  const left = days.filter((isLeftOut) => isLeftOut).length;
  if (left === 0) return wholeBaseline;
  if (2 * left > days.length) return tooMuch;
  return { exclusion: "applied", intervals: [], days, excludedMs: left * thresholds.windowHours * hourMs };
}

const tooMuch: ExcludedBaseline = { ...wholeBaseline, exclusion: "too_much" };

/** Returns the counts of a median's days without those that are left out. */
export function withoutExcluded(dayCounts: DayCounts, { days }: ExcludedBaseline): DayCounts {
  return days.length === 0 ? dayCounts : dayCounts.map((count, index) => (days[index] === true ? null : count));
}

/** Whole minutes, as intervals are counted: after their first instant's predecessor, up to and with their last instant. */
function outward({ fromMs, toMs }: ExcludedStretch): DayWindow {
  return {
    afterMs: Math.floor(fromMs / minuteMs) * minuteMs - 1,
    untilMs: Math.ceil(Math.max(toMs, fromMs) / minuteMs) * minuteMs - 1,
  };
}
