import { severities, type Severity } from "../../contract/severity.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { FlatlineError } from "../../base/errors.ts";
import { hourMs, secondMs } from "../../base/time.ts";

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
  /** When the past was evaluated; absent: by a run, which ended at `atMs`. */
  readonly computedAtMs?: number;
}

export interface ExpectationRule {
  readonly windowHours: number;
  readonly baselineDays: number;
}

const version = 1;
const flag = { sameTimes: 4, sameCounts: 8, rule: 16, repeated: 32, expectedByRule: 64, computed: 128 } as const;
const severityMask = 3;
const noCounts = { currentCount: null, baselineCount: null, expectedCount: null, rule: null } as const;
const hoursPerDay = 24;
// Two runs of a check never end in the same millisecond.
const mostRepeats = hourMs;

/**
 * Packs the runs of one check in one hour, in order. Runs that repeat the one before them (the same gap, length, counts and
 * severity) are one count. Other runs are evaluated at a whole number of seconds after the one before and some milliseconds,
 * and end some milliseconds later than it did; counts are differences to it, and expected ones to those of the rule.
 */
export class HourPacker {
  readonly #writer = new ByteWriter();
  #last: RunPoint | null = null;
  #gapMs = 0;
  #repeats = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(point: RunPoint): void {
    const last = this.#last;
    const gapMs = point.evaluatedAtMs - (last?.evaluatedAtMs ?? 0);
    const known = last ?? noCounts;
    const longerMs = point.atMs - point.evaluatedAtMs - (last === null ? 0 : last.atMs - last.evaluatedAtMs);
    const isSameTimes = last !== null && gapMs === this.#gapMs && longerMs === 0;
    const isSameCounts =
      Object.is(point.currentCount, known.currentCount) &&
      Object.is(point.baselineCount, known.baselineCount) &&
      Object.is(point.expectedCount, known.expectedCount);
    const isSameRule =
      point.rule?.windowHours === known.rule?.windowHours && point.rule?.baselineDays === known.rule?.baselineDays;
    const expectedCount = expectedBy(point.rule, point.baselineCount, known.expectedCount);
    const isByRule = Object.is(point.expectedCount, expectedCount);
    this.#count++;
    this.#last = point;
    const isSameComputed = point.computedAtMs === last?.computedAtMs;
    if (isSameTimes && isSameCounts && isSameRule && isSameComputed && point.severity === last.severity) {
      this.#repeats++;
      return;
    }
    this.#writeRepeats(this.#writer);
    this.#repeats = 0;
    const writer = this.#writer;
    if (last === null) writer.varint(version);
    writer.varint(
      severities.indexOf(point.severity) +
        (isSameTimes ? flag.sameTimes : 0) +
        (isSameCounts ? flag.sameCounts : 0) +
        (isSameRule ? 0 : flag.rule) +
        (isByRule ? flag.expectedByRule : 0) +
        (point.computedAtMs === undefined ? 0 : flag.computed),
    );
    if (!isSameTimes) {
      writer.signed(gapMs - nearestSecond(this.#gapMs));
      writer.signed(longerMs);
    }
    if (point.computedAtMs !== undefined) writer.signed(point.computedAtMs - (last?.computedAtMs ?? 0));
    if (!isSameRule) {
      // A window of 0 means no rule.
      writer.varint(point.rule?.windowHours ?? 0);
      writer.varint(point.rule?.baselineDays ?? 0);
    }
    if (!isSameCounts) {
      writer.number(point.currentCount, known.currentCount ?? 0);
      writer.number(point.baselineCount, known.baselineCount ?? 0);
      if (!isByRule) writer.number(point.expectedCount, expectedCount);
    }
    // There is no gap before the first run.
    this.#gapMs = last === null ? 0 : gapMs;
  }

  bytes(): Uint8Array {
    const repeats = new ByteWriter();
    this.#writeRepeats(repeats);
    return Buffer.concat([this.#writer.bytes(), repeats.bytes()]);
  }

  #writeRepeats(writer: ByteWriter): void {
    if (this.#repeats === 0) return;
    writer.varint(flag.repeated);
    writer.varint(this.#repeats);
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
  if (reader.varint() !== version) throw damaged();
  let [evaluatedAtMs, gapMs, lengthMs] = [0, 0, 0];
  let severity: Severity = "unknown";
  let counts: Pick<RunPoint, "currentCount" | "baselineCount" | "expectedCount"> = noCounts;
  let rule: ExpectationRule | null = null;
  let computed: Pick<RunPoint, "computedAtMs"> = {};
  while (!reader.isAtEnd) {
    const flags = reader.varint();
    const repeats = (flags & flag.repeated) === 0 ? 1 : reader.varint();
    if (repeats > mostRepeats) throw damaged();
    if ((flags & flag.repeated) === 0) {
      severity = severities[flags & severityMask] ?? "unknown";
      if ((flags & flag.sameTimes) === 0)
        [gapMs, lengthMs] = [nearestSecond(gapMs) + reader.signed(), lengthMs + reader.signed()];
      computed = (flags & flag.computed) === 0 ? {} : { computedAtMs: (computed.computedAtMs ?? 0) + reader.signed() };
      if ((flags & flag.rule) !== 0) {
        const [windowHours, baselineDays] = [reader.varint(), reader.varint()];
        rule = windowHours === 0 ? null : { windowHours, baselineDays };
      }
      if ((flags & flag.sameCounts) === 0) {
        const currentCount = reader.number(counts.currentCount ?? 0);
        const baselineCount = reader.number(counts.baselineCount ?? 0);
        const byRule = expectedBy(rule, baselineCount, counts.expectedCount);
        const expectedCount = (flags & flag.expectedByRule) === 0 ? reader.number(byRule) : byRule;
        counts = { currentCount, baselineCount, expectedCount };
      }
    }
    for (let repeat = 0; repeat < repeats; repeat++) {
      evaluatedAtMs += gapMs;
      points.push({ atMs: evaluatedAtMs + lengthMs, evaluatedAtMs, severity, ...counts, rule, ...computed });
      if (points.length === 1) gapMs = 0;
    }
  }
  return points;
}

function damaged(): FlatlineError {
  return new FlatlineError(
    "store_unusable",
    "an hour of the history is damaged or has another version: restore the store from a backup",
  );
}

/** Schedules are of whole seconds: the difference to one is small where a run is a little later or earlier than its due time. */
function nearestSecond(gapMs: number): number {
  return Math.round(gapMs / secondMs) * secondMs;
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
