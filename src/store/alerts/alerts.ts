import type { JudgementVerdict } from "../../contract/judgement.ts";
import type { CheckName } from "../../contract/report.ts";
import type { SpikeOnset } from "../../contract/spike-onset.ts";
import type { Severity } from "../../contract/severity.ts";

export type AlertKind = "verdict" | "unknown";

/** The first digits of an alert's id, as a person names it: at least four, and not all of them. */
export const beginOfAlertId = /^[0-9a-f][0-9a-f-]{3,34}$/;
/** More ids that begin alike are too many to choose from; four digits are one of 65,536. */
export const mostStartingAlike = 50;

/** The worst that an alert has seen. */
export interface AlertPeak {
  readonly severity: Severity;
  readonly currentCount: number | null;
  readonly atMs: number;
}

/** A person has seen it: quiet until it is resolved, or worse than `severity`. */
export interface AlertAcknowledgement {
  readonly atMs: number;
  readonly by: string | null;
  /** What the request claims about its author; not verified. */
  readonly note: string | null;
  readonly comment: string | null;
  /** What was acknowledged; above it the alert speaks again. */
  readonly severity: Severity;
  /** It has failed again since: that was not acknowledged. Instants do not say so, for clocks are set back. */
  readonly isBeforeFail?: true;
}

/** The judgement of a person who looked at an alert. */
export interface AlertJudgement {
  readonly verdict: JudgementVerdict;
  readonly comment: string | null;
  readonly by: string;
  /** What a request says of its author beside that. */
  readonly note: string | null;
  readonly atMs: number;
}

/** One live alert: at most one a (check, slug, kind) (CONTRACT 1 and 7). */
export interface AlertState {
  readonly id: string;
  readonly check: CheckName;
  readonly slug: string;
  readonly kind: AlertKind;
  readonly state: "pending" | "firing";
  readonly severity: Severity;
  /** Time of the episode's first non-ok (or first unknown) run. */
  readonly startsAtMs: number;
  readonly firingAtMs: number | null;
  /** First ok run since the last non-ok one, while keepFiringFor holds it; null while it is not ok. */
  readonly okSinceMs: number | null;
  /** Consecutive runs without a result, for kind unknown. */
  readonly unknownRuns: number;
  readonly peak: AlertPeak;
  readonly acknowledgement: AlertAcknowledgement | null;
  /** When the episode's excess began, the earliest that its runs found; absent if none found one. */
  readonly onset?: SpikeOnset;
  /** The window of the spike check at the episode's first run; absent for other checks, and where a service does not say. */
  readonly windowHours?: number;
  /** The one that holds; absent where there is none. */
  readonly judgement?: AlertJudgement;
  /** The named reason of the last decision about it (alerting/decide/reasons.ts). */
  readonly reason: string;
}

/** How an alert that fired ended; its `reason` says why. */
export interface AlertEnd {
  /** Time of the run that ended it, or of the reload that removed it. */
  readonly atMs: number;
  /** Whether a run ended it, not a reload that removed its organization or check. */
  readonly isByRun: boolean;
  /** `baselineExclusion` of the run that ended it; null: the run had none, or no run ended it. */
  readonly baselineExclusion: "none" | "applied" | "too_much" | null;
}

/** An alert that is live, or fired and is over. */
export interface KeptAlert {
  readonly alert: AlertState;
  /** null while it lives. */
  readonly end: AlertEnd | null;
}

/** One line of an alert's life, for the page, `alerts list` and `explain`. */
export interface AlertHistoryEntry {
  readonly alertId: string;
  readonly check: CheckName;
  readonly slug: string;
  readonly kind: AlertKind;
  readonly atMs: number;
  readonly event: string;
  readonly severity: Severity;
  readonly reason: string;
}

export interface AlertStore {
  live(check: CheckName, slug: string): Promise<readonly AlertState[]>;
  /** The live alerts of all of these, in no order. */
  liveOf(checks: readonly { readonly check: CheckName; readonly slug: string }[]): Promise<readonly AlertState[]>;
  allLive(): Promise<readonly AlertState[]>;
  byId(alertId: string): Promise<AlertState | null>;
  save(state: AlertState): Promise<void>;
  /** Deletes a live one, with its comments. */
  remove(alertId: string): Promise<void>;
  /** Live, or ended and still kept. */
  find(alertId: string): Promise<KeptAlert | null>;
  /** At most `limit` ids, live or ended and still kept, that begin so; `prefix` holds no wildcard of LIKE. */
  idsFrom(prefix: string, limit: number): Promise<readonly { readonly id: string; readonly slug: string }[]>;
  /** Changes one that is there, live or ended; nothing where it is neither. */
  change(state: AlertState): Promise<void>;
  /** Keeps a live one as ended. */
  end(state: AlertState, end: AlertEnd): Promise<void>;
  /** Those of a check that ended since `fromMs`, newest first. */
  ended(query: { check: CheckName; slug: string; fromMs: number; limit: number }): Promise<readonly KeptAlert[]>;
  /** Those of all checks and organizations that ended since `fromMs`, newest first. */
  allEnded(query: { fromMs: number; limit: number }): Promise<readonly KeptAlert[]>;
  appendHistory(entry: AlertHistoryEntry): Promise<void>;
  history(query: {
    check: CheckName;
    slug: string;
    fromMs: number;
    limit: number;
  }): Promise<readonly AlertHistoryEntry[]>;
  /** The whole life of one alert as far as it is kept, oldest first. */
  historyOf(alertId: string): Promise<readonly AlertHistoryEntry[]>;
  /**
   * Deletes alerts that ended at or before `beforeMs`, with their judgements and comments, at most `maxRows` at a time: not
   * those of the gate's failures, which the gate prunes first, and those judged `checker` only where they ended by `checkersBeforeMs`.
   */
  pruneEnded(limits: {
    beforeMs: number;
    checkersBeforeMs: number;
    maxRows: number;
  }): Promise<{ readonly hasMore: boolean }>;
  /** Deletes history at or before `beforeMs` but that of the gate's failures, at most `maxRows` at a time. */
  pruneHistory(limits: { beforeMs: number; maxRows: number }): Promise<{ readonly hasMore: boolean }>;
}
