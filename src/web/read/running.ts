import type { OutboxReceiver } from "../../alerting/deliver/attempt.ts";
import type { Logger } from "../../base/logger.ts";
import type { Actor } from "../../contract/actor.ts";
import type { Config } from "../../config/config.ts";
import type { AlertingSettings } from "../../alerting/settings.ts";
import type { DiscoverySource } from "../../contract/listed-organization.ts";
import { minuteMs, type Clock } from "../../base/time.ts";
import type { JudgementVerdict } from "../../contract/judgement.ts";
import type { CheckName, CheckReport } from "../../contract/report.ts";
import type { SpikeThresholds } from "../../checks/kind.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import type { FleetSnapshot } from "./fleet.ts";
import type { CheckState as LastState } from "../../store/runs/check-state.ts";
import type { Look } from "../../store/alerts/looks.ts";
import type { Store } from "../../store/store.ts";

type LastFacts =
  | "kind"
  | "severity"
  | "severitySinceMs"
  | "lastRunAtMs"
  | "lastSuccessAtMs"
  | "lastCounts"
  | "lastReport"
  | "lastResultReport";

/** The last state of a configured check, and its next run, always as they are now. */
export interface CheckState {
  readonly check: CheckName;
  readonly slug: string;
  readonly nextDueAtMs: number;
  readonly isRunning: boolean;
  /** null: it has not run yet. */
  readonly last: Pick<LastState, LastFacts> | null;
  /** null: the intervals of its schedule differ. */
  readonly intervalMs: () => number | null;
  /** An older result is stale (three intervals, at least 2 min, milliseconds); infinite before the first run. */
  readonly staleAfterMs: () => number;
}

/** Returns whether a check's last result is stale. */
export function isStale(state: CheckState, nowMs: number): boolean {
  const { last } = state;
  return last !== null && last.severity !== "unknown" && nowMs - last.lastRunAtMs > state.staleAfterMs();
}

// A run that is this late is news; a busy scheduler may be a little late.
const lateAfterMs = minuteMs;

/** Returns whether a check's run should have begun by now. */
export function isLate(state: CheckState, nowMs: number): boolean {
  return state.last !== null && state.nextDueAtMs + lateAfterMs < nowMs && !state.isRunning;
}

/** Returns whether no event of its organization was ever stored, which is no failure. */
export function isWithoutEvents({ last }: Pick<CheckState, "last">): boolean {
  return last?.kind === "no_events";
}

/** The configured checks with their current state. */
export interface RunningChecks {
  all(): readonly CheckState[];
  /** null: it is not configured. */
  of(check: CheckName, slug: string): CheckState | null;
}

/** The running daemon, as far as the web reads it. */
export interface Running {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The store's problem as a clause; null: none. */
  readonly storeProblem: () => string | null;
  readonly checks: RunningChecks;
  /** The applied configuration's time, and the last reload; null: none since the start. */
  readonly reloads: () => {
    readonly appliedAtMs: number;
    readonly lastReload: { readonly atMs: number; readonly problem: string | null } | null;
  };
  /** The current configuration. */
  readonly config: () => Config;
  /** flatline's own checks, then the configured healthchecks. */
  readonly checkNames: () => readonly CheckName[];
  /** `embedded`, or the host of the remote source. */
  readonly source: () => string;
  /** Whether single events are stored. */
  readonly holdsEvents: () => boolean;
  readonly receivers: () => readonly OutboxReceiver[];
  /** The discovery sources, in the configuration's order. */
  readonly discovery: () => readonly DiscoverySource[];
  /** Runs a check now, as its schedule does. @throws FlatlineError not_found, conflict, unavailable (stopping) */
  readonly runNow: (check: CheckName, slug: string, author: Actor) => Promise<CheckReport>;
  /** null: the organization has no spike check. */
  readonly thresholdsOf: (slug: string) => SpikeThresholds | null;
  /** Whether its spike check counts each asset once, and not deaths. */
  readonly countsAssets: (slug: string) => boolean;
  readonly settings: () => AlertingSettings;
  readonly canLook: () => boolean;
  /** Starts a look at an incident (CONTRACT 16). @throws FlatlineError usage, too_many */
  readonly look: (incident: Incident) => Promise<Look>;
  readonly newId: () => string;
  /** Called after an act: notifications may be due, and pages have changed. */
  readonly onAct: () => void;
  /** Changes with the content of any page. */
  readonly version: () => string;
  readonly fleet: () => Promise<FleetSnapshot>;
  /** Called for each judged alert. */
  readonly onJudged: (check: CheckName, verdict: JudgementVerdict) => void;
}
