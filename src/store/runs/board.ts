import { hourMs } from "../../base/time.ts";
import { checkKey } from "../../contract/check-key.ts";
import type { CheckName, CheckReport, ShownCounts } from "../../contract/report.ts";
import type { Severity } from "../../contract/severity.ts";
import type { RunPoint } from "./hour-runs.ts";
import {
  nothingRead,
  unpackRow,
  type JournalRun,
  type ReadRuns,
  type RepeatedRuns,
  type RowRuns,
} from "./journal-row.ts";
import { countAmong, joinReport, readShape, type SplitReport } from "./report-shape.ts";
import { OpenHours } from "./open-hours.ts";
import { Rounds } from "./rounds.ts";
import type {
  BoardRecord,
  CheckKey,
  HourRecord,
  JournalRecord,
  LastKeptReport,
  OwnerRecord,
  RunSnapshot,
  StoredReport,
} from "./runs.ts";

interface RunOnBoard extends Pick<JournalRun, "startedAtMs" | "finishedAtMs"> {
  readonly report: SplitReport;
}

/** The last state of a check. Reports are stored in parts and assembled on demand. */
export class CheckState implements CheckKey {
  readonly check: CheckName;
  readonly slug: string;
  readonly ownerId: number;
  readonly dueAtMs: number;
  /** Whether the last run was requested (POST …/run). */
  readonly isAsked: boolean;
  /** The instant since when the severity holds. */
  readonly severitySinceMs: number;
  readonly kept: LastKeptReport | null;
  readonly #last: RunOnBoard;
  readonly #lastResult: RunOnBoard | null;

  constructor(
    state: Omit<BoardRecord, "checkId" | "last" | "lastResult"> &
      CheckKey & { readonly last: RunOnBoard; readonly lastResult: RunOnBoard | null },
  ) {
    this.check = state.check;
    this.slug = state.slug;
    this.ownerId = state.ownerId;
    this.dueAtMs = state.dueAtMs;
    this.isAsked = state.isAsked;
    this.severitySinceMs = state.severitySinceMs;
    this.kept = state.kept;
    this.#last = state.last;
    this.#lastResult = state.lastResult;
  }

  get severity(): Severity {
    return this.#last.report.shape.severity;
  }

  get lastRunAtMs(): number {
    return this.#last.finishedAtMs;
  }

  /** Returns the report of the last run, in two parts. */
  get split(): SplitReport {
    return this.#last.report;
  }

  /** Returns the current count of the last run; null if its report has none. */
  get currentCount(): number | null {
    return countAmong(this.#last.report, "currentCount");
  }

  get lastSuccessAtMs(): number | null {
    return this.#lastResult?.finishedAtMs ?? null;
  }

  /** Returns what the last report counts, without building it; null if it is an error. */
  get lastCounts(): ShownCounts | null {
    const { report } = this.#last;
    const { content } = report.shape;
    if (content.kind === "error") return null;
    const { windowHours } = content.result.threshold;
    return {
      currentCount: countAmong(report, "currentCount"),
      expectedCount: countAmong(report, "expectedCount"),
      ratio: countAmong(report, "ratio"),
      windowHours: typeof windowHours === "number" ? windowHours : null,
    };
  }

  get lastReport(): CheckReport {
    return this.#whole(this.#last);
  }

  /** Returns the report of the last run with a result. */
  get lastResultReport(): CheckReport | null {
    return this.#lastResult === null ? null : this.#whole(this.#lastResult);
  }

  /** Returns the state after a run of `ownerId`. */
  static after(before: CheckState | null, key: CheckKey, ownerId: number, run: JournalRun): CheckState {
    const { report, dueAtMs, isAsked, startedAtMs, finishedAtMs, isReportKept } = run;
    const last = { report, startedAtMs, finishedAtMs };
    const isResult = report.shape.severity !== "unknown";
    const isSame = before?.severity === report.shape.severity;
    return new CheckState({
      check: key.check,
      slug: key.slug,
      ownerId,
      dueAtMs,
      isAsked,
      severitySinceMs: isSame ? before.severitySinceMs : finishedAtMs,
      last,
      lastResult: isResult ? last : before === null ? null : before.#lastResult,
      kept: isReportKept ? { atMs: finishedAtMs, digest: report.shape.digest } : (before?.kept ?? null),
    });
  }

  /** Reads a row of the table `board`; null if its report is of a version that cannot be read. */
  static read(key: CheckKey, record: BoardRecord): CheckState | null {
    const last = readStored(record.last);
    if (last === null) return null;
    const isResult = last.report.shape.severity !== "unknown";
    const lastResult = isResult ? last : record.lastResult === null ? null : readStored(record.lastResult);
    return new CheckState({ ...record, check: key.check, slug: key.slug, last, lastResult });
  }

  toRecord(checkId: number): BoardRecord {
    const { ownerId, dueAtMs, isAsked, severitySinceMs, kept } = this;
    const lastResult = this.#lastResult === null || this.#lastResult === this.#last ? null : stored(this.#lastResult);
    return { checkId, ownerId, dueAtMs, isAsked, severitySinceMs, kept, last: stored(this.#last), lastResult };
  }

  #whole({ report, startedAtMs, finishedAtMs }: RunOnBoard): CheckReport {
    const { check, slug } = this;
    return joinReport(report, { check, slug, startedAtMs, finishedAtMs });
  }
}

/** What a fold of an owner's journal writes. */
export interface Folded {
  readonly hours: () => Generator<HourRecord>;
  readonly states: readonly BoardRecord[];
  readonly areOwnersInTurn: boolean;
}

/** One decoded row of a journal. */
interface Commit extends RowRuns {
  readonly ownerId: number;
  readonly seq: number;
  readonly isOwn: boolean;
}

/**
 * The last state of every check, in memory: built from the table `board` and the journals after it, and from nothing else.
 * It also keeps the journals' runs until they are in the history.
 */
export class Board {
  readonly #keys = new Map<number, CheckKey>();
  readonly #ids = new Map<string, number>();
  readonly #states = new Map<number, CheckState>();
  /** Runs that neither the states nor the open hours of their checks have yet. */
  readonly #rounds = new Rounds();
  readonly #open = new OpenHours();
  /** What the rows of each owner may refer to. */
  readonly #read = new Map<number, ReadRuns>();
  /** The last applied commit of each owner. */
  readonly #seqs = new Map<number, number>();
  /** Owners whose commits were applied, not read: what their rows refer to is unknown here. */
  readonly #applied = new Set<number>();
  /** One owner works at a time, so that all it ran comes after what those before it ran, whatever the clock said. */
  #areOwnersInTurn = false;
  /** Commits that arrive during a reload. */
  #meanwhile: Commit[] | null = null;

  /**
   * Replaces the board by the stored state; commits that arrive meanwhile are applied afterwards. `areOwnersInTurn` [false]:
   * there is one owner at a time, as on a file.
   */
  async reload(
    read: () => Promise<RunSnapshot>,
    { areOwnersInTurn }: { readonly areOwnersInTurn: boolean } = { areOwnersInTurn: false },
  ): Promise<void> {
    this.#areOwnersInTurn = areOwnersInTurn;
    const since: Commit[] = [];
    this.#meanwhile = since;
    try {
      this.#load(await read());
    } finally {
      this.#meanwhile = null;
    }
    for (const commit of since) if (commit.seq > (this.#seqs.get(commit.ownerId) ?? 0)) this.#learn(commit);
  }

  #load({ checks, board, owners, journal }: RunSnapshot): void {
    for (const known of [this.#keys, this.#ids, this.#states, this.#open, this.#read, this.#seqs, this.#applied])
      known.clear();
    this.#rounds.clear();
    for (const { checkId, check, slug } of checks) this.name(checkId, { check, slug });
    for (const record of board) {
      const key = this.#keys.get(record.checkId);
      const state = key === undefined ? null : CheckState.read(key, record);
      if (state !== null) this.#states.set(record.checkId, state);
    }
    for (const { ownerId, foldedSeq } of owners) this.#seqs.set(ownerId, foldedSeq);
    for (const row of journal) this.#readRow(row);
  }

  /** Sets the number of a check. */
  name(checkId: number, key: CheckKey): void {
    const { check, slug } = key;
    this.#keys.set(checkId, { check, slug });
    this.#ids.set(checkKey({ check, slug }), checkId);
  }

  /** Returns the check with this number. */
  keyOf(checkId: number): CheckKey | undefined {
    return this.#keys.get(checkId);
  }

  /** Returns the number of a check; undefined if it never ran. */
  idOf({ check, slug }: CheckKey): number | undefined {
    return this.#ids.get(checkKey({ check, slug }));
  }

  /**
   * Applies a journal row, in order, and returns the changed states. Returns null if it contains a check with an unknown
   * name, or belongs to an own journal that was abandoned: the board must then be reloaded.
   */
  read(row: JournalRecord): CheckState[] | null {
    const read = this.#readRow(row);
    if (read === null) return null;
    const repeated = read.repeats.flatMap(({ checkIds }) => [...checkIds].flatMap((id) => this.stateOf(id) ?? []));
    return [...read.changed, ...repeated];
  }

  #readRow({ ownerId, seq, runs: packed }: JournalRecord): (RowRuns & { readonly changed: CheckState[] }) | null {
    if (this.#applied.has(ownerId)) return null;
    let known = this.#read.get(ownerId);
    if (known === undefined) this.#read.set(ownerId, (known = nothingRead()));
    const row = unpackRow(packed, known);
    const isNamed = (checkId: number): boolean => this.#keys.has(checkId);
    const isKnown =
      row.runs.every(({ checkId }) => isNamed(checkId)) && row.repeats.every(({ checkIds }) => checkIds.every(isNamed));
    return isKnown ? { ...row, changed: this.#learn({ ...row, ownerId, seq, isOwn: false }) } : null;
  }

  /**
   * Applies a commit of this process and returns the changed states: that of each run, in order, and of repeated checks that
   * with which they ended the hour before.
   */
  apply(ownerId: number, seq: number, row: RowRuns): CheckState[] {
    return this.#learn({ ...row, ownerId, seq, isOwn: true });
  }

  #learn(commit: Commit): CheckState[] {
    const { ownerId, seq, runs, repeats } = commit;
    if (commit.isOwn) this.#applied.add(ownerId);
    this.#seqs.set(ownerId, seq);
    this.#meanwhile?.push(commit);
    const changed = runs.flatMap((run) => this.#learnRun(commit, run) ?? []);
    for (const group of repeats) changed.push(...this.#learnRepeats(commit, group));
    return changed;
  }

  #learnRun({ ownerId, seq, isOwn }: Commit, run: JournalRun): CheckState | null {
    const key = this.#keys.get(run.checkId);
    if (key === undefined) return null;
    const before = this.stateOf(run.checkId);
    this.#open.add({ ownerId, seq, checkId: run.checkId }, [run], run.report);
    // A commit of this process is always the last one: the fence orders it after all others, even if its clock was set back.
    const isInOrder = isOwn || before === null || before.ownerId === ownerId;
    if (!isInOrder && !this.#isLater(ownerId, run, before)) return null;
    const state = CheckState.after(before, key, ownerId, run);
    this.#states.set(run.checkId, state);
    return state;
  }

  /** Journals of several owners are read one after the other: of those that work at once, the later run counts. */
  #isLater(ownerId: number, { finishedAtMs }: JournalRun, before: CheckState): boolean {
    return this.#areOwnersInTurn ? before.ownerId < ownerId : before.lastRunAtMs <= finishedAtMs;
  }

  #learnRepeats(commit: Commit, repeats: RepeatedRuns): CheckState[] {
    const { ownerId } = commit;
    const changed: CheckState[] = [];
    this.#rounds.add(repeats, commit, (checkId, last) => {
      const state = this.stateOf(checkId);
      if (state?.ownerId === ownerId) {
        if (last !== null && last.hour !== Math.floor(repeats.finishedAtMs / hourMs)) changed.push(state);
        return true;
      }
      // Another owner ran it since: the report is that of this journal.
      const report = this.#read.get(ownerId)?.last.get(checkId) ?? null;
      if (report === null) return false;
      const { dueAtMs, startedAtMs, finishedAtMs } = repeats;
      const run = { checkId, dueAtMs, startedAtMs, finishedAtMs, isAsked: false, isReportKept: false, report };
      const learned = this.#learnRun(commit, run);
      if (learned !== null) changed.push(learned);
      return false;
    });
    return changed;
  }

  /** Moves the rounds of a check into its open hour and its state. */
  #settle(checkId: number): void {
    const rounds = this.#rounds.take(checkId);
    const last = rounds.at(-1);
    const state = this.#states.get(checkId);
    if (last === undefined || state === undefined) return;
    const { split: report } = state;
    this.#open.add({ ownerId: last.ownerId, seq: last.seq, checkId }, rounds, report);
    const run = { ...last, checkId, isAsked: false, isReportKept: false, report };
    this.#states.set(checkId, CheckState.after(state, state, last.ownerId, run));
  }

  state(check: CheckName, slug: string): CheckState | null {
    return this.stateOf(this.#ids.get(checkKey({ check, slug })) ?? 0);
  }

  /** Returns the last state of the check with this number. */
  stateOf(checkId: number): CheckState | null {
    this.#settle(checkId);
    return this.#states.get(checkId) ?? null;
  }

  states(): CheckState[] {
    return [...this.#states.keys()].flatMap((checkId) => this.stateOf(checkId) ?? []);
  }

  /** Removes the last states of all other checks and returns their numbers. */
  keepOnly(isKept: (key: CheckKey) => boolean): number[] {
    const gone = [...this.#states].filter(([, state]) => !isKept(state)).map(([checkId]) => checkId);
    for (const checkId of gone) {
      this.#settle(checkId);
      this.#states.delete(checkId);
    }
    return gone;
  }

  /** Returns the last applied commit of each owner. */
  known(): ReadonlyMap<number, number> {
    return this.#seqs;
  }

  /** Returns the known runs of a check that are in no folded hour yet, in the order of each owner's commits. */
  openRuns(key: CheckKey): RunPoint[] {
    const checkId = this.idOf(key);
    if (checkId === undefined) return [];
    this.#settle(checkId);
    return this.#open.runsOf(checkId);
  }

  /** Returns the data that a fold of an owner's journal writes: its runs by hour, and the last states that come from it. */
  toFold(ownerId: number): Folded {
    const states = this.#open.checksOf(ownerId).flatMap((checkId) => {
      const state = this.stateOf(checkId);
      return state?.ownerId === ownerId ? [state.toRecord(checkId)] : [];
    });
    return { hours: () => this.#open.hoursOf(ownerId), states, areOwnersInTurn: this.#areOwnersInTurn };
  }

  /** Drops the runs that are now in the history. */
  noteFolded({ ownerId, foldedSeq }: Pick<OwnerRecord, "ownerId" | "foldedSeq">): void {
    for (const checkId of this.#open.checksOf(ownerId)) this.#settle(checkId);
    this.#open.drop(ownerId, foldedSeq);
  }
}

function stored({ report, startedAtMs, finishedAtMs }: RunOnBoard): StoredReport {
  return { startedAtMs, finishedAtMs, shape: report.shape.text, values: report.values };
}

function readStored({ startedAtMs, finishedAtMs, shape, values }: StoredReport): RunOnBoard | null {
  const known = readShape(shape);
  return known === null ? null : { startedAtMs, finishedAtMs, report: { shape: known, values } };
}
