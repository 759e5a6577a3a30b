import { dayMs, hourMs } from "../../base/time.ts";
import type { HealthcheckResult } from "../../contract/healthcheck.ts";
import type { CheckName, CheckReport } from "../../contract/report.ts";
import { worstSeverity, type Severity } from "../../contract/severity.ts";
import type { Board } from "./board.ts";
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

/** The last run of an hour, for charts over days. */
export interface VerdictHour {
  /** Hours since the epoch. */
  readonly hour: number;
  readonly atMs: number;
  readonly severity: Severity;
  readonly currentCount: number | null;
  readonly expectedCount: number | null;
}

/** An evaluation of the past, from stored events. */
export type PastVerdict = Pick<VerdictPoint, "atMs" | "severity" | "currentCount" | "baselineCount" | "expectedCount">;

/** The runs of every check, from folded hours and from the journal. */
export interface History {
  /** Returns every run that ended in (from, to], oldest first. */
  runs(query: CheckKey & { fromMs: number; toMs: number }): Promise<readonly RunPoint[]>;
  /** Returns the runs as points of a chart: those older than a week before `toMs` are reduced to one per hour. */
  points(query: CheckKey & { fromMs: number; toMs: number }): Promise<readonly VerdictPoint[]>;
  /** Returns the last run of each hour after `fromMs`, oldest first. */
  hours(query: CheckKey & { fromMs: number }): Promise<readonly VerdictHour[]>;
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

const singleRunsMs = 7 * dayMs;

/** Creates the history over the store and the board's open runs. */
export function createHistory(store: RunStore, board: Pick<Board, "openRuns">): History {
  async function runs({ check, slug, fromMs, toMs }: CheckKey & { fromMs: number; toMs: number }): Promise<RunPoint[]> {
    // Read first: runs that are folded during the query are then in both, not in neither.
    const open = board.openRuns({ check, slug });
    const hours = { from: Math.floor(fromMs / hourMs), to: Math.floor(toMs / hourMs) };
    const folded = await store.foldedRuns({ check, slug }, hours);
    return mergeRuns(folded, open).filter(({ atMs }) => atMs > fromMs && atMs <= toMs);
  }

  return {
    runs,
    points: async (query) => {
      const all = await runs(query);
      const singleFromMs = Math.floor((query.toMs - singleRunsMs) / hourMs) * hourMs;
      const old = all.filter(({ atMs }) => atMs < singleFromMs);
      return [...byHour(old).map(hourPoint), ...all.slice(old.length).map((run) => hourPoint([run]))];
    },
    hours: async ({ fromMs, ...key }) => {
      const all = await runs({ ...key, fromMs, toMs: Number.MAX_SAFE_INTEGER });
      return byHour(all).flatMap((hour): VerdictHour[] => {
        const last = hour.at(-1);
        if (last === undefined) return [];
        const { atMs, severity, currentCount, expectedCount } = last;
        return [{ hour: Math.floor(atMs / hourMs), atMs, severity, currentCount, expectedCount }];
      });
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
