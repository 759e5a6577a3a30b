import { createHash } from "node:crypto";
import { sql } from "kysely";
import { FlatlineError } from "../../base/errors.ts";
import { memoized } from "../../base/memo.ts";
import { dayMs, hourMs } from "../../base/time.ts";
import { checkKey } from "../../contract/check-key.ts";
import type { CheckName, CheckReport } from "../../contract/report.ts";
import { packReport, unpackReport } from "./check-reports.ts";
import { inTransaction } from "../engine/in-transaction.ts";
import { chosenThresholds } from "./report-parts.ts";
import { rowStatement } from "../engine/row-statement.ts";
import type { Db } from "../schema.ts";
import { takesTurn } from "../engine/turns.ts";
import { compactVerdicts } from "./verdict-compaction.ts";
import {
  findSeries,
  findSeriesOf,
  numbersOf,
  severityAt,
  type VerdictNumbers,
  type VerdictSeries,
} from "./verdict-rows.ts";
import { addPast, readHours } from "./verdict-hours.ts";
import type { VerdictPoint, VerdictStore } from "./verdicts.ts";

// The whole report is kept at least once a day,
const fullEveryMs = dayMs;
// and when only the findings differ at most once an hour: those of a far side may have another name in each run.
const findingsEveryMs = hourMs;

/** Verdict history over the tables `verdict_*`. */
export function createVerdictStore(db: Db): VerdictStore {
  return {
    append: (report) => inTransaction(db, (db) => appendAll(db, [report])),
    appendAll: (reports) => inTransaction(db, (db) => appendAll(db, reports)),
    points: async ({ check, slug, fromMs, toMs }) => {
      const series = await findSeries(db, check, slug);
      if (series === null) return [];
      // One statement: what is folded meanwhile is seen before or after, never both or neither.
      const { rows } = await sql<PointRow>`
        select at_ms, severity, current_count, baseline_count, expected_count, min_current_count, max_current_count
        from verdict_hours where series_id = ${series.series_id} and at_ms > ${fromMs} and at_ms <= ${toMs}
          and hour between ${Math.floor(fromMs / hourMs)} and ${Math.floor(toMs / hourMs)}
        union all
        select at_ms, severity, current_count, baseline_count, expected_count, current_count, current_count
        from verdict_points where series_id = ${series.series_id} and at_ms > ${fromMs} and at_ms <= ${toMs}
        order by at_ms`.execute(db);
      return rows.map(point);
    },
    hours: (query) => readHours(db, query),
    firstAtMs: async (check, slug) => {
      const series = await findSeries(db, check, slug);
      if (series === null) return null;
      const { rows } = await sql<{ at_ms: number | null }>`
        select min(at_ms) as at_ms from (
          select min(at_ms) as at_ms from verdict_points where series_id = ${series.series_id}
          union all select min(at_ms) from verdict_hours where series_id = ${series.series_id}) as oldest`.execute(db);
      return rows[0]?.at_ms ?? null;
    },
    addPast: (check, slug, past) =>
      inTransaction(db, async (db) => {
        const series = (await findSeries(db, check, slug)) ?? (await addSeries(db, check, slug));
        await addPast(db, series.series_id, past);
      }),
    reports: async ({ check, slug, fromMs, toMs, limit }) => {
      const series = await findSeries(db, check, slug);
      if (series === null) return [];
      const rows = await db
        .selectFrom("verdict_reports")
        .select("report")
        .where("series_id", "=", series.series_id)
        .where("at_ms", ">", fromMs)
        .where("at_ms", "<=", toMs)
        .orderBy("at_ms", "desc")
        .limit(limit)
        .execute();
      return rows.flatMap(({ report }) => unpackReport(report) ?? []).toReversed();
    },
    compact: (limits) =>
      inTransaction(db, async (db) =>
        (await takesTurn(db, "verdict compaction")) ? compactVerdicts(db, limits) : { hasMore: false },
      ),
  };
}

async function addSeries(db: Db, check: CheckName, slug: string): Promise<VerdictSeries> {
  await db
    .insertInto("verdict_series")
    .values({ check_name: check, slug, last_full_at_ms: null, last_digest: null })
    .onConflict((conflict) => conflict.columns(["check_name", "slug"]).doNothing())
    .execute();
  const added = await findSeries(db, check, slug);
  if (added === null) throw new FlatlineError("internal", "a series that was added is not there");
  return added;
}

async function keepReport(db: Db, seriesId: number, report: CheckReport, digest: string): Promise<void> {
  const row = { severity: numbersOf(report).severity, report: packReport(report) };
  await db
    .insertInto("verdict_reports")
    .values({ series_id: seriesId, at_ms: report.finishedAtMs, ...row })
    .onConflict((conflict) => conflict.columns(["series_id", "at_ms"]).doUpdateSet(row))
    .execute();
  await db
    .updateTable("verdict_series")
    .set({ last_full_at_ms: report.finishedAtMs, last_digest: digest })
    .where("series_id", "=", seriesId)
    .execute();
}

// A run that ends in the same millisecond as the one before takes its place.
const insertPoints = rowStatement(
  ["bigint", "bigint", "bigint", "double precision", "double precision", "double precision"],
  (values) => `
    insert into verdict_points (series_id, at_ms, severity, current_count, baseline_count, expected_count) ${values}
    on conflict (series_id, at_ms) do update set severity = excluded.severity, current_count = excluded.current_count,
      baseline_count = excluded.baseline_count, expected_count = excluded.expected_count`,
);

async function appendAll(db: Db, reports: readonly CheckReport[]): Promise<void> {
  const known = await findSeriesOf(db, reports);
  const runs: { readonly report: CheckReport; readonly series: VerdictSeries }[] = [];
  for (const report of reports) {
    const { check, slug } = report;
    runs.push({ report, series: known.get(checkKey(check, slug)) ?? (await addSeries(db, check, slug)) });
  }
  await insertPoints(
    db,
    runs.map(({ report, series }) => {
      const { severity, current_count, baseline_count, expected_count } = numbersOf(report);
      return [series.series_id, report.finishedAtMs, severity, current_count, baseline_count, expected_count];
    }),
  );
  for (const { report, series } of runs) {
    const digest = digestOf(report);
    if (isToKeep(series, digest, report.finishedAtMs)) await keepReport(db, series.series_id, report, digest);
  }
}

/**
 * Severity and thresholds, then the kinds and refs of the findings, whose order and messages move with the numbers: two runs
 * differ in the first part when the operator would call it a change.
 */
function digestOf(report: CheckReport): string {
  if (report.kind === "error") return `${report.severity} ${report.error.reason}`;
  const { threshold, findings } = report.result;
  const thresholds = chosenThresholds.map((name) => threshold[name] ?? null);
  const names = findings.map(({ kind, ref, severity }) => JSON.stringify([kind, ref, severity])).sort();
  return `${report.severity}/${shortHash(thresholds)} ${names.length === 0 ? "" : shortHash(names)}`;
}

function shortHash(value: unknown): string {
  return hashOf(JSON.stringify(value));
}

// Thresholds and findings are the same in nearly every run.
const hashOf = memoized(1_000, (text: string) => createHash("sha256").update(text).digest("base64url").slice(0, 12));

function isToKeep(series: VerdictSeries, digest: string, atMs: number): boolean {
  if (series.last_full_at_ms === null || series.last_digest === null) return true;
  // Absolute: a clock that was set back must not end the daily ones.
  const sinceMs = Math.abs(atMs - series.last_full_at_ms);
  if (sinceMs >= fullEveryMs) return true;
  if (series.last_digest === digest) return false;
  return sinceMs >= findingsEveryMs || firstPart(series.last_digest) !== firstPart(digest);
}

function firstPart(digest: string): string {
  return digest.slice(0, digest.indexOf(" "));
}

interface PointRow extends VerdictNumbers {
  readonly at_ms: number;
  readonly min_current_count: number | null;
  readonly max_current_count: number | null;
}

function point(row: PointRow): VerdictPoint {
  return {
    atMs: row.at_ms,
    severity: severityAt(row.severity),
    currentCount: row.current_count,
    baselineCount: row.baseline_count,
    expectedCount: row.expected_count,
    minCurrentCount: row.min_current_count,
    maxCurrentCount: row.max_current_count,
  };
}
