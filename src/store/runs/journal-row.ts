import { FlatlineError } from "../../base/errors.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { Column } from "./columns.ts";
import { countAmong, expectedValues, readShape, type ReportShape, type SplitReport } from "./report-shape.ts";

/** When a run was due, began and ended. */
export interface RunTimes {
  readonly dueAtMs: number;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
}

/** One run of a journal row. */
export interface JournalRun extends RunTimes {
  readonly checkId: number;
  /** Whether the run was requested (POST …/run). */
  readonly isAsked: boolean;
  /** Whether its whole report was stored in check_reports. */
  readonly isReportKept: boolean;
  readonly report: SplitReport;
}

/** Scheduled runs with the same times, each with the report of the run of its check before it. */
export interface RepeatedRuns extends RunTimes {
  /** Ascending. */
  readonly checkIds: Int32Array;
}

/** What a row holds; a check has at most one run in it. */
export interface RowRuns {
  readonly runs: readonly JournalRun[];
  readonly repeats: readonly RepeatedRuns[];
}

/**
 * What the next row of one owner's journal may refer to, since its last fold: the numbers of shapes, and the last report of each
 * check. A row defines the shapes that it uses first, so readers in order know the same.
 */
export class WrittenRuns {
  readonly #numbers = new Map<string, number>();
  readonly #last = new Column<SplitReport>();

  /** Returns whether a reader knows a run of the check. */
  has(checkId: number): boolean {
    return this.#last.get(checkId) !== undefined;
  }

  /** Returns the number of a shape, and whether it is new. */
  numberOf({ id }: ReportShape): { readonly number: number; readonly isNew: boolean } {
    const known = this.#numbers.get(id);
    if (known !== undefined) return { number: known, isNew: false };
    const number = this.#numbers.size;
    this.#numbers.set(id, number);
    return { number, isNew: true };
  }

  /** Records a run. Returns whether a reader knows its report from the run of the check before it. */
  repeats({ checkId, report, isAsked, isReportKept }: JournalRun): boolean {
    const known = this.#last.get(checkId);
    if (known === report) return !isAsked && !isReportKept;
    this.#last.set(checkId, report);
    return false;
  }
}

/** The same for a reader; null for a shape that cannot be read, and for a report with such a shape. */
export interface ReadRuns {
  readonly shapes: Map<number, ReportShape | null>;
  readonly last: Column<SplitReport | null>;
}

/** Returns what the reader of a journal knows before its first row. */
export function nothingRead(): ReadRuns {
  return { shapes: new Map(), last: new Column() };
}

const version = 1;
/** repeats: checks whose reports are those of their runs before. */
const section = { shapes: 1, runs: 2, repeats: 3 } as const;
/** numbers: the result has counts; differs: some of them do not follow from the two counts. */
const flag = { asked: 1, kept: 2, numbers: 4, differs: 8 } as const;

/** Runs with the same times. */
interface TimedRuns {
  readonly times: RunTimes;
  readonly runs: { readonly run: JournalRun; readonly shapeNumber: number }[];
  /** Numbers of the checks whose reports are known. */
  readonly repeats: number[];
}

/**
 * Packs the runs of one commit, at most one of each check. Runs with the same due, start and end times share them. Of each
 * repeated check a run must have been written.
 */
export function packRow({ runs, repeats }: RowRuns, written: WrittenRuns): Uint8Array {
  const writer = new ByteWriter();
  const timed = [...runs, ...repeats];
  const baseMs = timed.reduce((least, { dueAtMs }) => Math.min(least, dueAtMs), timed[0]?.dueAtMs ?? 0);
  writer.varint(version);
  writer.signed(baseMs);
  const groups: TimedRuns[] = [];
  const added: { readonly shape: ReportShape; readonly number: number }[] = [];
  for (const run of runs) {
    const group = groupOf(run, groups);
    if (written.repeats(run)) {
      group.repeats.push(run.checkId);
      continue;
    }
    const { shape } = run.report;
    const { number, isNew } = written.numberOf(shape);
    if (isNew) added.push({ shape, number });
    group.runs.push({ run, shapeNumber: number });
  }
  if (added.length > 0) {
    writer.varint(section.shapes);
    writer.varint(added.length);
    for (const { shape, number } of added) {
      writer.varint(number);
      writer.text(shape.text);
    }
  }
  for (const group of groups) {
    if (group.runs.length > 0) writeRuns(writer, group, baseMs);
    if (group.repeats.length > 0)
      writeRepeats(writer, { ...group.times, checkIds: Int32Array.from(group.repeats).sort() }, baseMs);
  }
  for (const group of repeats) if (group.checkIds.length > 0) writeRepeats(writer, group, baseMs);
  return writer.bytes();
}

/** Most runs have the times of the run before. */
function groupOf(run: JournalRun, groups: TimedRuns[]): TimedRuns {
  const last = groups.at(-1);
  if (last !== undefined && hasTimes(run, last.times)) return last;
  const known = groups.length < searchedGroups ? groups.find(({ times }) => hasTimes(run, times)) : undefined;
  if (known !== undefined) return known;
  const added = { times: run, runs: [], repeats: [] };
  groups.push(added);
  return added;
}

// With jitter each run has its own due time, and a search would only cost.
const searchedGroups = 16;

function hasTimes({ dueAtMs, startedAtMs, finishedAtMs }: RunTimes, times: RunTimes): boolean {
  return finishedAtMs === times.finishedAtMs && startedAtMs === times.startedAtMs && dueAtMs === times.dueAtMs;
}

function writeTimes(writer: ByteWriter, { dueAtMs, startedAtMs, finishedAtMs }: RunTimes, baseMs: number): void {
  writer.varint(dueAtMs - baseMs);
  writer.signed(startedAtMs - dueAtMs);
  writer.signed(finishedAtMs - startedAtMs);
}

function readTimes(reader: ByteReader, baseMs: number): RunTimes {
  const dueAtMs = baseMs + reader.varint();
  const startedAtMs = dueAtMs + reader.signed();
  return { dueAtMs, startedAtMs, finishedAtMs: startedAtMs + reader.signed() };
}

function writeRuns(writer: ByteWriter, { times, runs }: TimedRuns, baseMs: number): void {
  writer.varint(section.runs);
  writeTimes(writer, times, baseMs);
  writer.varint(runs.length);
  let beforeId = 0;
  for (const { run, shapeNumber } of runs.toSorted((left, right) => left.run.checkId - right.run.checkId)) {
    writer.varint(run.checkId - beforeId);
    beforeId = run.checkId;
    writeRun(writer, run, shapeNumber);
  }
}

/** Numbers that follow each other take two bytes, however many they are. */
function writeRepeats(writer: ByteWriter, { checkIds: ids, ...times }: RepeatedRuns, baseMs: number): void {
  writer.varint(section.repeats);
  writeTimes(writer, times, baseMs);
  let endId = 0;
  for (let at = 0; at < ids.length;) {
    const firstId = ids[at] ?? 0;
    let length = 1;
    while (ids[at + length] === firstId + length) length++;
    writer.varint(length);
    writer.varint(firstId - endId);
    endId = firstId + length;
    at += length;
  }
  writer.varint(0);
}

/**
 * Unpacks the runs of a row, without those whose reports are of an unknown version. Adds what the rows after it may refer to.
 * @throws FlatlineError store_unusable for a damaged row
 */
export function unpackRow(bytes: Uint8Array, read: ReadRuns): RowRuns {
  const reader = new ByteReader(bytes);
  if (reader.varint() !== version) throw damaged("has another version");
  const baseMs = reader.signed();
  const runs: JournalRun[] = [];
  const repeats: RepeatedRuns[] = [];
  while (!reader.isAtEnd) {
    const kind = reader.varint();
    if (kind === section.shapes) {
      for (let left = reader.varint(); left > 0; left--) read.shapes.set(reader.varint(), readShape(reader.text()));
    } else if (kind === section.runs) {
      const times = readTimes(reader, baseMs);
      let checkId = 0;
      for (let left = reader.varint(); left > 0; left--) {
        checkId += reader.varint();
        const run = readRun(reader, { checkId, ...times }, read.shapes);
        read.last.set(checkId, run?.report ?? null);
        if (run !== null) runs.push(run);
      }
    } else if (kind === section.repeats) {
      const times = readTimes(reader, baseMs);
      const checkIds: number[] = [];
      let checkId = 0;
      for (let length = reader.varint(); length > 0; length = reader.varint()) {
        checkId += reader.varint();
        for (let left = length; left > 0; left--, checkId++) {
          const report = read.last.get(checkId);
          if (report === undefined) throw damaged("repeats a run that no row has");
          if (report !== null) checkIds.push(checkId);
        }
      }
      repeats.push({ ...times, checkIds: Int32Array.from(checkIds) });
    } else throw damaged(`has a section ${kind}`);
  }
  return { runs, repeats };
}

function writeRun(writer: ByteWriter, run: JournalRun, shapeNumber: number): void {
  const { report } = run;
  const counts = countsOf(report);
  const expected = expectedValues(report.shape, counts);
  const differs = report.values.some((value, index) => value !== expected[index]);
  const hasNumbers = report.values.length > 0;
  const flags = [
    run.isAsked ? flag.asked : 0,
    run.isReportKept ? flag.kept : 0,
    hasNumbers ? flag.numbers : 0,
    differs ? flag.differs : 0,
  ];
  writer.varint(flags.reduce((sum, one) => sum + one, 0));
  writer.varint(shapeNumber);
  if (!hasNumbers) return;
  writer.number(counts.currentCount, 0);
  writer.number(counts.baselineCount, 0);
  if (!differs) return;
  const distances = report.values.flatMap((value, index) => (value === expected[index] ? [] : [{ value, index }]));
  writer.varint(distances.length);
  let beforeIndex = 0;
  for (const { value, index } of distances) {
    writer.varint(index - beforeIndex);
    beforeIndex = index;
    writer.number(value, expected[index] ?? 0);
  }
}

function readRun(
  reader: ByteReader,
  times: Pick<JournalRun, "checkId" | "dueAtMs" | "startedAtMs" | "finishedAtMs">,
  shapes: ReadRuns["shapes"],
): JournalRun | null {
  const flags = reader.varint();
  const shape = shapes.get(reader.varint());
  if (shape === undefined) throw damaged("refers to a shape that no row defines");
  const run = { ...times, isAsked: (flags & flag.asked) !== 0, isReportKept: (flags & flag.kept) !== 0 };
  if ((flags & flag.numbers) === 0) return shape === null ? null : { ...run, report: { shape, values: [] } };
  const currentCount = reader.number(0) ?? 0;
  const baselineCount = reader.number(0) ?? 0;
  const values = shape === null ? [] : expectedValues(shape, { currentCount, baselineCount });
  if ((flags & flag.differs) !== 0) {
    let index = 0;
    for (let left = reader.varint(); left > 0; left--) {
      index += reader.varint();
      values[index] = reader.number(values[index] ?? 0) ?? 0;
    }
  }
  return shape === null ? null : { ...run, report: { shape, values } };
}

function countsOf(report: SplitReport): { readonly currentCount: number; readonly baselineCount: number } {
  return {
    currentCount: countAmong(report, "currentCount") ?? 0,
    baselineCount: countAmong(report, "baselineCount") ?? 0,
  };
}

function damaged(what: string): FlatlineError {
  return new FlatlineError("store_unusable", `a row of the run journal ${what}: restore the store from a backup`);
}
