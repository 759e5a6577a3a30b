import type { Refusal } from "../contract/refusals.ts";
import type { FailedVia } from "../contract/actor.ts";
import type { JudgementVerdict } from "../contract/judgement.ts";
import type { CheckErrorReason, CheckName, CheckReport } from "../contract/report.ts";
import type { LookAnswer, OpinionVerdict } from "../contract/second-opinion.ts";
import type { Severity } from "../contract/severity.ts";
import type { skipReasons } from "./catalogue.ts";

export type DeliveryOutcomeLabel = "delivered" | "retried" | "dead_lettered";

/** What is counted of a run. */
export type RanCheck = Pick<CheckReport, "check" | "slug" | "severity"> & {
  readonly error?: { readonly reason: CheckErrorReason };
};

/** Where the rooms count what they did; metrics/ turns it into the series of CONTRACT 6. */
export interface Metrics {
  /** A scheduled run ended (not a probe's): runs, errors, duration. */
  checkRan(report: RanCheck, durationSeconds: number): void;
  runSkipped(check: CheckName, reason: (typeof skipReasons)[number], count: number): void;
  /** A run began so late. */
  schedulerLag(seconds: number): void;
  /** A request to a receiver begins; what is answered is called when it is over, with whether its timeout ended it. */
  attemptBegan(receiver: string): (isTimedOut: boolean) => void;
  notificationAttempt(receiver: string, outcome: DeliveryOutcomeLabel, durationSeconds: number): void;
  sourceRequest(operation: string, code: string): void;
  apiRequest(operation: string, code: string): void;
  authFailed(via: FailedVia): void;
  eventsIngested(status: string, count: number): void;
  eventsRefused(reason: Refusal, count: number): void;
  alertJudged(check: CheckName, verdict: JudgementVerdict): void;
  incidentOpened(family: string): void;
  /** Counts what the verifier said of one asset. */
  assetLookedAt(answer: LookAnswer): void;
  opinionGiven(verdict: OpinionVerdict): void;
  configReloaded(ok: boolean, nowMs: number): void;
}

/** The state of a (check, slug) from which its series are rendered. */
export interface CheckSeriesInput {
  readonly check: CheckName;
  readonly slug: string;
  /** The last run, or null before the first. An error report hides observed, threshold and findings. */
  readonly lastReport: CheckReport | null;
  readonly lastRunAtMs: number | null;
  readonly lastSuccessAtMs: number | null;
  readonly nextDueAtMs: number;
  /** A last verdict older than this is shown as after a failed run (three intervals, at least 2 min). */
  readonly staleAfterMs: number;
}

/** Gauges that are read from the store at each scrape. */
export interface FleetGauges {
  readonly alerts: readonly {
    check: CheckName;
    slug: string;
    severity: Severity;
    state: "pending" | "firing";
    silenced: boolean;
  }[];
  readonly outbox: readonly {
    receiver: string;
    pending: number;
    deadLetters: number;
    oldestCreatedAtMs: number | null;
  }[];
  readonly receivers: readonly string[];
  /** The ends of the pauses that receivers asked for, epoch ms; a receiver without one is absent. */
  readonly pauses: ReadonlyMap<string, number>;
  readonly storeBytes: number;
  /** Organizations that send events and are not configured. */
  readonly unwatchedSlugs: number;
  /** The latest ones; a null slug is about all organizations. */
  readonly markers: readonly { readonly text: string; readonly slug: string | null; readonly atMs: number }[];
  /** Gates of all organizations; `heldSinceMs` null: no failure holds it. */
  readonly gates: readonly { readonly slug: string; readonly heldSinceMs: number | null }[];
  /** Incidents that are open. */
  readonly incidents: readonly {
    readonly family: string;
    readonly severity: Severity;
    readonly state: "active" | "acknowledged" | "silenced";
  }[];
  /** Names of flatline's own checks and of the configured healthchecks. */
  readonly checks: readonly CheckName[];
  /** Families that alerts of the configured checks can have. */
  readonly families: readonly string[];
  /** Whether a fleet verdict holds. */
  readonly hasVerdict: boolean;
  readonly discovery: readonly {
    source: string;
    /** The last refresh gave a list. */
    isUp: boolean;
    /** A list waits for a person, or for refreshes that give it again. */
    isHeld: boolean;
    organizations: number;
  }[];
  readonly nowMs: number;
}

export type { CheckErrorReason };
