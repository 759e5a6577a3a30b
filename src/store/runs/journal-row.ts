import { FlatlineError } from "../../base/errors.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { countAmong, expectedValues, readShape, type ReportShape, type SplitReport } from "./report-shape.ts";

/** One run of a journal row. */
export interface JournalRun {
  readonly checkId: number;
  readonly dueAtMs: number;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  /** Whether the run was requested (POST …/run). */
  readonly isAsked: boolean;
  /** Whether its whole report was stored in check_reports. */
  readonly isReportKept: boolean;
  readonly report: SplitReport;
}

/**
 * Numbers of shapes in one owner's journal since its last fold. A row defines the shapes that it uses first, so readers in
 * order know them all.
 */
export class ShapeNumbers {
  readonly #numbers = new Map<string, number>();

  /** Returns the number of a shape, and whether it is new. */
  numberOf({ id }: ReportShape): { readonly number: number; readonly isNew: boolean } {
    const known = this.#numbers.get(id);
    if (known !== undefined) return { number: known, isNew: false };
    const number = this.#numbers.size;
    this.#numbers.set(id, number);
    return { number, isNew: true };
  }
}

/** The shapes known to a reader, by number; null for a shape that cannot be read. */
export type KnownShapes = Map<number, ReportShape | null>;

const version = 1;
const section = { shapes: 1, runs: 2 } as const;
/** numbers: the result has counts; differs: some of them do not follow from the two counts. */
const flag = { asked: 1, kept: 2, numbers: 4, differs: 8 } as const;

/** Packs the runs of one commit. Runs with the same due, start and end times share them. */
export function packRow(runs: readonly JournalRun[], numbers: ShapeNumbers): Uint8Array {
  const writer = new ByteWriter();
  const baseMs = runs.reduce((least, { dueAtMs }) => Math.min(least, dueAtMs), runs[0]?.dueAtMs ?? 0);
  writer.varint(version);
  writer.signed(baseMs);
  const numbered = runs.map((run) => ({ run, ...numbers.numberOf(run.report.shape) }));
  const added = numbered.filter(({ isNew }) => isNew);
  if (added.length > 0) {
    writer.varint(section.shapes);
    writer.varint(added.length);
    for (const { run, number } of added) {
      writer.varint(number);
      writer.text(run.report.shape.text);
    }
  }
  const byTimes = Map.groupBy(numbered, ({ run }) => `${run.dueAtMs} ${run.startedAtMs} ${run.finishedAtMs}`);
  for (const group of byTimes.values()) {
    const first = group[0];
    if (first === undefined) continue;
    writer.varint(section.runs);
    writer.varint(first.run.dueAtMs - baseMs);
    writer.signed(first.run.startedAtMs - first.run.dueAtMs);
    writer.signed(first.run.finishedAtMs - first.run.startedAtMs);
    writer.varint(group.length);
    let beforeId = 0;
    for (const { run, number } of group.toSorted((left, right) => left.run.checkId - right.run.checkId)) {
      writer.varint(run.checkId - beforeId);
      beforeId = run.checkId;
      writeRun(writer, run, number);
    }
  }
  return writer.bytes();
}

/**
 * Unpacks the runs of a row, without those whose reports are of an unknown version. Adds the shapes that the row defines.
 * @throws FlatlineError store_unusable for a damaged row
 */
export function unpackRow(bytes: Uint8Array, shapes: KnownShapes): JournalRun[] {
  const reader = new ByteReader(bytes);
  if (reader.varint() !== version) throw damaged("has another version");
  const baseMs = reader.signed();
  const runs: JournalRun[] = [];
  while (!reader.isAtEnd) {
    const kind = reader.varint();
    if (kind === section.shapes) {
      for (let left = reader.varint(); left > 0; left--) shapes.set(reader.varint(), readShape(reader.text()));
    } else if (kind === section.runs) {
      const dueAtMs = baseMs + reader.varint();
      const startedAtMs = dueAtMs + reader.signed();
      const finishedAtMs = startedAtMs + reader.signed();
      let checkId = 0;
      for (let left = reader.varint(); left > 0; left--) {
        checkId += reader.varint();
        const run = readRun(reader, { checkId, dueAtMs, startedAtMs, finishedAtMs }, shapes);
        if (run !== null) runs.push(run);
      }
    } else throw damaged(`has a section ${kind}`);
  }
  return runs;
}

function writeRun(writer: ByteWriter, run: JournalRun, shapeNumber: number): void {
  const { report } = run;
  const counts = countsOf(report);
  const expected = expectedValues(report.shape, { startedAtMs: run.startedAtMs, ...counts });
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
  shapes: KnownShapes,
): JournalRun | null {
  const flags = reader.varint();
  const shape = shapes.get(reader.varint());
  if (shape === undefined) throw damaged("refers to a shape that no row defines");
  const run = { ...times, isAsked: (flags & flag.asked) !== 0, isReportKept: (flags & flag.kept) !== 0 };
  if ((flags & flag.numbers) === 0) return shape === null ? null : { ...run, report: { shape, values: [] } };
  const currentCount = reader.number(0) ?? 0;
  const baselineCount = reader.number(0) ?? 0;
  const values =
    shape === null ? [] : expectedValues(shape, { startedAtMs: times.startedAtMs, currentCount, baselineCount });
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
