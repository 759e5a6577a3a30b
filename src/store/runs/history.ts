import { dayMs, hourMs } from "../../base/time.ts";
import type { CheckName, CheckReport } from "../../contract/report.ts";
import { worstSeverity, type Severity } from "../../contract/severity.ts";
import type { Board } from "./board.ts";
import { mergeRuns, type RunPoint } from "./hour-runs.ts";
import type { CheckKey, RunStore } from "./runs.ts";
import { checkKey } from "../../contract/check-key.ts";

/** One point of a (check, slug)'s history; min and max differ from last only where it stands for an hour. */
export interface VerdictPoint {
  readonly atMs: number;
  /** Of an hour the worst. */
  readonly severity: Severity;
  readonly currentCount: number | null;
  readonly baselineCount: number | null;
  readonly expectedCount: number | null;
  readonly minCurrentCount: number | null;
  readonly maxCurrentCount: number | null;
}

/** The last run of an hour, for drawings of days. */
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

/** The runs of every check: those of folded hours, then those of the journal. */
export interface History {
  /** Every run that ended in (from, to], oldest first. */
  runs(query: CheckKey & { fromMs: number; toMs: number }): Promise<readonly RunPoint[]>;
  /** The same as points of a drawing: what is older than a week before `toMs` is one for each hour. */
  points(query: CheckKey & { fromMs: number; toMs: number }): Promise<readonly VerdictPoint[]>;
  /** The last run of each hour after `fromMs` that had one, oldest first. */
  hours(query: CheckKey & { fromMs: number }): Promise<readonly VerdictHour[]>;
  /** Instant of the oldest run; null without one. */
  firstAtMs(check: CheckName, slug: string): Promise<number | null>;
  /** Adds evaluations of the past; where there is a run at the same instant, that stays. */
  addPast(check: CheckName, slug: string, past: readonly PastVerdict[]): Promise<void>;
  /** The whole reports kept in (from, to], the last `limit` of them, oldest first; very long ones are cut. */
  reports(query: CheckKey & { fromMs: number; toMs: number; limit: number }): Promise<readonly CheckReport[]>;
}

const singleRunsMs = 7 * dayMs;

/** The history over the store, with what the board has of the journals. */
export function createHistory(store: RunStore, board: Pick<Board, "openRuns">): History {
  async function runs({ check, slug, fromMs, toMs }: CheckKey & { fromMs: number; toMs: number }): Promise<RunPoint[]> {
    // First: what is folded while the store is asked is in both.
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
      const checkId = (await store.addChecks([{ check, slug }])).get(checkKey(check, slug));
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

/** Runs of one hour as one point: the numbers of the last, the worst severity, the extremes of the count. */
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
