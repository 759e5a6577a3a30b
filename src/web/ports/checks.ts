import type { Actor } from "../../contract/actor.ts";
import type { CheckName, CheckReport, ShownCounts } from "../../contract/report.ts";
import type { Severity } from "../../contract/severity.ts";
import type { AlertJudgement, AlertState } from "../../store/alerts/alerts.ts";

/** The last state of a configured check, and when it is due again. */
export interface CheckState {
  readonly check: CheckName;
  readonly slug: string;
  readonly nextDueAtMs: number;
  /** By this process, just now. */
  readonly isRunning: boolean;
  readonly lastRunAtMs: number | null;
  readonly lastSuccessAtMs: number | null;
  /** Severity of the last run; null before the first. */
  readonly severity: Severity | null;
  /** Since when the severity holds. */
  readonly severitySinceMs: number | null;
  /** What its last report counts; null without one that has a result. */
  readonly lastCounts: ShownCounts | null;
  readonly lastReport: CheckReport | null;
  /** Report of the last run that gave a result. */
  readonly lastResultReport: CheckReport | null;
}

/** A check of an organization with its live alerts. */
export interface CheckSnapshot {
  readonly state: CheckState;
  readonly alerts: readonly (AlertState & { readonly silenced: boolean })[];
  /** The last verdict is older than this: it is shown as after a failed run (three intervals, at least 2 min). */
  readonly staleAfterMs: number;
  /** How far apart the ticks of its schedule are, milliseconds; null where they are uneven. */
  readonly intervalMs: number | null;
  /** The tick after the one at which its next run is due: with neither run it has missed an interval. */
  readonly secondDueAtMs: number;
}

/** An alert that fired and has ended. */
export interface EndedAlert {
  readonly id: string;
  readonly kind: AlertState["kind"];
  /** The last it had. */
  readonly severity: AlertState["severity"];
  readonly startsAtMs: number;
  readonly endsAtMs: number;
  readonly reason: string;
  /** The one that holds; null: not judged. */
  readonly judgement: AlertJudgement | null;
  /** Its deaths of known assets, and how many of these were found alive again by now; null when unknown. */
  readonly deaths: { readonly judgedCount: number; readonly revivedCount: number } | null;
  /** Why it is now thought to have been the checker, whatever was thought while it fired; null: nothing new is known. */
  readonly revisedCause: string | null;
}

export interface ChecksPort {
  /** The names of flatline's own checks, then those of the healthchecks that are configured now. */
  names(): readonly CheckName[];
  list(): Promise<readonly CheckSnapshot[]>;
  get(check: CheckName, slug: string): Promise<CheckSnapshot | null>;
  /** Alerts of it that ended lately, newest first. */
  ended(check: CheckName, slug: string): Promise<readonly EndedAlert[]>;
  /** Runs it like a scheduled run. @throws FlatlineError not_found, conflict (runs elsewhere), unavailable (stopping) */
  runNow(check: CheckName, slug: string, author: Actor): Promise<CheckReport>;
}
