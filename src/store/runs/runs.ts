import type { CheckName, CheckReport } from "../../contract/report.ts";
import type { RunPoint } from "./hour-runs.ts";
import type { Pruned } from "../prune-limits.ts";

/** A check of an organization. */
export interface CheckKey {
  readonly check: CheckName;
  readonly slug: string;
}

/** A check with its number in journal, board and history; numbers are never reused. */
export interface StoredCheck extends CheckKey {
  readonly checkId: number;
}

/** A process that runs checks. It owns its shards while its epoch lasts. */
export interface Owner {
  readonly ownerId: number;
  readonly epoch: number;
}

/** One commit of runs; `seq` counts the commits of its owner without gaps. */
export interface JournalRecord {
  readonly ownerId: number;
  readonly seq: number;
  readonly atMs: number;
  /** Packed by journal-row.ts. */
  readonly runs: Uint8Array;
}

/** State of the owner of a journal. */
export interface OwnerRecord {
  readonly ownerId: number;
  /** Rows up to this one are in the history and deleted. */
  readonly foldedSeq: number;
  /** Its lease has ended; it cannot write any more. */
  readonly isEnded: boolean;
}

/** One part of a stored report; see report-shape.ts. */
export interface StoredReport {
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  readonly shape: string;
  readonly values: readonly number[];
}

/** The last state of a check, as the fold writes it. */
export interface BoardRecord {
  readonly checkId: number;
  /** The owner of the run's journal. */
  readonly ownerId: number;
  readonly dueAtMs: number;
  readonly isAsked: boolean;
  readonly severitySinceMs: number;
  readonly last: StoredReport;
  /** The last run with a result, if `last` has none. */
  readonly lastResult: StoredReport | null;
  readonly kept: LastKeptReport | null;
}

/** Instant and digest of the last report that was stored completely (kept-reports.ts). */
export interface LastKeptReport {
  readonly atMs: number;
  readonly digest: string;
}

/** A snapshot of everything that a board is built from. */
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

/** A request for a run of a check whose shard another process owns. */
export interface RunRequest extends CheckKey {
  readonly requestId: number;
}

/** Journal, board and history of runs. */
export interface RunStore {
  /** Returns the numbers of these checks by checkKey, and creates missing ones. */
  addChecks(keys: readonly CheckKey[]): Promise<ReadonlyMap<string, number>>;
  load(): Promise<RunSnapshot>;
  /** Returns the owners and the journal rows after the known ones, by owner; all rows of an unknown owner. */
  journalAfter(known: ReadonlyMap<number, number>): Promise<Pick<RunSnapshot, "owners" | "journal">>;
  /**
   * Appends a commit; `fenced` if the owner's epoch has ended, `present` if the same commit was appended before and only the
   * answer was lost.
   */
  append(owner: Owner, row: Omit<JournalRecord, "ownerId">): Promise<"appended" | "present" | "fenced">;
  /** Stores whole reports in the history. */
  keepReports(reports: readonly (CheckReport & { readonly checkId: number })[]): Promise<void>;
  /** Merges runs into hours. */
  mergeHours(hours: readonly HourRecord[]): Promise<void>;
  /** Writes last states, unless a later one of another owner that works at the same time is stored. */
  saveBoard(records: readonly BoardRecord[], how?: { readonly areOwnersInTurn: boolean }): Promise<void>;
  /** Deletes the rows of an owner up to `throughSeq`, which are in the history; deletes an ended owner with its last row. */
  endFold(ownerId: number, throughSeq: number): Promise<void>;
  /** Deletes the last states of checks that are no longer configured; their history stays. */
  forget(checkIds: readonly number[]): Promise<void>;
  /** Returns the runs of a check in its folded hours, oldest first. */
  foldedRuns(check: CheckKey, hours: { readonly from: number; readonly to: number }): Promise<readonly RunPoint[]>;
  /** Returns the runs of these checks in one folded hour. */
  foldedHour(hour: number, checkIds: ReadonlySet<number>): Promise<readonly HourRecord[]>;
  /** Returns the first folded hour with a run of the check; null without one. */
  firstFoldedHour(check: CheckKey): Promise<number | null>;
  /** Returns the stored reports in (from, to], the last `limit` of them, oldest first. */
  reports(query: CheckKey & { fromMs: number; toMs: number; limit: number }): Promise<readonly CheckReport[]>;
  /** Deletes hours and reports that ended before the instant, and thins out reports of days before `thinBeforeMs`. */
  prune(limits: { beforeMs: number; thinBeforeMs: number; maxRows: number }): Promise<Pruned>;
  /** Requests a run from the owner of the check's shard and returns the number of the request. */
  request(check: CheckKey, nowMs: number): Promise<number>;
  /** Returns unanswered requests. */
  requests(): Promise<readonly RunRequest[]>;
  /** Deletes requests that were answered or abandoned. */
  endRequests(requestIds: readonly number[]): Promise<void>;
  /** Deletes requests from before the instant. */
  pruneRequests(beforeMs: number): Promise<void>;
}
