import type { OutboxReceiver } from "../../alerting/deliver/attempt.ts";
import type { Logger } from "../../base/logger.ts";
import type { Actor } from "../../contract/actor.ts";
import type { Config } from "../../config/config.ts";
import type { CheckReport } from "../../contract/report.ts";
import type { AlertingSettings } from "../../alerting/settings.ts";
import type { DiscoverySource } from "../../contract/listed-organization.ts";
import type { Clock } from "../../base/time.ts";
import type { JudgementVerdict } from "../../contract/judgement.ts";
import type { CheckName } from "../../contract/report.ts";
import type { SpikeThresholds } from "../../checks/kind.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import type { FleetSnapshot } from "./fleet.ts";
import type { CheckState as LastState } from "../../store/runs/check-state.ts";
import type { Look } from "../../store/alerts/looks.ts";
import type { Store } from "../../store/store.ts";

type LastFacts =
  "severity" | "severitySinceMs" | "lastRunAtMs" | "lastSuccessAtMs" | "lastCounts" | "lastReport" | "lastResultReport";

/** The last state of a configured check, and when it is due again. */
export interface CheckState {
  readonly check: CheckName;
  readonly slug: string;
  readonly nextDueAtMs: number;
  /** By this process, just now. */
  readonly isRunning: boolean;
  /** What the board has of it; null before the first run. */
  readonly last: Pick<LastState, LastFacts> | null;
  /** How far apart the ticks of its schedule are, milliseconds; null where they are uneven. */
  readonly intervalMs: () => number | null;
  /** Beyond this age its last verdict is shown as after a failed run (three intervals, at least 2 min); infinite before the first. */
  readonly staleAfterMs: () => number;
}

/** Returns whether its last verdict is older than it may be. */
export function isStale(state: CheckState, nowMs: number): boolean {
  const { last } = state;
  return last !== null && last.severity !== "unknown" && nowMs - last.lastRunAtMs > state.staleAfterMs();
}

/** Returns whether no event of its organization was ever stored, which is no error: nothing has come yet. */
export function isWithoutEvents({ last }: Pick<CheckState, "last">): boolean {
  const report = last?.lastReport;
  return report?.kind === "error" && report.error.reason === "no_events";
}

/** The configured checks, as the board and the schedule know them now. */
export interface RunningChecks {
  all(): readonly CheckState[];
  /** null: it is not configured. */
  of(check: CheckName, slug: string): CheckState | null;
}

/** What runs, as far as the readings of the web need it beside the store. */
export interface Running {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What is wrong with the store, in words, beginning in lower case; null when nothing is. */
  readonly storeProblem: () => string | null;
  readonly checks: RunningChecks;
  /** When the configuration was applied, and how the last reload went; null: none since the start. */
  readonly reloads: () => {
    readonly appliedAtMs: number;
    readonly lastReload: { readonly atMs: number; readonly problem: string | null } | null;
  };
  /** The configuration that holds now. */
  readonly config: () => Config;
  /** The names of flatline's own checks, then those of the healthchecks that are configured now. */
  readonly checkNames: () => readonly CheckName[];
  /** `embedded`, or the host of the remote source. */
  readonly source: () => string;
  /** Whether single events are stored: the source is an embedded one. */
  readonly holdsEvents: () => boolean;
  /** Those that are configured now, connected. */
  readonly receivers: () => readonly OutboxReceiver[];
  /** How the sources of organizations stand, in the configuration's order. */
  readonly discovery: () => readonly DiscoverySource[];
  /** Runs a check like a scheduled run, as an act of `author`. @throws FlatlineError not_found, conflict (runs elsewhere), unavailable (stopping) */
  readonly runNow: (check: CheckName, slug: string, author: Actor) => Promise<CheckReport>;
  /** What the spike check of an organization is held to now; null: it is not, or no longer, checked. */
  readonly thresholdsOf: (slug: string) => SpikeThresholds | null;
  /** Whether its spike check counts assets, each once, and not deaths. */
  readonly countsAssets: (slug: string) => boolean;
  /** Those that hold now. */
  readonly settings: () => AlertingSettings;
  /** Whether a verifier is configured. */
  readonly canLook: () => boolean;
  /** Begins a look at an incident (CONTRACT 16). @throws FlatlineError usage, too_many */
  readonly look: (incident: Incident) => Promise<Look>;
  /** Ids, unique over all time. */
  readonly newId: () => string;
  /** Called after an act: receivers may have to be notified, and what pages show has changed. */
  readonly onAct: () => void;
  /** Of all that pages show: who has the same needs to read nothing again. */
  readonly version: () => string;
  /** What lives now. */
  readonly fleet: () => Promise<FleetSnapshot>;
  /** Called for each alert that was judged. */
  readonly onJudged: (check: CheckName, verdict: JudgementVerdict) => void;
}
