import type { CheckName, CheckReport } from "../../contract/report.ts";
import type { Severity } from "../../contract/severity.ts";

/** One point of a (check, slug)'s history; min and max differ from last only where hours were folded (after 7 days). */
export interface VerdictPoint {
  readonly atMs: number;
  /** Of a folded hour the worst. */
  readonly severity: Severity;
  readonly currentCount: number | null;
  readonly baselineCount: number | null;
  readonly expectedCount: number | null;
  readonly minCurrentCount: number | null;
  readonly maxCurrentCount: number | null;
}

/** The last run of an hour, for drawings of days. */
export interface VerdictHour {
  /** Hours since the epoch. */
  readonly hour: number;
  readonly atMs: number;
  readonly severity: Severity;
  readonly currentCount: number | null;
  readonly expectedCount: number | null;
}

/** An evaluation of the past, from stored events. */
export type PastVerdict = Pick<VerdictPoint, "atMs" | "severity" | "currentCount" | "baselineCount" | "expectedCount">;

export interface VerdictStore {
  /**
   * Appends a run to the history: numbers only when severity, thresholds and findings (their kinds and refs) are as at the
   * last whole report, which is kept at a change and once a day; for findings alone at most once an hour.
   */
  append(report: CheckReport): Promise<void>;
  /** The same for many at once, at most one of a (check, slug). */
  appendAll(reports: readonly CheckReport[]): Promise<void>;
  /** Points of (from, to], oldest first. */
  points(query: { check: CheckName; slug: string; fromMs: number; toMs: number }): Promise<readonly VerdictPoint[]>;
  /** The last run of each hour after `fromMs` that had one, oldest first. */
  hours(query: { check: CheckName; slug: string; fromMs: number }): Promise<readonly VerdictHour[]>;
  /** Instant of the oldest point; null without one. */
  firstAtMs(check: CheckName, slug: string): Promise<number | null>;
  /** Adds points of the past, numbers only; where there is a run at the same instant, that stays. */
  addPast(check: CheckName, slug: string, past: readonly PastVerdict[]): Promise<void>;
  /** The whole reports kept in (from, to], the last `limit` of them, oldest first; very long ones are cut. */
  reports(query: {
    check: CheckName;
    slug: string;
    fromMs: number;
    toMs: number;
    limit: number;
  }): Promise<readonly CheckReport[]>;
  /** Folds what is older than 7 days into hours and deletes what is past `retentionMs`, in slices; answers whether more is left. */
  compact(limits: { nowMs: number; retentionMs: number; maxRows: number }): Promise<{ readonly hasMore: boolean }>;
}
