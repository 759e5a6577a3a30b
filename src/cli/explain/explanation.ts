import type { AlertHistoryEntry } from "../../store/alerts/alert-history.ts";
import type { Severity } from "../../contract/severity.ts";
import type { CheckName } from "../../contract/report.ts";
import type { JudgementVerdict } from "../../contract/judgement.ts";
import type { BaselineExclusion, ExcludedStretch } from "../../spike/exclusion.ts";
import type { CountKind } from "../../spike/findings.ts";
import type { BaselineKind } from "../../spike/median.ts";

/** Counts and what follows from them. */
export interface ExplainedCounts {
  readonly severity: Severity;
  readonly currentCount: number | null;
  readonly baselineCount: number | null;
  readonly expectedCount: number | null;
  /** With a median baseline the counts of each of its days, the latest first. */
  readonly days: readonly number[];
  /** Deaths of the window whose asset was found alive again by the end of it; null: not read, or not kept. */
  readonly revivedCount: number | null;
}

/** The judgement of a spike alert at the time of a run. */
export interface ExplainedJudgement {
  readonly alertId: string;
  readonly verdict: JudgementVerdict;
  readonly comment: string | null;
  readonly by: string;
  readonly atMs: number;
  /** When the deaths of the alert began. */
  readonly fromMs: number;
  /** null: it fired still. */
  readonly toMs: number | null;
}

/** A threshold that a verdict was made with, and where the configuration sets it now. */
export interface ExplainedSetting {
  readonly name: string;
  readonly value: number | string;
  /** `file:line`, or `default`; null: the organization is no longer configured. */
  readonly setIn: string | null;
  /** What the configuration says now, where that is something else. */
  readonly valueNow: number | string | null;
}

/** How a stored verdict compares with what its input gives when it is evaluated again. */
export type ExplainedMatch =
  /** What is recomputed as known then is what was stored. */
  | "same"
  /** It is not. */
  | "different"
  /** The input is not flatline's, or not kept. */
  | "not-recomputable";

/** One stored verdict, recomputed from stored input. */
export interface VerdictExplanation {
  /** `SLUG@INSTANT` */
  readonly id: string;
  readonly check: CheckName;
  readonly slug: string;
  /** When the run ended. */
  readonly atMs: number;
  /** When an hour before the first run was evaluated from stored events; null: by a run, at that time. */
  readonly computedAtMs: number | null;
  /** End of the window; null where it is not known to the millisecond. */
  readonly evaluatedAtMs: number | null;
  /** The flatline that ran it; null: not recorded. */
  readonly version: string | null;
  readonly baseline: BaselineKind;
  /** What all counts are of. */
  readonly count: CountKind;
  readonly window: { readonly afterMs: number; readonly untilMs: number } | null;
  readonly baselineSpan: { readonly afterMs: number; readonly untilMs: number } | null;
  /** What had been said by then of alerts whose deaths lie in the window or the baseline. */
  readonly judgements: readonly ExplainedJudgement[];
  /** Whether the stretches of `excluded` are left out of the baseline; null: past incidents are not looked at. */
  readonly exclusion: BaselineExclusion | null;
  /** Past incidents of the baseline that were judged `checker` by then. */
  readonly excluded: readonly ExcludedStretch[];
  readonly settings: readonly ExplainedSetting[];
  readonly stored: ExplainedCounts;
  /** From the events that had come in when it was evaluated. */
  readonly asKnownThen: ExplainedCounts | null;
  /** From the events that are there now: late ones and imports included. */
  readonly asKnownNow: ExplainedCounts | null;
  readonly match: ExplainedMatch;
  /** Why it is not the same, or can't be said; null where it is the same. */
  readonly note: string | null;
}

/** One decision of an alert's life, with the verdict that it came from. */
export interface DecisionExplanation {
  readonly entry: AlertHistoryEntry;
  /** null: the decision came from no run, as an acknowledgement does. */
  readonly verdict: VerdictExplanation | null;
}

/** What `flatline explain ID` found. */
export type Explanation =
  | { readonly kind: "verdict"; readonly verdict: VerdictExplanation }
  | { readonly kind: "alert"; readonly alertId: string; readonly decisions: readonly DecisionExplanation[] };
