import { z } from "zod";
import { FlatlineError } from "../base/errors.ts";
import { medianOf } from "../base/numbers.ts";
import { dayMs } from "../base/time.ts";
import { issueMessages, readWith } from "../contract/issues.ts";
import { leastRevivalMs } from "../checks/regret/regret.ts";
import type { EventRecord } from "./event-record.ts";

/** A time in which the checker was wrong, epoch ms, both ends included. */
export interface Incident {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Truth {
  readonly incidents: readonly Incident[];
  /** Days on which many assets really died. An alert there is right about deaths and wrong about the checker. */
  readonly massDeaths: readonly Incident[];
}

const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const stretches = z.array(
  z
    .object({ from: instant, to: instant })
    .refine(({ from, to }) => from <= to, "from is after to")
    .transform(({ from, to }) => ({ fromMs: from, toMs: to })),
);
const labelsSchema = z.record(z.string(), z.object({ incidents: stretches, massDeaths: stretches.default([]) }));

/**
 * Reads labels: `incidents` by slug and, if known, `massDeaths`, each a list of `{from, to}`. Other keys are ignored.
 * @throws invalid_data that names the file and the first wrong field
 */
export function readLabels(text: string, file: string): ReadonlyMap<string, Truth> {
  const read = readWith(labelsSchema, parseJson(text, file));
  if (read.kind === "data") return new Map(Object.entries(read.data));
  throw new FlatlineError("invalid_data", `${file}: ${issueMessages(read.problems)[0] ?? "is wrong"}`);
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new FlatlineError("invalid_data", `${file}: is not JSON: ${String(error)}`, { cause: error });
  }
}

// After months the same name may be a new asset.
const revivedWithinMs = 60 * dayMs;
const leastUndone = 20;
const leastOverMedian = 3;
const leastShare = 0.5;

/** Returns whether a death was false, by when its asset was next found alive (NaN: never). */
function isUndone(diedAtMs: number, revivedAtMs: number): boolean {
  const delayMs = revivedAtMs - diedAtMs;
  return delayMs >= leastRevivalMs && delayMs <= revivedWithinMs;
}

/**
 * Returns the truth from the record itself. A death is false if its asset was found alive 6 h to 60 days later. An
 * incident is a day (UTC) with at least 20 false deaths, half of its deaths or more false, and at least 3 times the
 * median day's deaths; neighbouring days are one. Deaths of the last 60 days may still be undone.
 */
export function revivedTruth({ deathAtMs, deathsBefore, revivedAtMs, seenAtMs }: EventRecord): Truth {
  const days = new Map<number, { deaths: number; undone: number; fromMs: number; toMs: number }>();
  for (const [index, atMs] of deathAtMs.entries()) {
    const day = Math.floor(atMs / dayMs);
    const count = (deathsBefore[index + 1] ?? 0) - (deathsBefore[index] ?? 0);
    const known = days.get(day) ?? { deaths: 0, undone: 0, fromMs: atMs, toMs: atMs };
    known.deaths += count;
    if (isUndone(atMs, revivedAtMs[index] ?? Number.NaN)) known.undone += count;
    known.toMs = atMs;
    days.set(day, known);
  }
  // All days from the first event to the last, with days without deaths.
  const [first, last] = [seenAtMs[0] ?? 0, seenAtMs.at(-1) ?? 0].map((atMs) => Math.floor(atMs / dayMs));
  const quiet = Array.from({ length: (last ?? 0) - (first ?? 0) + 1 - days.size }, () => 0);
  const median = medianOf([...quiet, ...Array.from(days.values(), ({ deaths }) => deaths)]) ?? 0;
  const found = [...days].filter(([, { deaths }]) => deaths >= leastUndone && deaths >= leastOverMedian * median);
  const isFalse = ({ deaths, undone }: { readonly deaths: number; readonly undone: number }): boolean =>
    undone >= leastUndone && undone >= leastShare * deaths;
  return {
    incidents: joinDays(found.filter(([, day]) => isFalse(day))),
    massDeaths: joinDays(found.filter(([, day]) => !isFalse(day))),
  };
}

function joinDays(days: readonly (readonly [number, Incident])[]): Incident[] {
  const joined: { lastDay: number; fromMs: number; toMs: number }[] = [];
  for (const [day, { fromMs, toMs }] of days) {
    const last = joined.at(-1);
    if (last !== undefined && last.lastDay === day - 1) {
      last.lastDay = day;
      last.toMs = toMs;
    } else joined.push({ lastDay: day, fromMs, toMs });
  }
  return joined.map(({ fromMs, toMs }) => ({ fromMs, toMs }));
}
