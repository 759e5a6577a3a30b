import { sql } from "kysely";
import { dayMs, hourMs } from "../../base/time.ts";
import { compareSeverity } from "../../contract/severity.ts";
import type { Db } from "../schema.ts";
import { severityAt, type VerdictNumbers } from "./verdict-rows.ts";

// Every run is kept for so long; after that, hours (issue: after 7 days hourly minimum, maximum and last).
const rawRetentionMs = 7 * dayMs;
// Series are looked for this many at a time: enough to fill a slice, few enough to be found at once.
const seriesAtOnce = 100;
// An engine bounds the number of parameters of a statement.
const rowsPerStatement = 500;
// What the statements for one series cost, in rows: some 0.5 ms against 10 µs (measured 2026-11). Without it a slice of few
// rows from each of many series would hold the lock for a tenth of a second.
const rowsASeries = 50;

interface Run extends VerdictNumbers {
  readonly series_id: number;
  readonly at_ms: number;
}

/** One row of verdict_hours: the numbers of the hour's last run, the worst severity, the extremes of the count. */
interface FoldedHour extends Run {
  readonly hour: number;
  readonly min_current_count: number | null;
  readonly max_current_count: number | null;
}

/** Folds and deletes at most about `maxRows` rows of each table; answers whether there may be more to do. */
export async function compactVerdicts(
  db: Db,
  { nowMs, retentionMs, maxRows }: { nowMs: number; retentionMs: number; maxRows: number },
): Promise<{ hasMore: boolean }> {
  let hasMore = false;
  for (const table of ["verdict_points", "verdict_hours", "verdict_reports"] as const) {
    if (await drop(db, table, nowMs - retentionMs, maxRows)) hasMore = true;
  }
  // Whole hours only, so that an hour is folded once, when its last run is old enough.
  const foldBeforeMs = Math.floor((nowMs - rawRetentionMs) / hourMs) * hourMs;
  if (await fold(db, foldBeforeMs, maxRows)) hasMore = true;
  return { hasMore };
}

type HistoryTable = "verdict_points" | "verdict_hours" | "verdict_reports";

/** Series with rows of the table up to `throughMs`: one look into the key for each, whatever the size of the table. */
async function seriesThrough(db: Db, table: HistoryTable, throughMs: number): Promise<number[]> {
  const { rows } = await sql<{ series_id: number }>`
    select series_id from verdict_series as series
    where exists (
      select 1 from ${sql.table(table)} as old where old.series_id = series.series_id and ${isThrough(table, throughMs)})
    order by series_id limit ${seriesAtOnce}`.execute(db);
  return rows.map(({ series_id }) => series_id);
}

/** Hours have their key in hours: by the instants alone a whole series would be read to find that none is old. */
function isThrough(table: HistoryTable, throughMs: number) {
  const isOld = sql<boolean>`old.at_ms <= ${throughMs}`;
  return table === "verdict_hours" ? sql<boolean>`old.hour <= ${Math.floor(throughMs / hourMs)} and ${isOld}` : isOld;
}

async function drop(db: Db, table: HistoryTable, throughMs: number, maxRows: number): Promise<boolean> {
  const series = await seriesThrough(db, table, throughMs);
  const key = sql.ref(table === "verdict_hours" ? "hour" : "at_ms");
  let left = maxRows;
  for (const seriesId of series) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where series_id = ${seriesId} and ${key} in (
        select ${key} from ${sql.table(table)} as old
        where old.series_id = ${seriesId} and ${isThrough(table, throughMs)} order by ${key} limit ${left})`.execute(
      db,
    );
    left -= Number(numAffectedRows) + rowsASeries;
    if (left <= 0) return true;
  }
  return series.length === seriesAtOnce;
}

async function fold(db: Db, beforeMs: number, maxRows: number): Promise<boolean> {
  const series = await seriesThrough(db, "verdict_points", beforeMs - 1);
  let left = maxRows;
  for (const seriesId of series) {
    const old = db.selectFrom("verdict_points").selectAll().where("series_id", "=", seriesId).orderBy("at_ms");
    let runs: Run[] = await old.where("at_ms", "<", beforeMs).limit(left).execute();
    const last = runs.at(-1);
    if (last === undefined) continue;
    left -= runs.length;
    if (left <= 0) {
      // The slice may end amid an hour: that hour is taken whole.
      const endMs = (hourOf(last) + 1) * hourMs;
      const rest = await old.where("at_ms", ">", last.at_ms).where("at_ms", "<", endMs).execute();
      runs = [...runs, ...rest];
    }
    await foldRuns(db, seriesId, runs);
    left -= rowsASeries;
    if (left <= 0) return true;
  }
  return series.length === seriesAtOnce;
}

/** Puts the runs, whole hours of one series in order, into the hours' rows. */
async function foldRuns(db: Db, seriesId: number, runs: readonly Run[]): Promise<void> {
  const [first, last] = [runs[0], runs.at(-1)];
  if (first === undefined || last === undefined) return;
  // Runs of a clock that was set back may belong to hours that were folded before.
  const known = await db
    .selectFrom("verdict_hours")
    .selectAll()
    .where("series_id", "=", seriesId)
    .where("hour", ">=", hourOf(first))
    .where("hour", "<=", hourOf(last))
    .execute();
  const hours = new Map<number, FoldedHour>(known.map((row) => [row.hour, row]));
  for (const run of runs) hours.set(hourOf(run), withRun(hours.get(hourOf(run)), run));
  const folded = [...hours.values()];
  for (let start = 0; start < folded.length; start += rowsPerStatement) {
    await db
      .insertInto("verdict_hours")
      .values(folded.slice(start, start + rowsPerStatement))
      .onConflict((conflict) =>
        conflict.columns(["series_id", "hour"]).doUpdateSet((row) => ({
          at_ms: row.ref("excluded.at_ms"),
          severity: row.ref("excluded.severity"),
          current_count: row.ref("excluded.current_count"),
          baseline_count: row.ref("excluded.baseline_count"),
          expected_count: row.ref("excluded.expected_count"),
          min_current_count: row.ref("excluded.min_current_count"),
          max_current_count: row.ref("excluded.max_current_count"),
        })),
      )
      .execute();
  }
  await db
    .deleteFrom("verdict_points")
    .where("series_id", "=", seriesId)
    .where("at_ms", ">=", first.at_ms)
    .where("at_ms", "<=", last.at_ms)
    .execute();
  await thinReports(db, seriesId, first.at_ms, last.at_ms);
}

/** Of the reports of each day stays the first of each severity. */
async function thinReports(db: Db, seriesId: number, fromMs: number, toMs: number): Promise<void> {
  const kept = await db
    .selectFrom("verdict_reports")
    .select(["at_ms", "severity"])
    .where("series_id", "=", seriesId)
    .where("at_ms", ">=", Math.floor(fromMs / dayMs) * dayMs)
    .where("at_ms", "<=", toMs)
    .orderBy("at_ms")
    .execute();
  const seen = new Set<string>();
  const gone = kept.flatMap(({ at_ms, severity }) => {
    const key = `${Math.floor(at_ms / dayMs)} ${severity}`;
    if (seen.has(key)) return [at_ms];
    seen.add(key);
    return [];
  });
  for (let start = 0; start < gone.length; start += rowsPerStatement) {
    await db
      .deleteFrom("verdict_reports")
      .where("series_id", "=", seriesId)
      .where("at_ms", "in", gone.slice(start, start + rowsPerStatement))
      .execute();
  }
}

function withRun(hour: FoldedHour | undefined, run: Run): FoldedHour {
  const { at_ms, severity, current_count } = run;
  const alone = { ...run, hour: hourOf(run), min_current_count: current_count, max_current_count: current_count };
  if (hour === undefined) return alone;
  return {
    ...(at_ms >= hour.at_ms ? alone : hour),
    severity: compareSeverity(severityAt(severity), severityAt(hour.severity)) > 0 ? severity : hour.severity,
    min_current_count: extreme(Math.min, hour.min_current_count, current_count),
    max_current_count: extreme(Math.max, hour.max_current_count, current_count),
  };
}

function extreme(
  choose: (left: number, right: number) => number,
  left: number | null,
  right: number | null,
): number | null {
  return left === null || right === null ? (left ?? right) : choose(left, right);
}

function hourOf({ at_ms }: { readonly at_ms: number }): number {
  return Math.floor(at_ms / hourMs);
}
