import { barLengthOf, stepOf } from "../pages/chart/scales.ts";
import type { Span } from "../pages/chart/span.ts";
import type { Running } from "./running.ts";

/** What a chart is read from. */
export type ChartSource = Pick<Running, "store" | "clock" | "holdsEvents" | "thresholdsOf" | "countsAssets">;

/** An organization whose deaths are in a chart. */
export interface ChartMember {
  readonly slug: string;
  readonly windowHours: number;
  /** Deaths expected in its window; null: unknown. Of one alone its runs say it. */
  readonly expected: number | null;
  readonly beganMs: number;
}

/** The instants of a chart's values, and its bars. */
export interface Grid extends Span {
  readonly stepMs: number;
  readonly barMs: number;
  readonly at: readonly number[];
  readonly isLive: boolean;
}

/** Makes the grid of a stretch: it begins and ends on the clock, or now. */
export function gridOf(span: Span, nowMs: number, leastStepMs = 0): Grid {
  const lengthMs = span.toMs - span.fromMs;
  const stepMs = Math.max(stepOf(lengthMs), leastStepMs);
  const fromMs = Math.floor(span.fromMs / stepMs) * stepMs;
  const toMs = Math.min(Math.ceil(span.toMs / stepMs) * stepMs, nowMs);
  const at: number[] = [];
  for (let atMs = fromMs; atMs < toMs; atMs += stepMs) at.push(atMs);
  return { fromMs, toMs, stepMs, barMs: barLengthOf(lengthMs), at: [...at, toMs], isLive: toMs === nowMs };
}
