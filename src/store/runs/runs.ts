import type { CheckName, CheckReport } from "../../contract/report.ts";
import type { RunPoint } from "./hour-runs.ts";

/** A check of an organization. */
export interface CheckKey {
  readonly check: CheckName;
  readonly slug: string;
}

/** A check with the number that stands for it in the journal, on the board and in the history; never given to another one. */
export interface StoredCheck extends CheckKey {
  readonly checkId: number;
}

/** A process that runs checks: its shards are its own while its epoch is. */
export interface Owner {
  readonly ownerId: number;
  readonly epoch: number;
}

/** One commit of runs; `seq` counts the commits of its owner, without a gap. */
export interface JournalRecord {
  readonly ownerId: number;
  readonly seq: number;
  readonly atMs: number;
  /** See journal-row.ts. */
  readonly runs: Uint8Array;
}

/** What is known of the owners of journals. */
export interface OwnerRecord {
  readonly ownerId: number;
  /** Rows up to this one are in the history, and gone. */
  readonly foldedSeq: number;
  /** Its lease has ended, and it can write no more. */
  readonly isEnded: boolean;
}

/** One part of a stored report, as report-shape.ts splits it. */
export interface StoredReport {
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  readonly shape: string;
  readonly values: readonly number[];
}

/** The last state of a check, as the fold writes it. */
export interface BoardRecord {
  readonly checkId: number;
  /** Whose journal the run is from. */
  readonly ownerId: number;
  readonly dueAtMs: number;
  readonly isAsked: boolean;
  readonly severitySinceMs: number;
  readonly last: StoredReport;
  /** The last one with a result, where `last` has none. */
  readonly lastResult: StoredReport | null;
  readonly kept: KeptMark | null;
}

/** When a whole report of the check was last kept, and what it said (kept-reports.ts). */
export interface KeptMark {
  readonly atMs: number;
  readonly digest: string;
}

/** Everything from which a board is built, as it was at one moment. */
export interface RunSnapshot {
  readonly checks: readonly StoredCheck[];
  readonly board: readonly BoardRecord[];
  readonly owners: readonly OwnerRecord[];
  /** In the order of each owner's commits. */
  readonly journal: readonly JournalRecord[];
}

/** The runs of one check in one hour. */
export interface HourRecord {
  readonly checkId: number;
  /** Hours since the epoch. */
  readonly hour: number;
  readonly points: readonly RunPoint[];
}

/** Somebody asked a process for a run whose shard another one owns. */
export interface RunRequest extends CheckKey {
  readonly requestId: number;
}

/** Journal, board and history of runs. */
export interface RunStore {
  /** The numbers of these checks, by checkKey; new ones get theirs. */
  addChecks(keys: readonly CheckKey[]): Promise<ReadonlyMap<string, number>>;
  load(): Promise<RunSnapshot>;
  /** Owners, and the rows after those that are known of each, by owner; all rows of an owner that is not among them. */
  journalAfter(known: ReadonlyMap<number, number>): Promise<Pick<RunSnapshot, "owners" | "journal">>;
  /**
   * Appends a commit, unless the owner's epoch has ended: `fenced`. `present`: the same commit was appended before, and only the
   * answer was lost.
   */
  append(owner: Owner, row: Omit<JournalRecord, "ownerId">): Promise<"appended" | "present" | "fenced">;
  /** Keeps whole reports in the history. */
  keepReports(reports: readonly (CheckReport & { readonly checkId: number })[]): Promise<void>;
  /** Adds runs to hours, which keep what they have. */
  mergeHours(hours: readonly HourRecord[]): Promise<void>;
  /** Writes last states, unless another owner's later one is there. */
  saveBoard(records: readonly BoardRecord[]): Promise<void>;
  /** Removes the rows of an owner up to `throughSeq`, which are in the history; an owner that has ended goes with its last row. */
  endFold(ownerId: number, throughSeq: number): Promise<void>;
  /** Removes the last states of checks that are no longer configured; their history stays. */
  forget(checkIds: readonly number[]): Promise<void>;
  /** Runs of a check in its folded hours, oldest first. */
  foldedRuns(check: CheckKey, hours: { readonly from: number; readonly to: number }): Promise<readonly RunPoint[]>;
  /** The first folded hour with a run of the check; null without one. */
  firstFoldedHour(check: CheckKey): Promise<number | null>;
  /** The whole reports kept in (from, to], the last `limit` of them, oldest first. */
  reports(query: CheckKey & { fromMs: number; toMs: number; limit: number }): Promise<readonly CheckReport[]>;
  /** Deletes hours and reports that ended before the instant, and thins out reports of days before `thinBeforeMs`. */
  prune(limits: { beforeMs: number; thinBeforeMs: number; maxRows: number }): Promise<{ readonly hasMore: boolean }>;
  /** Asks the owner of the check's shard to run it now; answers the number of the request. */
  request(check: CheckKey, nowMs: number): Promise<number>;
  /** Requests that nobody has answered. */
  requests(): Promise<readonly RunRequest[]>;
  /** Takes requests away: they were answered, or nobody waits any more. */
  endRequests(requestIds: readonly number[]): Promise<void>;
}
