import type { CheckName, CheckReport } from "../../src/contract/report.ts";
import type {
  CheckKey,
  CheckState,
  ClaimedRun,
  FinishedRun,
  ScheduleEntry,
  ScheduleStore,
} from "../../src/store/runs/schedule.ts";

interface Row {
  entry: ScheduleEntry;
  fence: number;
  owner: string | null;
  leaseUntilMs: number;
  lastReport: CheckReport | null;
  lastResultReport: CheckReport | null;
  severitySinceMs: number | null;
}

/** The schedule's rows in memory, by the same rules as in the database; several schedulers may share one. */
export function createMemoryScheduleStore(): ScheduleStore {
  const rows = new Map<string, Row>();
  const keyOf = (row: { check: CheckName; slug: string }): string => `${row.check} ${row.slug}`;
  const isHeld = (row: Row, nowMs: number): boolean => row.owner !== null && row.leaseUntilMs > nowMs;

  const isMoved = (row: Row, run: ClaimedRun): boolean => row.entry.nextDueAtMs !== run.dueAtMs;

  const isNoneOf = (row: Row, except: readonly CheckKey[]): boolean =>
    except.every((check) => keyOf(check) !== keyOf(row.entry));

  function claim(row: Row, lease: { owner: string; leaseUntilMs: number }): ClaimedRun {
    row.fence++;
    row.owner = lease.owner;
    row.leaseUntilMs = lease.leaseUntilMs;
    const { check, slug, nextDueAtMs } = row.entry;
    return { check, slug, dueAtMs: nextDueAtMs, fence: row.fence };
  }

  function stateOf(row: Row): CheckState {
    const { check, slug, nextDueAtMs } = row.entry;
    return {
      check,
      slug,
      nextDueAtMs,
      isRunning: row.owner !== null,
      lastRunAtMs: row.lastReport?.finishedAtMs ?? null,
      lastSuccessAtMs: row.lastResultReport?.finishedAtMs ?? null,
      severity: row.lastReport?.severity ?? null,
      severitySinceMs: row.severitySinceMs,
      lastReport: row.lastReport,
      lastResultReport: row.lastResultReport,
    };
  }

  function complete({ run, owner, report, nextDueAtMs }: FinishedRun): CheckState | null {
    const row = rows.get(keyOf(run));
    if (row === undefined || row.fence !== run.fence) return null;
    if (owner !== null ? row.owner !== owner : isHeld(row, report.finishedAtMs) || isMoved(row, run)) return null;
    if (owner === null) row.fence++;
    if (row.lastReport?.severity !== report.severity) row.severitySinceMs = report.finishedAtMs;
    row.lastReport = report;
    if (report.kind === "result") row.lastResultReport = report;
    row.entry = { ...row.entry, nextDueAtMs };
    row.owner = null;
    return stateOf(row);
  }

  return {
    sync: async (wanted) => {
      const wantedKeys = new Set(wanted.map(keyOf));
      const removed = [...rows.values()].map((row) => row.entry).filter((entry) => !wantedKeys.has(keyOf(entry)));
      for (const entry of removed) rows.delete(keyOf(entry));
      for (const entry of wanted) {
        const row = rows.get(keyOf(entry));
        if (row === undefined)
          rows.set(keyOf(entry), {
            entry: stored(entry),
            fence: 0,
            owner: null,
            leaseUntilMs: 0,
            lastReport: null,
            lastResultReport: null,
            severitySinceMs: null,
          });
        else if (row.entry.scheduleKey !== entry.scheduleKey || isSetBack(row.entry, entry)) row.entry = stored(entry);
      }
      return { removed: removed.map(({ check, slug }) => ({ check, slug })) };
    },
    entries: async () => [...rows.values()].map((row) => row.entry),
    claimDue: async ({ nowMs, limit, except = [], ...lease }) =>
      [...rows.values()]
        .filter((row) => row.entry.nextDueAtMs <= nowMs && !isHeld(row, nowMs) && isNoneOf(row, except))
        .toSorted((left, right) => left.entry.nextDueAtMs - right.entry.nextDueAtMs)
        .slice(0, limit)
        .map((row) => claim(row, lease)),
    due: async ({ nowMs, limit }) =>
      [...rows.values()]
        .filter((row) => row.entry.nextDueAtMs <= nowMs && !isHeld(row, nowMs))
        .toSorted((left, right) => left.entry.nextDueAtMs - right.entry.nextDueAtMs)
        .slice(0, limit)
        .map(({ entry: { check, slug, nextDueAtMs }, fence }) => ({ check, slug, dueAtMs: nextDueAtMs, fence })),
    claimNow: async ({ nowMs, check, slug, ...lease }) => {
      const row = rows.get(keyOf({ check, slug }));
      return row === undefined || isHeld(row, nowMs) ? null : claim(row, lease);
    },
    renewLeases: async ({ runs, owner, leaseUntilMs }) => {
      for (const run of runs) {
        const row = rows.get(keyOf(run));
        if (row !== undefined && row.owner === owner && row.fence === run.fence) row.leaseUntilMs = leaseUntilMs;
      }
    },
    nextDueAtMs: async (nowMs, except = []) => {
      const wanted = [...rows.values()].filter((row) => isNoneOf(row, except));
      const free = wanted.map((row) =>
        isHeld(row, nowMs) ? Math.max(row.leaseUntilMs, row.entry.nextDueAtMs) : row.entry.nextDueAtMs,
      );
      return free.length === 0 ? null : Math.min(...free);
    },
    complete: async (done) => complete(done) !== null,
    completeAll: async (done) => done.map(complete),
    releaseLeases: async (owner) => {
      for (const row of rows.values()) if (row.owner === owner) row.owner = null;
    },
    state: async (check, slug) => {
      const row = rows.get(keyOf({ check, slug }));
      return row === undefined ? null : stateOf(row);
    },
    states: async () => [...rows.values()].map(stateOf),
    lastRuns: async (sinceMs) =>
      [...rows.values()]
        .map(stateOf)
        .flatMap(({ check, slug, lastRunAtMs }) =>
          lastRunAtMs === null || lastRunAtMs < sinceMs ? [] : [{ check, slug, lastRunAtMs }],
        ),
    statesOf: async (checks) => checks.flatMap((check) => rows.get(keyOf(check)) ?? []).map(stateOf),
  };
}

function isSetBack(known: ScheduleEntry, { nextDueAtMs, seenDueAtMs = known.nextDueAtMs }: ScheduleEntry): boolean {
  return known.nextDueAtMs > nextDueAtMs && known.nextDueAtMs === seenDueAtMs;
}

function stored({ check, slug, scheduleKey, nextDueAtMs }: ScheduleEntry): ScheduleEntry {
  return { check, slug, scheduleKey, nextDueAtMs };
}
