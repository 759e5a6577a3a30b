import { sql } from "kysely";
import { hourMs } from "../../base/time.ts";
import type { CheckName } from "../../contract/report.ts";
import { severities } from "../../contract/severity.ts";
import type { Db } from "../schema.ts";
import { findSeries, severityAt, type VerdictNumbers } from "./verdict-rows.ts";
import type { PastVerdict, VerdictHour } from "./verdicts.ts";

/** The last run of each hour after `fromMs`. */
export async function readHours(
  db: Db,
  { check, slug, fromMs }: { readonly check: CheckName; readonly slug: string; readonly fromMs: number },
): Promise<VerdictHour[]> {
  const series = await findSeries(db, check, slug);
  if (series === null) return [];
  const { rows } = await sql<VerdictNumbers & { readonly hour: number; readonly at_ms: number }>`
    select hour, at_ms, severity, current_count, expected_count from verdict_hours
    where series_id = ${series.series_id} and hour >= ${Math.floor(fromMs / hourMs)} and at_ms > ${fromMs}
    union all
    select last.hour, point.at_ms, point.severity, point.current_count, point.expected_count from (
      -- As a literal: node:sqlite binds every number as a real, and an hour would be each of its runs.
      select at_ms / ${sql.lit(hourMs)} as hour, max(at_ms) as at_ms from verdict_points
      where series_id = ${series.series_id} and at_ms > ${fromMs} group by 1) as last
    join verdict_points as point on point.series_id = ${series.series_id} and point.at_ms = last.at_ms
    order by at_ms`.execute(db);
  return rows.map((row) => ({
    hour: Math.floor(row.at_ms / hourMs),
    atMs: row.at_ms,
    severity: severityAt(row.severity),
    currentCount: row.current_count,
    expectedCount: row.expected_count,
  }));
}

/** Adds points that no run was made for. */
export async function addPast(db: Db, seriesId: number, past: readonly PastVerdict[]): Promise<void> {
  for (const { atMs, severity, currentCount, baselineCount, expectedCount } of past) {
    await sql`
      insert into verdict_points (series_id, at_ms, severity, current_count, baseline_count, expected_count)
      values (${seriesId}, ${atMs}, ${severities.indexOf(severity)}, ${currentCount}, ${baselineCount}, ${expectedCount})
      on conflict (series_id, at_ms) do nothing`.execute(db);
  }
}
