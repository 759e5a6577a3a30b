import type { CheckName, CheckReport } from "../../contract/report.ts";
import type { Severity } from "../../contract/severity.ts";

/** What is to be run, and when next; one row a (check, slug). */
export interface ScheduleEntry {
  readonly check: CheckName;
  readonly slug: string;
  /** Pattern, timezone and jitter in one text: a change of it makes the next due time be computed anew. */
  readonly scheduleKey: string;
  readonly nextDueAtMs: number;
  /**
   * Of what is wanted: the stored due time that it was computed from, null where there was none; a run that ended since, or
   * another process that was first, has moved it [not looked at].
   */
  readonly seenDueAtMs?: number | null;
}

/** A due run, leased to us. */
export interface ClaimedRun {
  readonly check: CheckName;
  readonly slug: string;
  /** When it was due: lag is the start minus this. */
  readonly dueAtMs: number;
  /** Grows with each claim of this row; a completion with an older one is refused (fencing). */
  readonly fence: number;
}

/** Everything that is kept of a (check, slug) between runs. */
export interface CheckState {
  readonly check: CheckName;
  readonly slug: string;
  readonly nextDueAtMs: number;
  readonly isRunning: boolean;
  readonly lastRunAtMs: number | null;
  readonly lastSuccessAtMs: number | null;
  /** Of the last run; null before the first. */
  readonly severity: Severity | null;
  /** Since when the severity holds. */
  readonly severitySinceMs: number | null;
  readonly lastReport: CheckReport | null;
  /** Of the last run that gave a result, when lastReport is an error. */
  readonly lastResultReport: CheckReport | null;
}

/**
 * The schedule, which several processes share. Where they share a database server, its clock decides what is due and whose lease
 * has run out: `nowMs` and what is computed from it are distances then, and answers are instants of the caller's clock.
 */
/** A run that is over: what it gave, and when the check is due again. */
export interface FinishedRun {
  readonly run: ClaimedRun;
  /** Who holds its lease; null: nobody, the run is done at once as `due` answered it. */
  readonly owner: string | null;
  readonly report: CheckReport;
  readonly nextDueAtMs: number;
}

/** A check of an organization. */
export interface CheckKey {
  readonly check: CheckName;
  readonly slug: string;
}

/** When a check ran last, by whoever ran it. */
export interface LastRun extends CheckKey {
  readonly lastRunAtMs: number;
}

export interface ScheduleStore {
  /**
   * Makes the rows equal to `wanted`: inserts what is new (due at its nextDueAtMs), sets nextDueAtMs where the scheduleKey
   * changed or the stored one is later than the wanted one (somebody set the clock back; never when the stored one has moved
   * since it was seen), deletes what is gone and answers it.
   */
  sync(wanted: readonly ScheduleEntry[]): Promise<{ readonly removed: readonly { check: CheckName; slug: string }[] }>;
  /** All rows' scheduleKey and due time, to compute `wanted`. */
  entries(): Promise<readonly ScheduleEntry[]>;
  /** Leases up to `limit` due rows that nobody holds, the longest due first; none of `except` [all are taken]. */
  claimDue(claim: {
    nowMs: number;
    owner: string;
    leaseUntilMs: number;
    limit: number;
    except?: readonly CheckKey[];
  }): Promise<readonly ClaimedRun[]>;
  /**
   * The same rows, looked at only: for runs that take microseconds, which are recorded without a lease unless somebody else
   * has claimed or run them meanwhile.
   */
  due(look: { readonly nowMs: number; readonly limit: number }): Promise<readonly ClaimedRun[]>;
  /** Leases this one now whatever its due time (POST …/run); null when a run of it is under way or it does not exist. */
  claimNow(claim: {
    check: CheckName;
    slug: string;
    nowMs: number;
    owner: string;
    leaseUntilMs: number;
  }): Promise<ClaimedRun | null>;
  /** Extends the leases of these runs, expired ones too, where `owner` still holds them with the same fence. */
  renewLeases(renewal: {
    runs: readonly ClaimedRun[];
    owner: string;
    nowMs: number;
    leaseUntilMs: number;
  }): Promise<void>;
  /**
   * Earliest due time of the rows that nobody holds (an expired lease counts as its expiry), but for those of `except`; null
   * when there is none.
   */
  nextDueAtMs(nowMs: number, except?: readonly CheckKey[]): Promise<number | null>;
  /** Ends a run: stores its report and next due time, drops the lease. False when the lease was lost (fence). */
  complete(done: FinishedRun): Promise<boolean>;
  /**
   * The same for many at once, at most one of a (check, slug): each one's state afterwards, with the report as it was given;
   * null where the lease was lost.
   */
  completeAll(done: readonly FinishedRun[]): Promise<readonly (CheckState | null)[]>;
  /** Gives leases back at a stop, due times unchanged. */
  releaseLeases(owner: string): Promise<void>;
  state(check: CheckName, slug: string): Promise<CheckState | null>;
  states(): Promise<readonly CheckState[]>;
  /** When each check ran last that ran at or after `sinceMs`: cheaper than their states, to learn which of them to ask for. */
  lastRuns(sinceMs: number): Promise<readonly LastRun[]>;
  /** The states of these checks, where they exist. */
  statesOf(checks: readonly CheckKey[]): Promise<readonly CheckState[]>;
}
