import { dayMs, eventLoopTurn, hourMs } from "../../base/time.ts";
import { checkKey } from "../../contract/check-key.ts";
import type { HealthcheckResult } from "../../contract/healthcheck.ts";
import type { CheckName, CheckReport } from "../../contract/report.ts";
import { worstSeverity, type Severity } from "../../contract/severity.ts";
import { chunksOf } from "../engine/chunks.ts";
import type { StoreParts } from "../store-parts.ts";
import type { CheckKey } from "./check-state.ts";
import type { ReportsQuery } from "./reports.ts";
import { mergeRuns, type RunPoint } from "./run-point.ts";

/** One point of a check's history; min and max differ from last only if it represents an hour. */
export interface VerdictPoint {
  readonly atMs: number;
  /** The worst one of an hour. */
  readonly severity: Severity;
  readonly currentCount: number | null;
  readonly baselineCount: number | null;
  readonly expectedCount: number | null;
  readonly minCurrentCount: number | null;
  readonly maxCurrentCount: number | null;
}

/** An evaluation of the past, from the events that were stored when it was computed. */
export type PastVerdict = Pick<RunPoint, "atMs" | "severity" | "currentCount" | "baselineCount" | "expectedCount"> & {
  readonly computedAtMs: number;
};

/** The runs of every check. */
export interface History {
  /** Returns every run that ended in (from, to], oldest first. */
  runs(query: CheckKey & { fromMs: number; toMs: number }): Promise<readonly RunPoint[]>;
  /** Returns the runs as points of a chart: those older than a week before `toMs` are reduced to one per hour. */
  points(query: CheckKey & { fromMs: number; toMs: number }): Promise<readonly VerdictPoint[]>;
  /** Yields the runs of these hours (since the epoch, ascending) by organization; other work gets its turn between hours. */
  runsOfHours(query: HourRunsQuery): AsyncIterable<ReadonlyMap<string, readonly RunPoint[]>>;
  /** Returns the instant of the oldest run; null without one. */
  firstAtMs(check: CheckName, slug: string): Promise<number | null>;
  /** Adds evaluations of the past; a run at the same instant takes precedence. */
  addPast(check: CheckName, slug: string, past: readonly PastVerdict[]): Promise<void>;
  /** Returns the stored reports in (from, to], the last `limit` of them, oldest first; very long ones are shortened. */
  reports(query: ReportsQuery): Promise<readonly CheckReport[]>;
}

/** What a run found, from the stored reports. */
export interface StoredResult {
  readonly result: HealthcheckResult;
  readonly atMs: number;
}

/** Runs of the same check of several organizations, read together: the history lies hour by hour. */
export interface HourRunsQuery {
  readonly check: CheckName;
  readonly slugs: readonly string[];
  readonly hours: readonly number[];
}

const singleRunsMs = 7 * dayMs;

// Statements over so many checks hold up the event loop for some milliseconds at most.
const checksAtOnce = 100;

/** Creates the history over the store. */
export function createHistory(store: StoreParts["runs"]): History {
  /** Returns the organizations of a check by its numbers. */
  async function slugsByNumber(check: CheckName, slugs: readonly string[]): Promise<ReadonlyMap<number, string>> {
    const keys = slugs.map((slug) => ({ check, slug }));
    const ids = await store.findChecks(keys);
    return new Map(
      keys.flatMap((key): [number, string][] => {
        const id = ids.get(checkKey(key));
        return id === undefined ? [] : [[id, key.slug]];
      }),
    );
  }

  /** Returns the runs in [fromMs, toMs) that are in no hour yet, by hour and number. */
  async function readOpen(checkIds: readonly number[], span: { readonly fromMs: number; readonly toMs: number }) {
    const open = new Map<number, Map<number, readonly RunPoint[]>>();
    const sorted = checkIds.toSorted((left, right) => left - right);
    for (const some of chunksOf(sorted, checksAtOnce)) {
      for (const { checkId, hour, points } of await store.openHours(some, span))
        open.set(hour, (open.get(hour) ?? new Map<number, readonly RunPoint[]>()).set(checkId, points));
      // SQLite answers within the call.
      await eventLoopTurn();
    }
    return open;
  }

  async function* runsOfHours({
    check,
    slugs,
    hours,
  }: HourRunsQuery): AsyncGenerator<Map<string, readonly RunPoint[]>> {
    const slugOf = await slugsByNumber(check, slugs);
    const checkIds = new Set(slugOf.keys());
    // The open hours are read first: runs that are folded meanwhile are then in both, not in neither.
    const open = await readOpen([...checkIds], spanOf(hours));
    for (const hour of hours) {
      const found = new Map(open.get(hour));
      for (const { checkId, points } of await store.foldedHour(hour, checkIds))
        found.set(checkId, mergeRuns(points, found.get(checkId) ?? []));
      yield new Map([...found].map(([checkId, points]) => [slugOf.get(checkId) ?? "", points]));
      await eventLoopTurn();
    }
  }

  return {
    runs: (query) => store.runsOf(query),
    points: async (query) => {
      const all = await store.runsOf(query);
      const singleFromMs = Math.floor((query.toMs - singleRunsMs) / hourMs) * hourMs;
      const old = all.filter(({ atMs }) => atMs < singleFromMs);
      return [...byHour(old).map(hourPoint), ...all.slice(old.length).map((run) => hourPoint([run]))];
    },
    runsOfHours,
    firstAtMs: (check, slug) => store.firstRunAtMs({ check, slug }),
    addPast: async (check, slug, past) => {
      const checkId = (await store.addChecks([{ check, slug }])).get(checkKey({ check, slug }));
      if (checkId === undefined || past.length === 0) return;
      const times = past.map(({ atMs }) => atMs);
      const span = { check, slug, fromMs: Math.min(...times) - 1, toMs: Math.max(...times) };
      const known = new Set((await store.runsOf(span)).map(({ atMs }) => atMs));
      const points = past
        .filter(({ atMs }) => !known.has(atMs))
        .map((point): RunPoint => ({ ...point, evaluatedAtMs: point.atMs, rule: null }));
      const hours = Map.groupBy(points, ({ atMs }) => Math.floor(atMs / hourMs));
      await store.mergeHours([...hours].map(([hour, own]) => ({ checkId, hour, points: own })));
    },
    reports: (query) => store.reports(query),
  };
}

function spanOf(hours: readonly number[]): { readonly fromMs: number; readonly toMs: number } {
  return { fromMs: (hours[0] ?? 0) * hourMs, toMs: ((hours.at(-1) ?? -1) + 1) * hourMs };
}

function byHour(runs: readonly RunPoint[]): RunPoint[][] {
  return [...Map.groupBy(runs, ({ atMs }) => Math.floor(atMs / hourMs)).values()];
}

/** Reduces the runs of one hour to a point: numbers of the last run, worst severity, extremes of the count. */
function hourPoint(hour: readonly RunPoint[]): VerdictPoint {
  const last = hour.at(-1);
  const counts = hour.flatMap(({ currentCount }) => currentCount ?? []);
  return {
    atMs: last?.atMs ?? 0,
    severity: worstSeverity(hour.map(({ severity }) => severity)),
    currentCount: last?.currentCount ?? null,
    baselineCount: last?.baselineCount ?? null,
    expectedCount: last?.expectedCount ?? null,
    minCurrentCount: counts.length === 0 ? null : Math.min(...counts),
    maxCurrentCount: counts.length === 0 ? null : Math.max(...counts),
  };
}
