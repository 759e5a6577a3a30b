import type { ExcludedStretch } from "../spike/exclusion.ts";

/** A past incident, judged so by somebody: its deaths are not to be expected again. */
export interface JudgedStretch {
  readonly fromMs: number;
  /** null: it still lasts. */
  readonly toMs: number | null;
  readonly judgedAtMs: number;
}

/** What an evaluation at `nowMs` leaves out of its baseline: what was judged by then, as far as it had lasted. */
export function stretchesAt(stretches: readonly JudgedStretch[], nowMs: number): ExcludedStretch[] {
  return stretches
    .filter(({ judgedAtMs }) => judgedAtMs <= nowMs)
    .map(({ fromMs, toMs }) => ({ fromMs, toMs: Math.min(toMs ?? nowMs, nowMs) }));
}
