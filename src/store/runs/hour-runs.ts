import { severities, type Severity } from "../../contract/severity.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { FlatlineError } from "../../base/errors.ts";

/** One run of a check in the history. */
export interface RunPoint {
  /** End of the run. */
  readonly atMs: number;
  /** The instant that was evaluated. */
  readonly evaluatedAtMs: number;
  readonly severity: Severity;
  readonly currentCount: number | null;
  readonly baselineCount: number | null;
  readonly expectedCount: number | null;
  /** The thresholds that derive the expected count from the baseline's; null if unknown. */
  readonly rule: ExpectationRule | null;
}

export interface ExpectationRule {
  readonly windowHours: number;
  readonly baselineDays: number;
}

const version = 1;
const flag = { sameGap: 4, sameLength: 8, sameCounts: 16, rule: 32 } as const;
const severityMask = 3;
const noCounts = { currentCount: null, baselineCount: null, expectedCount: null, rule: null } as const;
const hoursPerDay = 24;

/**
 * Packs the runs of one check in one hour, in order. A value that equals that of the previous run takes no bytes; others are
 * stored as the difference to it, or for expected counts to the value of the rule.
 */
export class HourPacker {
  readonly #writer = new ByteWriter();
  #last: RunPoint | null = null;
  #gapMs = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(point: RunPoint): void {
    const last = this.#last;
    const gapMs = last === null ? point.atMs : point.atMs - last.atMs;
    const lengthMs = point.atMs - point.evaluatedAtMs;
    const lastLengthMs = last === null ? 0 : last.atMs - last.evaluatedAtMs;
    const known = last ?? noCounts;
    const isSameGap = gapMs === this.#gapMs;
    const isSameLength = lengthMs === lastLengthMs;
    const isSameCounts =
      point.currentCount === known.currentCount &&
      point.baselineCount === known.baselineCount &&
      point.expectedCount === known.expectedCount;
    const isSameRule =
      point.rule?.windowHours === known.rule?.windowHours && point.rule?.baselineDays === known.rule?.baselineDays;
    const writer = this.#writer;
    if (last === null) writer.varint(version);
    writer.varint(
      severities.indexOf(point.severity) +
        (isSameGap ? flag.sameGap : 0) +
        (isSameLength ? flag.sameLength : 0) +
        (isSameCounts ? flag.sameCounts : 0) +
        (isSameRule ? 0 : flag.rule),
    );
    if (!isSameGap) writer.signed(gapMs - this.#gapMs);
    if (!isSameLength) writer.signed(lengthMs - lastLengthMs);
    if (!isSameRule) {
      // A window of 0 means no rule.
      writer.varint(point.rule?.windowHours ?? 0);
      writer.varint(point.rule?.baselineDays ?? 0);
    }
    if (!isSameCounts) {
      writer.number(point.currentCount, known.currentCount ?? 0);
      writer.number(point.baselineCount, known.baselineCount ?? 0);
      writer.number(point.expectedCount, expectedBy(point.rule, point.baselineCount, known.expectedCount));
    }
    this.#last = point;
    // There is no gap before the first run.
    this.#gapMs = last === null ? 0 : gapMs;
    this.#count++;
  }

  bytes(): Uint8Array {
    return this.#writer.bytes();
  }
}

/** Packs runs in order. */
export function packHour(points: readonly RunPoint[]): Uint8Array {
  const packer = new HourPacker();
  for (const point of points) packer.add(point);
  return packer.bytes();
}

/** Unpacks the runs of an hour, in order. @throws FlatlineError store_unusable for a damaged row */
export function unpackHour(bytes: Uint8Array): RunPoint[] {
  const reader = new ByteReader(bytes);
  const points: RunPoint[] = [];
  if (reader.isAtEnd) return points;
  if (reader.varint() !== version)
    throw new FlatlineError(
      "store_unusable",
      "an hour of the history has another version: restore the store from a backup",
    );
  let [atMs, gapMs, lengthMs] = [0, 0, 0];
  let counts: Pick<RunPoint, "currentCount" | "baselineCount" | "expectedCount"> = noCounts;
  let rule: ExpectationRule | null = null;
  while (!reader.isAtEnd) {
    const flags = reader.varint();
    if ((flags & flag.sameGap) === 0) gapMs += reader.signed();
    if ((flags & flag.sameLength) === 0) lengthMs += reader.signed();
    if ((flags & flag.rule) !== 0) {
      const [windowHours, baselineDays] = [reader.varint(), reader.varint()];
      rule = windowHours === 0 ? null : { windowHours, baselineDays };
    }
    if ((flags & flag.sameCounts) === 0) {
      const currentCount = reader.number(counts.currentCount ?? 0);
      const baselineCount = reader.number(counts.baselineCount ?? 0);
      const expectedCount = reader.number(expectedBy(rule, baselineCount, counts.expectedCount));
      counts = { currentCount, baselineCount, expectedCount };
    }
    atMs += gapMs;
    const severity = severities[flags & severityMask] ?? "unknown";
    points.push({ atMs, evaluatedAtMs: atMs - lengthMs, severity, ...counts, rule });
    if (points.length === 1) gapMs = 0;
  }
  return points;
}

/** Merges runs by their ends; of two runs at the same instant, the last one of `added` wins. */
export function mergeRuns(known: readonly RunPoint[], added: readonly RunPoint[]): RunPoint[] {
  const byEnd = new Map<number, RunPoint>();
  for (const point of known) byEnd.set(point.atMs, point);
  for (const point of added) byEnd.set(point.atMs, point);
  return [...byEnd.values()].toSorted((left, right) => left.atMs - right.atMs);
}

function expectedBy(
  rule: ExpectationRule | null,
  baselineCount: number | null,
  lastExpectedCount: number | null,
): number {
  if (rule === null || baselineCount === null) return lastExpectedCount ?? 0;
  return (baselineCount * rule.windowHours) / (rule.baselineDays * hoursPerDay);
}
