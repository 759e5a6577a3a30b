import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";
import { FlatlineError } from "../../base/errors.ts";
import { secondMs } from "../../base/time.ts";
import { severities } from "../../contract/severity.ts";
import type { RunPoint } from "./run-point.ts";

const numbers = z.array(z.number());
const nullables = z.array(z.number().nullable());
/** Columns of the runs of an hour. One whose values are all the same has one value, one without values that are needed none. */
const packedHour = z.tuple([
  /** The version, and the number of runs. */
  z.tuple([z.literal(1), z.int()]),
  /** The instant of the first evaluation, then the rounded time from each evaluation to the next. */
  numbers,
  /** The differences from the rounded times. */
  numbers,
  /** How long after it was evaluated each run ended. */
  numbers,
  /** Severities, as the indexes of contract/severity.ts. */
  numbers,
  /** Current and baseline counts. */
  nullables,
  nullables,
  /** Expected counts; none: each follows from the baseline's by the rule. */
  nullables,
  /** The windowHours and the baselineDays of the rule. */
  nullables,
  nullables,
  /** The instants at which the past was evaluated; none: all are of runs. */
  nullables,
]);

/** Packs the runs of one check in one hour, in order: columns as JSON, deflated. */
export function packHour(points: readonly RunPoint[]): Uint8Array {
  const firstMs = points[0]?.evaluatedAtMs ?? 0;
  const lastMs = points.at(-1)?.evaluatedAtMs ?? 0;
  // Schedules are of whole seconds.
  const everyMs = Math.round((lastMs - firstMs) / Math.max(points.length - 1, 1) / secondMs) * secondMs;
  const isByRule = points.every((point) => point.expectedCount === expectedBy(point));
  const isOfRuns = points.every(({ computedAtMs }) => computedAtMs === undefined);
  const beforeMs = (index: number): number => points[index - 1]?.evaluatedAtMs ?? firstMs - everyMs;
  const packed: z.infer<typeof packedHour> = [
    [1, points.length],
    [firstMs, everyMs],
    column(points.map(({ evaluatedAtMs }, index) => evaluatedAtMs - beforeMs(index) - everyMs)),
    column(points.map(({ atMs, evaluatedAtMs }) => atMs - evaluatedAtMs)),
    column(points.map(({ severity }) => severities.indexOf(severity))),
    column(points.map(({ currentCount }) => currentCount)),
    column(points.map(({ baselineCount }) => baselineCount)),
    isByRule ? [] : column(points.map(({ expectedCount }) => expectedCount)),
    column(points.map(({ rule }) => rule?.windowHours ?? null)),
    column(points.map(({ rule }) => rule?.baselineDays ?? null)),
    isOfRuns ? [] : column(points.map(({ computedAtMs }) => computedAtMs ?? null)),
  ];
  return deflateRawSync(JSON.stringify(packed));
}
/** Unpacks the runs of an hour, in order. @throws FlatlineError store_unusable for a damaged row */
export function unpackHour(bytes: Uint8Array): RunPoint[] {
  const [sizes, times, later, took, severity, current, baseline, expected, hours, days, computed] = readPacked(bytes);
  const [firstMs = 0, everyMs = 0] = times;
  let evaluatedAtMs = firstMs - everyMs;
  return Array.from({ length: sizes[1] }, (_, index): RunPoint => {
    evaluatedAtMs += everyMs + (cell(later, index) ?? 0);
    const [windowHours, baselineDays] = [cell(hours, index), cell(days, index)];
    const computedAtMs = cell(computed, index);
    const baselineCount = cell(baseline, index);
    const rule = windowHours === null || baselineDays === null ? null : { windowHours, baselineDays };
    return {
      atMs: evaluatedAtMs + (cell(took, index) ?? 0),
      evaluatedAtMs,
      severity: severities[cell(severity, index) ?? -1] ?? "unknown",
      currentCount: cell(current, index),
      baselineCount,
      expectedCount: expected.length === 0 ? expectedBy({ rule, baselineCount }) : cell(expected, index),
      rule,
      ...(computedAtMs === null ? {} : { computedAtMs }),
    };
  });
}

// An hour of a run each minute; a larger chunk costs more than what is in it.
const inflatedBytes = 1_024;

function readPacked(bytes: Uint8Array): z.infer<typeof packedHour> {
  try {
    return packedHour.parse(JSON.parse(inflateRawSync(bytes, { chunkSize: inflatedBytes }).toString("utf8")));
  } catch (cause) {
    const message = "an hour of the history is damaged or has another version: restore the store from a backup";
    throw new FlatlineError("store_unusable", message, { cause });
  }
}

function column<Value>(values: Value[]): Value[] {
  return values.every((value) => value === values[0]) ? values.slice(0, 1) : values;
}

function cell<Value>(values: readonly Value[], index: number): Value | null {
  return values[values.length === 1 ? 0 : index] ?? null;
}

const hoursPerDay = 24;

function expectedBy({ rule, baselineCount }: Pick<RunPoint, "rule" | "baselineCount">): number | null {
  return rule === null || baselineCount === null
    ? null
    : (baselineCount * rule.windowHours) / (rule.baselineDays * hoursPerDay);
}
