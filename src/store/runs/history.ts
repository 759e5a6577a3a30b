import { sql, type RawBuilder } from "kysely";
import { dayMs, eventLoopTurn, hourMs } from "../../base/time.ts";
import { checkKey } from "../../contract/check-key.ts";
import type { CheckName, CheckReport } from "../../contract/report.ts";
import { boundResult, type ResultBounds } from "../../contract/result-bounds.ts";
import { severities, type Severity } from "../../contract/severity.ts";
import { chunksOf } from "../engine/chunks.ts";
import { dialectOf, inTransaction, rowStatement } from "../engine/dialect.ts";
import type { PlainDb } from "../tables.ts";
import type { CheckKey } from "./check-state.ts";
import { addChecks } from "./checks.ts";

/** A run; or the runs of an hour: when the last one ended, its numbers, and the worst severity. */
export interface RunPoint {
  readonly atMs: number;
  readonly severity: Severity;
  readonly currentCount: number | null;
  readonly expectedCount: number | null;
  readonly runs: number;
  /** How many of them have a result. */
  readonly answered: number;
}

/** An evaluation of the past, from the events that were stored when it was computed. */
export type PastVerdict = Omit<RunPoint, "runs" | "answered">;

export interface PointsQuery {
  readonly check: CheckName;
  readonly slugs: readonly string[];
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether an hour is one point even if its runs are stored [only if they are not]. */
  readonly isHourly?: boolean;
}

/** What is deleted of the history: all before `beforeMs`; before `runsBeforeMs` single runs, whose hours stay. */
export interface HistoryLimits {
  /** Hours that have ended by then are made of their runs. */
  readonly nowMs: number;
  readonly runsBeforeMs: number;
  readonly beforeMs: number;
}

/** How long single runs are kept; then only their hours are. */
export const singleRunsMs = 7 * dayMs;

// A statement over so many checks holds up the event loop for some milliseconds.
const checksAtOnce = 100;
const reportBounds: ResultBounds = { keys: 64, findings: 20, characters: 300 };

/** Creates the access to the runs of every check: a row each for a week, then one for each hour. */
export function createHistory(db: PlainDb) {
  return {
    /** Yields the points in (fromMs, toMs] by organization, oldest first; other work gets turns in between. */
    async *points({ slugs, ...query }: PointsQuery): AsyncGenerator<readonly [slug: string, readonly RunPoint[]]> {
      for (const some of chunksOf(slugs, checksAtOnce)) {
        yield* Map.groupBy(await readPoints(db, { ...query, slugs: some }), ({ slug }) => slug);
        // SQLite answers within the call.
        await eventLoopTurn();
      }
    },
    /** Returns about when the oldest run ended; null without one. */
    firstAtMs: async (check: CheckName, slug: string): Promise<number | null> => {
      const { rows } = await sql<{ run_ms: number | null; hour: number | null }>`
        select (select min(at_ms) from runs where runs.check_id = checks.check_id) as run_ms,
          (select min(hour) from run_hours where run_hours.check_id = checks.check_id) as hour
        from checks where check_name = ${check} and slug = ${slug}`.execute(db);
      const { run_ms: runMs = null, hour = null } = rows[0] ?? {};
      return hour === null || (runMs !== null && runMs < (hour + 1) * hourMs) ? runMs : hour * hourMs;
    },
    /** Adds evaluations of the past; a run at the same instant takes precedence. */
    addPast: (check: CheckName, slug: string, past: readonly PastVerdict[]): Promise<void> =>
      inTransaction(db, async (db) => {
        const checkId = (await addChecks(db, [{ check, slug }])).get(checkKey({ check, slug })) ?? 0;
        await insertPast(
          db,
          past.map(({ atMs, severity, currentCount, expectedCount }) => [
            checkId,
            atMs,
            severities.indexOf(severity),
            currentCount,
            expectedCount,
          ]),
        );
        const endMs = Math.max(...past.map(({ atMs }) => atMs));
        await rollUp(db, sql`checks.check_id = ${checkId}`, sql`0`, endMs);
      }),
    /**
     * Makes hours of the runs of some checks after the number `afterId`, and deletes what is too old: some
     * milliseconds. Returns the number up to which it came; null: there are no more checks.
     */
    tidy: (afterId: number, { nowMs, runsBeforeMs, beforeMs }: HistoryLimits): Promise<number | null> =>
      inTransaction(db, async (db) => {
        const lastId = afterId + checksAtOnce;
        const some = sql`checks.check_id > ${afterId} and checks.check_id <= ${lastId}`;
        const since = sql`coalesce((
          select max(hour) from run_hours
          where run_hours.check_id = checks.check_id and run_hours.hour < ${Math.floor(nowMs / hourMs)}), 0)`;
        await rollUp(db, some, since, nowMs);
        const ofSome = sql`check_id in (select check_id from checks where ${some})`;
        const [firstRunMs, firstHour] = [startOfHour(Math.max(runsBeforeMs, beforeMs)), Math.floor(beforeMs / hourMs)];
        await sql`delete from runs where ${ofSome} and at_ms < ${firstRunMs}`.execute(db);
        await sql`delete from run_hours where ${ofSome} and hour < ${firstHour}`.execute(db);
        await sql`delete from check_reports where ${ofSome} and at_ms <= ${beforeMs}`.execute(db);
        // A check that is no longer configured keeps its name as long as anything of it is stored.
        await sql`delete from checks where ${some} and due_at_ms is not null and report is null
          and not exists (select 1 from runs where runs.check_id = checks.check_id)
          and not exists (select 1 from run_hours where run_hours.check_id = checks.check_id)
          and not exists (select 1 from check_reports where check_reports.check_id = checks.check_id)`.execute(db);
        const { rows } = await sql<{ last: number | null }>`select max(check_id) as last from checks`.execute(db);
        return (rows[0]?.last ?? 0) > lastId ? lastId : null;
      }),
    /** Stores reports, shortened to some kilobytes. */
    keepReports: async (reports: readonly (CheckReport & { readonly checkId: number })[]): Promise<void> => {
      await insertReports(
        db,
        reports.map(({ checkId, ...report }) => [checkId, report.finishedAtMs, JSON.stringify(forHistory(report))]),
      );
    },
    /** Returns the last `limit` stored reports of runs in (fromMs, toMs], oldest first. */
    reports: async ({ check, slug, fromMs, toMs, limit }: ReportsQuery): Promise<readonly CheckReport[]> => {
      const { rows } = await sql<{ report: string }>`
        select report from check_reports
        where check_id = (select check_id from checks where check_name = ${check} and slug = ${slug})
          and at_ms > ${fromMs} and at_ms <= ${toMs}
        order by at_ms desc limit ${limit}`.execute(db);
      return rows.map(({ report }) => JSON.parse(report) as CheckReport).toReversed();
    },
  };
}

export type History = ReturnType<typeof createHistory>;

export interface ReportsQuery extends CheckKey {
  readonly fromMs: number;
  readonly toMs: number;
  readonly limit: number;
}

const insertPast = rowStatement(
  ["bigint", "bigint", "bigint", "double precision", "double precision"],
  (values) => `
    insert into runs (check_id, at_ms, severity, current_count, expected_count) ${values}
    on conflict (check_id, at_ms) do nothing`,
);
const insertReports = rowStatement(
  ["bigint", "bigint", "text"],
  (values) => `
    insert into check_reports (check_id, at_ms, report) ${values}
    on conflict (check_id, at_ms) do update set report = excluded.report`,
);

const hourLength = sql.lit(hourMs);
// The order of severities is not that of their numbers: fail is worse than unknown.
const [failed, unknown] = [sql.lit(severities.indexOf("fail")), sql.lit(severities.indexOf("unknown"))];
const worst = sql`
  case when max(case severity when ${failed} then 1 else 0 end) = 1 then ${failed} else max(severity) end`;

/** Makes the hours of these checks from `sinceHour` on that end by `endMs`, or makes them again. */
async function rollUp(
  db: PlainDb,
  some: RawBuilder<unknown>,
  sinceHour: RawBuilder<unknown>,
  endMs: number,
): Promise<void> {
  await sql`
    insert into run_hours (check_id, hour, at_ms, severity, runs, answered, current_count, expected_count)
    select made.check_id, made.hour, made.at_ms, made.severity, made.runs, made.answered, last.current_count,
      last.expected_count
    from (
      select runs.check_id, runs.at_ms / ${hourLength} as hour, max(runs.at_ms) as at_ms, ${worst} as severity,
        count(*) as runs, count(nullif(severity, ${unknown})) as answered
      from checks
      join runs on runs.check_id = checks.check_id and runs.at_ms >= ${sinceHour} * ${hourLength}
        and runs.at_ms < ${startOfHour(endMs)}
      where ${some}
      group by runs.check_id, runs.at_ms / ${hourLength}) as made
    join runs as last on last.check_id = made.check_id and last.at_ms = made.at_ms
    where true
    on conflict (check_id, hour) do update set at_ms = excluded.at_ms, severity = excluded.severity,
      runs = excluded.runs, answered = excluded.answered, current_count = excluded.current_count,
      expected_count = excluded.expected_count`.execute(db);
}

function startOfHour(atMs: number): number {
  return Math.floor(atMs / hourMs) * hourMs;
}

const columns = sql`
  slug, at_ms as "atMs", severity, current_count as "currentCount", expected_count as "expectedCount"`;

/** Reads hours up to an instant, which differs from check to check, and from it on single runs. */
async function readPoints(
  db: PlainDb,
  { check, slugs, fromMs, toMs, isHourly = false }: PointsQuery,
): Promise<(RunPoint & { readonly slug: string })[]> {
  const split = isHourly
    ? sql`coalesce((select max(hour) + 1 from run_hours where run_hours.check_id = checks.check_id) * ${hourLength}, 0)`
    : sql`coalesce((select min(at_ms) from runs where runs.check_id = checks.check_id), ${Number.MAX_SAFE_INTEGER})`;
  const { rows } = await sql<Omit<RunPoint, "severity"> & { readonly slug: string; readonly severity: number }>`
    with asked as (
      select check_id, slug, ${split} as split_ms from checks
      where check_name = ${check} and slug in (select value from ${dialectOf(db).texts(slugs)} as listed))
    select ${columns}, runs, answered from asked join run_hours on run_hours.check_id = asked.check_id
    where hour >= ${Math.floor(fromMs / hourMs)} and hour <= ${Math.floor(toMs / hourMs)}
      and at_ms > ${fromMs} and at_ms <= ${toMs} and at_ms < split_ms
    union all
    select ${columns}, 1, case severity when ${unknown} then 0 else 1 end
    from asked join runs on runs.check_id = asked.check_id
    where at_ms > ${fromMs} and at_ms <= ${toMs} and at_ms >= split_ms
    order by slug, "atMs"`.execute(db);
  return rows.map((row) => ({ ...row, severity: severities[row.severity] ?? "unknown" }));
}

function forHistory(report: CheckReport): CheckReport {
  return report.kind === "error" ? report : { ...report, result: boundResult(report.result, reportBounds) };
}
