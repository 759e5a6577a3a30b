import type { ExcludedStretch } from "../spike/exclusion.ts";

/** What people may say of an alert: the checker was wrong, its assets did die, or it was known beforehand. */
export const judgementVerdicts = ["checker", "real", "expected"] as const;
export type JudgementVerdict = (typeof judgementVerdicts)[number];

/** What each verdict says, as the middle of a sentence. */
export const judgementMeanings: Readonly<Record<JudgementVerdict, string>> = {
  checker: "the checker was wrong",
  real: "these assets did die",
  expected: "it was known beforehand",
};

/** A past incident that a person judged `checker`: its deaths are not to be expected again. */
export interface JudgedStretch {
  readonly fromMs: number;
  /** null: it still lasts. */
  readonly toMs: number | null;
  readonly judgedAtMs: number;
}

/** Returns what an evaluation at `nowMs` leaves out of its baseline: what was judged by then, as far as it had lasted. */
export function stretchesAt(stretches: readonly JudgedStretch[], nowMs: number): ExcludedStretch[] {
  return stretches
    .filter(({ judgedAtMs }) => judgedAtMs <= nowMs)
    .map(({ fromMs, toMs }) => ({ fromMs, toMs: Math.min(toMs ?? nowMs, nowMs) }));
}
