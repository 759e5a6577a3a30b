import { sql } from "kysely";
import type { CheckName } from "../contract/report.ts";
import { readReport, writeReport } from "./check-reports.ts";
import { rowSlices } from "./chunks.ts";
import type { CheckState, FinishedRun } from "./schedule.ts";
import type { Db } from "./schema.ts";

interface CompletedRow {
  readonly check_name: CheckName;
  readonly slug: string;
  readonly last_success_at_ms: number | null;
  readonly severity_since_ms: number;
  readonly last_result_report: string | null;
}

/** Ends runs (ScheduleStore.completeAll): many rows a statement, because a statement costs more than a row of it. */
export async function completeRuns(db: Db, done: readonly FinishedRun[]): Promise<(CheckState | null)[]> {
  const rows = new Map<string, CompletedRow>();
  for (const slice of rowSlices(done)) {
    for (const row of await completeSlice(db, slice)) rows.set(keyOf(row.check_name, row.slug), row);
  }
  return done.map((one) => {
    const row = rows.get(keyOf(one.run.check, one.run.slug));
    return row === undefined ? null : stateAfter(one, row);
  });
}

async function completeSlice(db: Db, done: readonly FinishedRun[]): Promise<readonly CompletedRow[]> {
  const values = done.map(({ run, owner, report, nextDueAtMs }) => {
    const isResult = report.kind === "result" ? 1 : 0;
    const numbers = [run.fence, nextDueAtMs, report.finishedAtMs, isResult];
    const texts = [run.check, run.slug, owner, report.severity, writeReport(report)];
    return sql`(${sql.join([...numbers.map((one) => sql`cast(${one} as bigint)`), ...texts.map((one) => sql`cast(${one} as text)`)])})`;
  });
  // last_result_report is only kept apart while the last report is an error. The right sides see the row as it was.
  const { rows } = await sql<CompletedRow>`
    with done (fence, next_due_at_ms, finished_at_ms, is_result, check_name, slug, owner, severity, report)
      as (values ${sql.join(values)})
    update checks set next_due_at_ms = done.next_due_at_ms, lease_owner = null, lease_until_ms = 0,
      last_run_at_ms = done.finished_at_ms,
      last_success_at_ms = case when done.is_result = 1 then done.finished_at_ms else checks.last_success_at_ms end,
      severity = done.severity,
      severity_since_ms =
        case when checks.severity = done.severity then checks.severity_since_ms else done.finished_at_ms end,
      last_result_report = case
        when done.is_result = 1 then null
        when checks.severity <> 'unknown' then checks.last_report
        else checks.last_result_report end,
      last_report = done.report
    from done
    where checks.check_name = done.check_name and checks.slug = done.slug
      and checks.lease_owner = done.owner and checks.fence = done.fence
    returning check_name, slug, last_success_at_ms, severity_since_ms, last_result_report`.execute(db);
  return rows;
}

function stateAfter({ run, report, nextDueAtMs }: FinishedRun, row: CompletedRow): CheckState {
  return {
    check: run.check,
    slug: run.slug,
    nextDueAtMs,
    isRunning: false,
    lastRunAtMs: report.finishedAtMs,
    lastSuccessAtMs: row.last_success_at_ms,
    severity: report.severity,
    severitySinceMs: row.severity_since_ms,
    lastReport: report,
    lastResultReport: report.kind === "result" ? report : readReport(row.last_result_report),
  };
}

function keyOf(check: CheckName, slug: string): string {
  return `${check} ${slug}`;
}
