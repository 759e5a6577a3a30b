import { createHash } from "node:crypto";
import { sql } from "kysely";
import { dayMs, hourMs } from "../base/time.ts";
import type { CheckName, CheckReport } from "../contract/report.ts";
import { compareSeverity, severities, type Severity } from "../contract/severity.ts";
import { readReport, writeReport } from "./check-reports.ts";
import type { Db } from "./schema.ts";
import type { VerdictPoint, VerdictStore } from "./verdicts.ts";

/** Every run is kept for so long; after that, hours (the page's charts look back 7 days at full resolution). */
const rawRetentionMs = 7 * dayMs;
/** The whole report is kept at least so often. */
const fullEveryMs = dayMs;

/** Verdict history over the tables `verdict_*`. */
export function createVerdictStore(db: Db): VerdictStore {
  async function seriesOf(check: CheckName, slug: string): Promise<Series> {
    const find = () =>
      db
        .selectFrom("verdict_series")
        .select(["series_id", "last_full_at_ms", "last_digest"])
        .where("check_name", "=", check)
        .where("slug", "=", slug)
        .executeTakeFirst();
    const known = await find();
    if (known !== undefined) return known;
    await db
      .insertInto("verdict_series")
      .values({ check_name: check, slug, last_full_at_ms: null, last_digest: null })
      .onConflict((conflict) => conflict.columns(["check_name", "slug"]).doNothing())
      .execute();
    return (await find()) ?? { series_id: 0, last_full_at_ms: null, last_digest: null };
  }

  async function keepReport(series: Series, report: CheckReport): Promise<void> {
    const digest = digestOf(report);
    const atMs = report.finishedAtMs;
    const isOld = series.last_full_at_ms === null || atMs - series.last_full_at_ms >= fullEveryMs;
    if (!isOld && series.last_digest === digest) return;
    await db
      .insertInto("verdict_reports")
      .values({ series_id: series.series_id, at_ms: atMs, report: writeReport(report) })
      .onConflict((conflict) => conflict.columns(["series_id", "at_ms"]).doUpdateSet({ report: writeReport(report) }))
      .execute();
    await db
      .updateTable("verdict_series")
      .set({ last_full_at_ms: atMs, last_digest: digest })
      .where("series_id", "=", series.series_id)
      .execute();
  }

  return {
    append: async (report) => {
      const series = await seriesOf(report.check, report.slug);
      const numbers = numbersOf(report);
      await db
        .insertInto("verdict_points")
        .values({ series_id: series.series_id, at_ms: report.finishedAtMs, ...numbers })
        .onConflict((conflict) => conflict.columns(["series_id", "at_ms"]).doUpdateSet(numbers))
        .execute();
      await keepReport(series, report);
    },
    points: async ({ check, slug, fromMs, toMs }) => {
      const { series_id } = await seriesOf(check, slug);
      const hours = await db
        .selectFrom("verdict_hours")
        .selectAll()
        .where("series_id", "=", series_id)
        .where("at_ms", ">", fromMs)
        .where("at_ms", "<=", toMs)
        .orderBy("at_ms")
        .execute();
      const runs = await db
        .selectFrom("verdict_points")
        .selectAll()
        .where("series_id", "=", series_id)
        .where("at_ms", ">", fromMs)
        .where("at_ms", "<=", toMs)
        .orderBy("at_ms")
        .execute();
      return [
        ...hours.map((row) => point(row, row.min_current_count, row.max_current_count)),
        ...runs.map((row) => point(row, row.current_count, row.current_count)),
      ];
    },
    reports: async ({ check, slug, fromMs, toMs, limit }) => {
      const { series_id } = await seriesOf(check, slug);
      const rows = await db
        .selectFrom("verdict_reports")
        .select("report")
        .where("series_id", "=", series_id)
        .where("at_ms", ">", fromMs)
        .where("at_ms", "<=", toMs)
        .orderBy("at_ms", "desc")
        .limit(limit)
        .execute();
      return rows
        .map(({ report }) => readReport(report))
        .filter((report) => report !== null)
        .toReversed();
    },
    compact: async ({ nowMs, retentionMs, maxRows }) => {
      // Whole hours only: an hour is folded once, when its last run is a week old.
      const foldBeforeMs = Math.floor((nowMs - Math.min(rawRetentionMs, retentionMs)) / hourMs) * hourMs;
      const folded = await foldHours(db, foldBeforeMs, maxRows);
      const dropped = await dropOld(db, nowMs - retentionMs, maxRows);
      return { hasMore: folded || dropped };
    },
  };
}

interface Series {
  readonly series_id: number;
  readonly last_full_at_ms: number | null;
  readonly last_digest: string | null;
}

interface Numbers {
  readonly severity: number;
  readonly current_count: number | null;
  readonly baseline_count: number | null;
  readonly expected_count: number | null;
}

function numbersOf(report: CheckReport): Numbers {
  const severity = severities.indexOf(report.severity);
  if (report.kind === "error") return { severity, current_count: null, baseline_count: null, expected_count: null };
  const { currentCount, baselineCount, expectedCount } = report.counts;
  return { severity, current_count: currentCount, baseline_count: baselineCount, expected_count: expectedCount };
}

/** Equal for runs whose severity, thresholds and findings' kinds and refs are the same: the messages hold the numbers. */
function digestOf(report: CheckReport): string {
  const facts =
    report.kind === "error"
      ? [report.severity, report.error.reason]
      : [
          report.severity,
          // What derives from the counts moves with each run and is not a change of the thresholds.
          Object.entries(report.result.threshold)
            .filter(([name]) => name !== "warnAbove" && name !== "failAbove")
            .toSorted(([left], [right]) => (left < right ? -1 : 1)),
          report.result.findings.map(({ kind, ref, severity }) => [kind, ref, severity]),
        ];
  return createHash("sha256").update(JSON.stringify(facts)).digest("base64url").slice(0, 16);
}

function point(
  row: {
    at_ms: number;
    severity: number;
    current_count: number | null;
    baseline_count: number | null;
    expected_count: number | null;
  },
  min: number | null,
  max: number | null,
): VerdictPoint {
  return {
    atMs: row.at_ms,
    severity: severities[row.severity] ?? "unknown",
    currentCount: row.current_count,
    baselineCount: row.baseline_count,
    expectedCount: row.expected_count,
    minCurrentCount: min,
    maxCurrentCount: max,
  };
}

/** Folds up to `maxRows` runs before `beforeMs`, whole (series, hour)s at a time; answers whether there may be more. */
async function foldHours(db: Db, beforeMs: number, maxRows: number): Promise<boolean> {
  const oldest = await db
    .selectFrom("verdict_points")
    .selectAll()
    .where("at_ms", "<", beforeMs)
    .orderBy("series_id")
    .orderBy("at_ms")
    .limit(maxRows + 1)
    .execute();
  const hasMore = oldest.length > maxRows;
  const groups = [...Map.groupBy(oldest, (row) => `${row.series_id} ${Math.floor(row.at_ms / hourMs)}`).values()];
  // The last group may go on behind the limit; alone it is folded all the same, or nothing would ever move.
  const whole = hasMore && groups.length > 1 ? groups.slice(0, -1) : groups;
  for (const rows of whole) await foldHour(db, rows);
  return hasMore;
}

async function foldHour(
  db: Db,
  rows: readonly ({ readonly series_id: number; readonly at_ms: number } & Numbers)[],
): Promise<void> {
  const last = rows.at(-1);
  if (last === undefined) return;
  const hour = Math.floor(last.at_ms / hourMs);
  const counts = rows.map((row) => row.current_count).filter((count) => count !== null);
  const worst =
    rows
      .map((row) => severities[row.severity] ?? "unknown")
      .toSorted(compareSeverity)
      .at(-1) ?? "unknown";
  const before = await db
    .selectFrom("verdict_hours")
    .selectAll()
    .where("series_id", "=", last.series_id)
    .where("hour", "=", hour)
    .executeTakeFirst();
  const min = leastOf([...counts, before?.min_current_count ?? null]);
  const max = mostOf([...counts, before?.max_current_count ?? null]);
  const severity = worstIndex(worst, before?.severity);
  const { series_id, at_ms, current_count, baseline_count, expected_count } = last;
  const folded = {
    at_ms,
    severity,
    current_count,
    baseline_count,
    expected_count,
    min_current_count: min,
    max_current_count: max,
  };
  await db
    .insertInto("verdict_hours")
    .values({ series_id, hour, ...folded })
    .onConflict((conflict) => conflict.columns(["series_id", "hour"]).doUpdateSet(folded))
    .execute();
  await db
    .deleteFrom("verdict_points")
    .where("series_id", "=", series_id)
    .where("at_ms", ">=", rows[0]?.at_ms ?? at_ms)
    .where("at_ms", "<=", at_ms)
    .execute();
}

function worstIndex(worst: Severity, before: number | undefined): number {
  const earlier = before === undefined ? worst : (severities[before] ?? worst);
  return severities.indexOf(compareSeverity(worst, earlier) > 0 ? worst : earlier);
}

function leastOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
}

function mostOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}

async function dropOld(db: Db, beforeMs: number, maxRows: number): Promise<boolean> {
  let hasMore = false;
  for (const table of ["verdict_points", "verdict_hours", "verdict_reports"] as const) {
    const old = db.selectFrom(table).select(["series_id", "at_ms"]).where("at_ms", "<=", beforeMs).limit(maxRows);
    const { numDeletedRows } = await db
      .deleteFrom(table)
      .where(sql<boolean>`(series_id, at_ms) in ${old}`)
      .executeTakeFirst();
    hasMore ||= numDeletedRows >= BigInt(maxRows);
  }
  return hasMore;
}
