import type { AlertingSettings } from "../../alerting/settings.ts";
import type { Clock } from "../../base/time.ts";
import type { JudgementVerdict } from "../../contract/judgement.ts";
import type { CheckName } from "../../contract/report.ts";
import type { SpikeThresholds } from "../../checks/target.ts";
import type { History } from "../../store/runs/history.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import type { Look } from "../../store/alerts/looks.ts";
import type { Store } from "../../store/store.ts";
import type { CheckState } from "../ports/checks.ts";

/** The configured checks, as the board and the schedule know them now. */
export interface RunningChecks {
  all(): readonly CheckState[];
  /** null: it is not configured. */
  of(check: CheckName, slug: string): CheckState | null;
  /** How far apart the ticks of its schedule are, milliseconds; null where they are uneven. */
  intervalMs(state: CheckState): number | null;
  /** Beyond this age a verdict is shown as after a failed run. */
  staleAfterMs(state: CheckState): number;
}

/** What runs, as far as the readings of the web need it beside the store. */
export interface Running {
  readonly store: Store;
  readonly clock: Clock;
  readonly history: Pick<History, "points" | "reports" | "firstAtMs" | "runsOfHours">;
  readonly checks: RunningChecks;
  /** `embedded`, or the host of the remote source. */
  readonly source: () => string;
  /** Whether single events are stored: the source is an embedded one. */
  readonly holdsEvents: () => boolean;
  /** What the spike check of an organization is held to now; null: it is not, or no longer, checked. */
  readonly thresholdsOf: (slug: string) => SpikeThresholds | null;
  /** Whether its spike check counts assets, each once, and not deaths. */
  readonly countsAssets: (slug: string) => boolean;
  /** Those that hold now. */
  readonly settings: () => AlertingSettings;
  /** Whether flatline looks at dead assets by itself. */
  readonly canLook: () => boolean;
  /** Begins a look at an incident (CONTRACT 16). @throws FlatlineError usage, too_many */
  readonly look: (incident: Incident) => Promise<Look>;
  /** Ids, unique over all time. */
  readonly newId: () => string;
  /** Called after an act: receivers may have to be notified. */
  readonly onAct: () => void;
  /** Called for each alert that was judged. */
  readonly onJudged: (check: CheckName, verdict: JudgementVerdict) => void;
}
