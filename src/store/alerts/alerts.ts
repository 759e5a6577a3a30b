import type { CheckName } from "../../contract/report.ts";
import type { SpikeOnset } from "../../contract/spike-onset.ts";
import type { Severity } from "../../contract/severity.ts";

export type AlertKind = "verdict" | "unknown";

/** The worst that an alert has seen. */
export interface AlertPeak {
  readonly severity: Severity;
  readonly currentCount: number | null;
  readonly atMs: number;
}

/** Somebody has seen it: quiet until it is resolved, or worse than `severity`. */
export interface AlertAcknowledgement {
  readonly atMs: number;
  readonly by: string | null;
  readonly comment: string | null;
  /** What was acknowledged; above it the alert speaks again. */
  readonly severity: Severity;
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
  /** When the episode's excess began, the earliest that its runs found; absent where none could tell. */
  readonly onset?: SpikeOnset;
  /** The named reason of the last decision about it (alerting/decide/reasons.ts). */
  readonly reason: string;
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
  remove(alertId: string): Promise<void>;
  appendHistory(entry: AlertHistoryEntry): Promise<void>;
  history(query: {
    check: CheckName;
    slug: string;
    fromMs: number;
    limit: number;
  }): Promise<readonly AlertHistoryEntry[]>;
  /** The whole life of one alert as far as it is kept, oldest first. */
  historyOf(alertId: string): Promise<readonly AlertHistoryEntry[]>;
  /** Deletes history at or before `beforeMs`, at most `maxRows` at a time. */
  pruneHistory(limits: { beforeMs: number; maxRows: number }): Promise<{ readonly hasMore: boolean }>;
}
