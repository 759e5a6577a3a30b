import { dayMs, eventLoopTurn, hourMs } from "../../base/time.ts";
import type { HealthcheckResult } from "../../contract/healthcheck.ts";
import type { CheckName, CheckReport } from "../../contract/report.ts";
import { worstSeverity, type Severity } from "../../contract/severity.ts";
import type { Board } from "./board.ts";
import { HourSeries } from "./hour-series.ts";
import { mergeRuns, type RunPoint } from "./hour-runs.ts";
import type { CheckKey, RunStore } from "./runs.ts";
import { checkKey } from "../../contract/check-key.ts";

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

/** The runs of every check, from folded hours and from the journal. */
export interface History {
  /** Returns every run that ended in (from, to], oldest first. */
  runs(query: CheckKey & { fromMs: number; toMs: number }): Promise<readonly RunPoint[]>;
  /** Returns the runs as points of a chart: those older than a week before `toMs` are reduced to one per hour. */
  points(query: CheckKey & { fromMs: number; toMs: number }): Promise<readonly VerdictPoint[]>;
  /** Yields the runs of these hours (since the epoch, ascending) by organization; other work gets its turn between hours. */
  runsOfHours(query: HourRunsQuery): AsyncIterable<ReadonlyMap<string, readonly RunPoint[]>>;
  /** Returns the last run of each hour in (fromMs, toMs] by organization, oldest first; other work gets its turn between hours. */
  hours(query: HoursQuery): Promise<ReadonlyMap<string, HourSeries>>;
  /** Returns the instant of the oldest run; null without one. */
  firstAtMs(check: CheckName, slug: string): Promise<number | null>;
  /** Adds evaluations of the past; a run at the same instant takes precedence. */
  addPast(check: CheckName, slug: string, past: readonly PastVerdict[]): Promise<void>;
  /** Returns the stored reports in (from, to], the last `limit` of them, oldest first; very long ones are shortened. */
  reports(query: CheckKey & { fromMs: number; toMs: number; limit: number }): Promise<readonly CheckReport[]>;
}

/** What a run found, from the stored reports. */
export interface StoredResult {
  readonly result: HealthcheckResult;
  readonly atMs: number;
}

/** Hours of the same check of several organizations, read together: the history lies hour by hour. */
export interface HoursQuery {
  readonly check: CheckName;
  readonly slugs: readonly string[];
  readonly fromMs: number;
  readonly toMs: number;
}

/** Runs of the same check of several organizations, read together. */
export interface HourRunsQuery extends Pick<HoursQuery, "check" | "slugs"> {
  readonly hours: readonly number[];
}

const singleRunsMs = 7 * dayMs;

/** Creates the history over the store and the board's open runs. */
export function createHistory(store: RunStore, board: Pick<Board, "idOf" | "openRuns">): History {
  async function runs({ check, slug, fromMs, toMs }: CheckKey & { fromMs: number; toMs: number }): Promise<RunPoint[]> {
    // Read first: runs that are folded during the query are then in both, not in neither.
    const open = board.openRuns({ check, slug });
    const hours = { from: Math.floor(fromMs / hourMs), to: Math.floor(toMs / hourMs) };
    const folded = await store.foldedRuns({ check, slug }, hours);
    return mergeRuns(folded, open).filter(({ atMs }) => atMs > fromMs && atMs <= toMs);
  }

  async function* runsOfHours({
    check,
    slugs,
    hours,
  }: HourRunsQuery): AsyncGenerator<Map<string, readonly RunPoint[]>> {
    const slugOf = new Map<number, string>();
    const open = new Map<number, Map<string, RunPoint[]>>();
    const asked = new Set(hours);
    for (const slug of slugs) {
      const checkId = board.idOf({ check, slug });
      if (checkId !== undefined) slugOf.set(checkId, slug);
      // Read first, as in `runs`.
      const ownHours = Map.groupBy(board.openRuns({ check, slug }), ({ atMs }) => Math.floor(atMs / hourMs));
      for (const [hour, runs] of ownHours)
        if (asked.has(hour)) open.set(hour, (open.get(hour) ?? new Map<string, RunPoint[]>()).set(slug, runs));
    }
    const checkIds = new Set(slugOf.keys());
    for (const hour of hours) {
      const own = open.get(hour);
      const found = new Map<string, readonly RunPoint[]>(own);
      for (const { checkId, points } of await store.foldedHour(hour, checkIds)) {
        const slug = slugOf.get(checkId) ?? "";
        const added = own?.get(slug);
        found.set(slug, added === undefined ? points : mergeRuns(points, added));
      }
      yield found;
      // SQLite answers within the call.
      await eventLoopTurn();
    }
  }

  return {
    runs,
    points: async (query) => {
      const all = await runs(query);
      const singleFromMs = Math.floor((query.toMs - singleRunsMs) / hourMs) * hourMs;
      const old = all.filter(({ atMs }) => atMs < singleFromMs);
      return [...byHour(old).map(hourPoint), ...all.slice(old.length).map((run) => hourPoint([run]))];
    },
    runsOfHours,
    hours: async ({ check, slugs, fromMs, toMs }) => {
      const isWithin = ({ atMs }: RunPoint): boolean => atMs > fromMs && atMs <= toMs;
      const found = new Map(slugs.map((slug) => [slug, new HourSeries()]));
      const first = Math.floor(fromMs / hourMs);
      const hours = Array.from({ length: Math.floor(toMs / hourMs) - first + 1 }, (_, index) => first + index);
      for await (const runs of runsOfHours({ check, slugs, hours }))
        for (const [slug, points] of runs) {
          const last = points.findLast(isWithin);
          if (last !== undefined) found.get(slug)?.add(last);
        }
      return found;
    },
    firstAtMs: async (check, slug) => {
      const open = board.openRuns({ check, slug }).map(({ atMs }) => atMs);
      const hour = await store.firstFoldedHour({ check, slug });
      const folded = hour === null ? [] : await store.foldedRuns({ check, slug }, { from: hour, to: hour });
      const all = [...open, ...folded.map(({ atMs }) => atMs)];
      return all.length === 0 ? null : Math.min(...all);
    },
    addPast: async (check, slug, past) => {
      const checkId = (await store.addChecks([{ check, slug }])).get(checkKey({ check, slug }));
      if (checkId === undefined || past.length === 0) return;
      const times = past.map(({ atMs }) => atMs);
      const span = { check, slug, fromMs: Math.min(...times) - 1, toMs: Math.max(...times) };
      const known = new Set((await runs(span)).map(({ atMs }) => atMs));
      const points = past
        .filter(({ atMs }) => !known.has(atMs))
        .map((point): RunPoint => ({ ...point, evaluatedAtMs: point.atMs, rule: null }));
      const hours = Map.groupBy(points, ({ atMs }) => Math.floor(atMs / hourMs));
      await store.mergeHours([...hours].map(([hour, own]) => ({ checkId, hour, points: own })));
    },
    reports: (query) => store.reports(query),
  };
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
