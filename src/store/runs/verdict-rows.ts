import { sql } from "kysely";
import { checkKey } from "../../contract/check-key.ts";
import type { CheckName, CheckReport } from "../../contract/report.ts";
import { severities, type Severity } from "../../contract/severity.ts";
import { rowStatement } from "../engine/row-statement.ts";
import type { Db } from "../schema.ts";

/** A run's numbers as its row has them; severity is the index of contract/severity.ts. */
export interface VerdictNumbers {
  readonly severity: number;
  readonly current_count: number | null;
  readonly baseline_count: number | null;
  readonly expected_count: number | null;
}

/** The series of a (check, slug), and what its last whole report was. */
export interface VerdictSeries {
  readonly series_id: number;
  readonly last_full_at_ms: number | null;
  readonly last_digest: string | null;
}

/** The numbers of a report; none of a run without a result. */
export function numbersOf(report: CheckReport): VerdictNumbers {
  const severity = severities.indexOf(report.severity);
  if (report.kind === "error") return { severity, current_count: null, baseline_count: null, expected_count: null };
  const { currentCount, baselineCount, expectedCount } = report.counts;
  return { severity, current_count: currentCount, baseline_count: baselineCount, expected_count: expectedCount };
}

/** The severity that a row's index means. */
export function severityAt(index: number): Severity {
  return severities[index] ?? "unknown";
}

/** The series of a (check, slug), as findSeriesOf answers them. */
export interface NamedSeries extends VerdictSeries {
  readonly check_name: CheckName;
  readonly slug: string;
}

const selectSeries = rowStatement<NamedSeries>(
  ["text", "text"],
  (values) => `
    select series_id, check_name, slug, last_full_at_ms, last_digest from verdict_series
    where (check_name, slug) in (${values})`,
);

/** The series of those that ever ran, by checkKey. */
export async function findSeriesOf(
  db: Db,
  runs: readonly Pick<CheckReport, "check" | "slug">[],
): Promise<Map<string, NamedSeries>> {
  const rows = await selectSeries(
    db,
    runs.map(({ check, slug }) => [check, slug]),
  );
  return new Map(rows.map((row) => [checkKey(row.check_name, row.slug), row]));
}

/** The series of a (check, slug); null when it never ran. */
export async function findSeries(db: Db, check: CheckName, slug: string): Promise<VerdictSeries | null> {
  // In plain SQL, as what runs for each verdict: Kysely's builder takes longer than SQLite (measured 2026-11).
  const { rows } = await sql<VerdictSeries>`
    select series_id, last_full_at_ms, last_digest from verdict_series
    where check_name = ${check} and slug = ${slug}`.execute(db);
  return rows[0] ?? null;
}
